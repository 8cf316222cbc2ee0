"""Codec, pages, look-ups and settings at their bounds, against recorded outcomes and own arithmetic."""

from __future__ import annotations

import struct
from hashlib import sha256
from pathlib import Path
from random import Random

import pytest

from macaw.isa import codec, config, diagram, manual, pages, registry, trace
from macaw.isa.aliases import with_alias
from macaw.isa.c_macros import macros
from macaw.isa.codec import DecodeError, StructureError
from macaw.isa.config import ConfigError
from macaw.isa.kinds import Immediate, Kind, OperandError
from macaw.isa.model import Setting
from macaw.isa.rows import Instruction
from macaw.isa.touching import touched_registers
from tests.recorded import check

pytestmark = pytest.mark.once

FOLDER = Path(__file__).with_name("recorded")
CORES = registry.names()
CODES = {"u8": "B", "i8": "b", "u16": "H", "i16": "h", "u32": "I", "i32": "i"}


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:6]


def edges(kind: Kind, bits: int) -> list[int]:
    """Numbers at, beside and far from the bounds of a kind, and of a field of `bits` bits."""
    found = {
        0,
        1,
        -1,
        2,
        (1 << bits) - 1,
        1 << bits,
        -(1 << bits - 1),
        (1 << bits - 1) - 1,
        1 << bits - 1,
    }
    if isinstance(kind, Immediate):
        found |= {x + y for x in (kind.low, kind.high) for y in (-kind.step, -1, 0, 1, kind.step)}
    return sorted(found)


def legal(kind: Kind, value: int) -> bool:
    try:
        kind.check(value)
    except OperandError:
        return False
    return True


@pytest.mark.parametrize("name", CORES)
def test_words_at_the_bounds_of_each_operand(name: str) -> None:
    """A word has the bits of its row and, at the places of each field, the bits of the value."""
    core, found = registry.core(name), dict[str, list[str]]()
    for row in core.instructions:
        random, words, refusals = Random(f"{name} {row.mnemonic}"), [], set()
        base = {
            x.name: random.choice(
                [v for v in edges(x.kind, x.field.width) if legal(x.kind, v)]
                or [x.field.extract(row.match)]
            )
            for x in row.operands
        }
        for item in row.operands:
            for value in edges(item.kind, item.field.width):
                try:
                    word = codec.encode(row, base | {item.name: value})
                except OperandError as error:
                    refusals.add(str(error))
                    continue
                words.append(word)
                for piece in item.field.slices:
                    stored = word >> piece.word & (1 << piece.width) - 1
                    assert stored == value >> piece.value & (1 << piece.width) - 1
                try:
                    decoded = codec.decode(core, word, row.format.width)
                except DecodeError as error:  # another operand makes the word illegal
                    refusals.add(error.detail)
                    continue
                assert (decoded.row, codec.encode(row, decoded.values)) == (row, word)
        answer = f"{row.mnemonic} {words} {sorted(refusals)}"
        found.setdefault(f"{row.format.name} {row.syntax}", []).append(answer)
    lines = [f"{key}: {len(x)} rows {digest(' '.join(x))}" for key, x in found.items()]
    check(FOLDER / f"words_{name}.txt", {name: "\n".join(lines)})


@pytest.mark.parametrize("name", CORES)
def test_texts_of_words(name: str) -> None:
    """The source, the aliases, the drawing and the registers of one word of each row."""
    core, lines = registry.core(name), []
    for row in core.instructions:
        random = Random(f"text {name} {row.mnemonic}")
        values = {
            x.name: random.choice(
                [v for v in edges(x.kind, x.field.width) if legal(x.kind, v)] or [0]
            )
            for x in row.operands
        }
        try:
            decoded = codec.decode(core, codec.encode(row, values), row.format.width)
        except (OperandError, DecodeError) as error:
            lines.append(f"{row.mnemonic}: {error}")
            continue
        text = codec.describe(decoded, 0x10000, lambda x: "start" if x == 0x10000 else None)
        touched = touched_registers(core, decoded)
        registers = f"{sorted(touched.reads)} {sorted(touched.writes)}"
        answer = f"{with_alias(core, text)} | {diagram.diagram(row)} | {registers}"
        lines.append(f"{text} {digest(answer)}")
    texts = [*lines[:40], digest(" ".join(lines))]
    check(FOLDER / f"texts_{name}.txt", {name: "\n".join(texts)})


