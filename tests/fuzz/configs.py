"""Fuzzes configurations: each TOML text gives a device or a `ConfigError`."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from random import Random

from macaw.isa import config
from macaw.isa.config import ConfigError
from tests.fuzz import mutate
from tests.fuzz.target import Example, Target, require, sentence

VALUES = (
    "0 1 -1 2 3 4 16 17 1024 65535 65536 0x10 0o17 0b11 1_000 1__0 01 +1 -0 1.0 1.5 1e3 1e999 -1e999"
    " 0.0 inf -inf nan true false True null none yes '' \"\" 'int8' \"int8\" int8 'INT8' \"fp16\""
    " 'wrap' [] [1] [1,2] [[]] {} {a=1} {rows=2} {rows={}} 1979-05-27 07:32:00 1979-05-27T07:32:00Z"
    " 9223372036854775807 9223372036854775808 -9223372036854775809 18446744073709551616"
    ' \'\'\'x\'\'\' """x""" "\\u0000" "\\ud800" "\\" "a\\nb" \'a 1 2'
).split() + [
    *("9" * count for count in (100, 4299, 4301, 20000)),
    *("'" + "x" * count + "'" for count in (64, 65, 100, 9000)),
    *("[" * count + "]" * count for count in (10, 200, 3000)),
    *("{a=" * count + "1" + "}" * count for count in (3, 200, 3000)),
]
KEYS = (
    (
        "name pe dma cp mem dist sfu pe.rows pe.row rows ROWS element mem.external latency external_bytes"
        ' \'\' "" \'pe.rows\' "pe" pe.pe.pe a.b.c - _ 1 1.2 é a-b device pe.rows.x __class__ "a\\nb"'
    ).split()
    + [".".join(["a"] * count) for count in (50, 1500)]
    + ["pe" + ".pe" * 1500, "k" * 9000]
)
LINES = (
    "[pe] [mem] [dma] [cp] [pe.rows] [pe.pe] [mem.external] [[pe]] [] [[]] [ pe . rows ] ['pe'] [x"
    " name='tiny' name=1 name=[] name={} name='' name='a/b' name='a\"b' pe={} pe=1 pe.rows=2"
    " pe={rows=2} dma.queue=16 # \ufeff \0 \x7f = == [a]b a=1=2 a= =1 a='''"
).split(" ") + ["[" + ".".join(["a"] * 1500) + "]", "[" * 2000, "# \x01", "\x85", "a = 1 b = 2"]


@cache
def corpus() -> tuple[str, ...]:
    """The presets as files, and with all settings."""
    presets = (files("macaw.isa") / "presets").iterdir()
    short = [file.read_text("utf-8") for file in sorted(presets, key=lambda file: file.name)]
    return (*short, *short, *(config.load(name).to_toml() for name in config.presets()))


def make(rng: Random) -> Example[str]:
    """A preset with some damage."""
    origin = rng.choice(corpus())
    lines = origin.splitlines()
    if rng.random() < 0.5:
        lines = [line.partition("#")[0].rstrip() for line in lines]
    if rng.random() < 0.5:
        kept = rng.randrange(1, len(lines) + 1)
        lines = lines[:kept]
    origin = "\n".join(lines) + "\n"
    for _ in range(mutate.several(rng)):
        _damage(rng, lines)
    text = "\n".join(lines) + "\n"
    if rng.random() < 0.05:
        text = text[: rng.randrange(len(text))]
    return Example(text, origin)


def _damage(rng: Random, lines: list[str]) -> None:
    kind = rng.randrange(6)
    if kind == 0 or not lines:
        mutate.lines_changed(rng, lines, LINES)
        return
    at = rng.randrange(len(lines))
    key, equals, value = lines[at].partition("=")
    if kind == 1:
        key = rng.choice(KEYS)
    elif kind < 4:
        equals, value = "=", rng.choice(VALUES)
    elif kind == 4:
        settings = config.settings()
        key, equals, value = rng.choice(list(settings)), "=", rng.choice(VALUES)
    else:
        place = rng.randrange(len(lines[at]) + 1)
        piece = mutate.character(rng)
        lines[at] = lines[at][:place] + piece + lines[at][place + rng.randrange(2) :]
        return
    lines[at] = key + equals + value


def check(example: Example[str]) -> str:
    """Parse a text. An accepted text has all settings; its TOML gives the same configuration."""
    try:
        found = config.parse(example.data)
    except ConfigError as error:
        for text in error.mistakes:
            sentence(text)
            require(": " in text, "an error without a place", text)
        return "refused"
    require(config.parse(found.to_toml(), "other") == found, "its TOML is another configuration")
    require(list(found) == list(config.settings()), "fields are missing")
    return "accepted"


TARGET = Target("config", make, check)