@pytest.mark.parametrize("name", CORES)
def test_records_at_the_bounds_of_each_member(name: str) -> None:
    """A record has the bytes that `struct` makes of its numbers; a wrong one says why."""
    found = {}
    for item in registry.core(name).structures:
        layout, lines = "<" + "".join(CODES[x.type] for x in item.members), []
        base = {x.name: x.default for x in item.members}
        for member in item.members:
            bits = 8 * struct.calcsize(CODES[member.type])
            for value in edges(member.legal, bits):
                values = base | {member.name: value}
                try:
                    data = codec.pack(item, values)
                except StructureError as error:
                    lines.append(str(error))
                    continue
                assert data == struct.pack(layout, *values.values())
                assert codec.unpack(item, b"\xee" + data, 1) == values
                with pytest.raises(StructureError, match="is cut off"):
                    codec.unpack(item, data, 1)
        with pytest.raises(StructureError, match="has no member"):
            codec.pack(item, {"nosuch": 1})
        reasons = list(dict.fromkeys(lines))
        found[f"{name} {item.name} {item.size}"] = "\n".join(
            [*reasons[::6], digest(" ".join(reasons))]
        )
    check(FOLDER / f"records_{name}.txt", found)


@pytest.mark.parametrize("name", [*CORES, "device"])
def test_pages(name: str) -> None:
    """A digest of each page of the manual."""
    if name == "device":
        every = [*pages.of_device(), *pages.of_trace(), *pages.of_causes()]
        more = []
    else:
        core = registry.core(name)
        every = list(pages.of_core(core))
        more = [f"summary {digest(manual.summary(core))}"]
        more += (
            [f"macro {word} {digest(text)}" for word, text in macros(core).items()]
            if core.instructions and name in ("cp", "vc")
            else []
        )
    texts = [(item.kind, item.name, manual.text(item)) for item in every]
    for _kind, _name, text in texts:
        assert max(map(len, text.splitlines())) <= manual.WIDTH
    groups: dict[str, list[str]] = {}
    for kind, title, text in texts:
        groups.setdefault(kind, []).append(f"{title} {digest(text)}")
    lines = [f"{kind}: {' '.join(items)}" for kind, items in groups.items()]
    check(FOLDER / f"pages_{name}.txt", {name: "\n".join([*lines, *more])})


def test_look_ups() -> None:
    """Names of cores and pages: right, in upper case, nearly right, wrong, or empty."""
    lines = []
    for name in (*CORES, "CP", "c", "vcc", "", "nn", "pee", "fi", "dm", "tensor", "cp "):
        try:
            lines.append(
                f"{name!r}: {registry.core(name).title}, {registry.module(name)}, {registry.form_modules(name)}"
            )
        except LookupError as error:
            lines.append(f"{name!r}: {error}")
    every = [page for core in registry.cores() for page in pages.of_core(core)]
    for name in (
        "add",
        "ADD",
        "s0",
        "fp",
        "gr8",
        "packet",
        "segment mismatch",
        "Segment_Mismatch",
        "mmr",
        "nosuch",
        "",
        "pe.rows",
        "trace_begin",
    ):
        lines.append(f"{name!r}: {[(x.owner, x.kind, x.name) for x in manual.find(every, name)]}")
    for core in registry.cores():
        for name in ("add", "nosuch", "", "transfer", "li"):
            try:
                lines.append(f"{core.name} {name!r}: {digest(manual.page(core, name))}")
            except LookupError as error:
                lines.append(f"{core.name} {name!r}: {error}")
    check(FOLDER / "look_ups.txt", {"names": "\n".join(lines)})


def values(setting: Setting) -> list[object]:
    """Values of a setting at, beside and far from its bounds, and of other types."""
    if isinstance(setting.default, bool):
        return [True, False, 0, 1, "true"]
    if isinstance(setting.default, str):
        first = setting.choices[0]
        return [
            first,
            setting.choices[-1],
            f"{first}x",
            first.upper(),
            "",
            f"{first} {first}",
            f"{first} nosuch",
            1,
            True,
        ]
    low, high, step = setting.low, setting.high, setting.step
    found: list[object] = [0, 1, -1, 1.5, "1", True, 1 << 64, float("inf")]
    for bound in (low, high):
        if bound is not None:
            found += [bound, bound - step, bound + step, bound - 1, bound + 1]
    return found


@pytest.mark.parametrize("part", range(3))
def test_values_of_settings(part: int) -> None:
    """Each setting with values at and beyond its bounds. An accepted value comes back from TOML."""
    found = {}
    for name, setting in list(config.settings().items())[part::3]:
        lines, accepted = [], []
        for value in values(setting):
            try:
                config.check_field(name, value)
            except ConfigError as error:
                lines.append(str(error))
                continue
            accepted.append(value)
            inside = (
                setting.low is None or not isinstance(value, int | float) or value >= setting.low
            )
            assert inside
            assert type(value) in (type(setting.default), int)
        answers = digest(" ".join([*map(repr, accepted), *lines]))
        found[name] = (
            f"{len(accepted)} accepted, {len(lines)} refused {answers}{lines[-1].removeprefix(name)[:40]}"
        )
    check(FOLDER / f"settings_{part}.txt", found)


TEXTS = (
    "", "name = 'x'", "name = 5", "name = ''", "name = 'a b'", "format = 1", "format = 2", "format = 'x'", "format = 0", "[pe]\nrows = 1", "[pe]\nrow = 1", "pe = 1", "pe.rows = 1\n[pe]\nrows = 2",
    "[pe]\nrows = 0\nclusters = 99\nnosuch = 1", "pe.rows.x = 1", "x = {}", "pe = {}", "[[pe]]\nrows = 1", "[pe\n", "\x00", "[lower.preferred]\nspmv = 'inputs'", "[lower]\npreferred = 1",
    "[mem]\nexternal_bytes = 1048577", "[mem]\nlocal_bytes = 99999999999999999999999", "[mem]\nbanks = [1]", "[mem]\nbanks = 1979-05-27", "[mem]\nbanks = nan", "'a.b' = 1", "\"pe.rows\" = 1",
)  # fmt: skip


def test_device_files() -> None:
    """Texts of device files with mistakes of names, types, tables and the format."""
    found = {}
    for number, text in enumerate(TEXTS):
        try:
            made = config.parse(text, "d")
            assert (
                config.parse(made.to_toml(comments=False), made.name)
                == made
                == config.parse(made.to_toml(), "e")
            )
            answer = f"{made!r} {digest(repr(dict(made)))}" if text else repr(made)
        except ConfigError as error:
            answer = str(error)
        found[f"{number} {text!r}"] = answer
    check(FOLDER / "device_files.txt", found)


def test_descriptors() -> None:
    """Each core's descriptor, and where its memories and windows are in each device."""
    lines = []
    for item in registry.all_descriptors():
        lines.append(
            f"{item.name} {item.number} {item.section} {item.index} {len(item.settings)} {registry.form_modules(item.name)}"
        )
        for memory in registry.core(item.name).memories:
            sizes = [memory.bytes(config.load(device), 0) for device in config.presets()]
            lines.append(f"  {memory.name} {sizes}")
    rows = [f"{row.name} {row.address:#x} {row.access} {row.width}" for row in trace.mapped()]
    lines += [*rows[:3], rows[-1], digest(" ".join(rows))]
    check(FOLDER / "descriptors.txt", {"descriptors": "\n".join(lines)})


def test_rows_of_instructions_are_distinct() -> None:
    """No word matches two rows of a core, even in the bits that both rows fix."""
    for core in registry.cores():
        rows: list[Instruction] = list(core.instructions)
        for place, row in enumerate(rows):
            for other in rows[:place]:
                both = row.mask & other.mask
                same_width = row.format.width == other.format.width
                assert not same_width or row.match & both != other.match & both, (
                    row.mnemonic,
                    other.mnemonic,
                )
