"""Fuzzes sources: a program is disassembled and assembled again; other texts get diagnostics."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from random import Random
from unittest.mock import patch

from macaw.asm import elf, reference, text_stack
from macaw.asm.assembler import assemble
from macaw.asm.diagnostics import AssemblyError, Diagnostic, render, to_json
from macaw.asm.disassembler import disassemble
from macaw.asm.program import Program
from macaw.asm.source import Source
from macaw.isa import config, registry
from tests.fuzz import mutate
from tests.fuzz.target import Example, Target, require, sentence

ROOT = Path(__file__).parents[2]
FOLDERS = (
    "programs/*/*.s",
    "tests/asm/ok/*.s",
    "tests/asm/err/*.s",
    "tests/faults/*.s",
    "tests/asm/gnu_macros/*.s",
)
NAME = "fuzz.s"
MOST_EXPANDED = 10_000  # lines of an example
MOST_LINES = 60  # of an example, before it is damaged
BIGGEST = 1 << 16  # bytes of a program that is disassembled
THOROUGH = 0.25  # of the examples are disassembled and assembled again

_TOKEN = re.compile(
    r'"(?:\\.|[^"\\\n])*"?|\'(?:\\.|[^\'\\\n])\'?|/\*|\*/|//'
    r"|[A-Za-z_.$%][\w.$]*|[0-9][\w.$]*|[ \t]+|<<|>>|<=|>=|==|!=|<>|&&|\|\||.",
    re.DOTALL,
)
_NUMBER = re.compile(r"[0-9]")
NUMBERS = (
    "0 -1 1 2 3 127 128 -128 -129 255 256 2047 2048 -2048 -2049 4095 4096 32767 32768 65535 65536"
    " 0x7fffffff 0x80000000 0xffffffff 0x100000000 0x7fffffffffffffff 0x8000000000000000"
    " 0xffffffffffffffff 0x10000000000000000 1<<31 1<<40 1<<63 -(1<<63) 1<<64 1<<-1 1/0 1%0"
    " 08 0b1 0b2 0x 1e400 1e-400 1e999999999 -1e-999999999 0.1e1000000 -0.0 nan inf 1.5 .5 5."
    " 99999999999999999999 1b 1f 9999999999999999999999f 0f 0b . .+4 .-4 .+0x80000000"
).split() + ["9" * 5000, "0x" + "f" * 5000, "0." + "0" * 3000 + "1", "1" * 300 + ".5"]
PIECES = [
    *"()[]{},:;=+-*/%&|^~!<>\"'\\#@.$`?_\n\t ",
    *("<<", ">>", "==", "!=", "<>", "&&", "||", "/*", "*/", "//", "\\x", "\\777", "::", "..", "()"),
    *("%hi(", "%lo(", "%pcrel_hi(", "%pcrel_lo(", "sizeof(", "load_address(", "slot(", "unit["),
    *("data=(", "out=(", "to=all", "to=(0,1)", "broadcast", "sliced", "by_cluster", "by_pe"),
    *("weights", "activations", "psums", "both", "compress", "shift", "last", "balance", "sfu"),
    *("int8", "uint8", "int16", "int32", "int64", "float16", "float32", "float64", "row=0"),
    *(
        "row=1",
        "row=99",
        "at=unit0",
        "at=unit1",
        ".tensors.unit0",
        "state=rq",
        "state=sw",
        "pipeline=4",
        "window=3",
        "pop=1",
    ),
    *("activation=tanh", "reduction=max", "shift=63", "inner=2", "ib=31", "ib=32", "base=15"),
    *(".text", ".data", ".data.cp", ".bss", ".tensors", ".note.macaw", ".pe.0", ".text.cp"),
    *("tiny", "base", "large", "cp", "pe", "vc", "dma", '"weights.npy"', '"../weights.npy"'),
    *('"/etc/passwd"', '"."', '""', '"\\0"', '"weights.npy"[0:8]', '"bad/objects.npy"'),
]


@cache
def corpus() -> tuple[tuple[str, Path], ...]:
    """The repository's sources, each with its folder."""
    paths = sorted(path for pattern in FOLDERS for path in ROOT.glob(pattern))
    return tuple((path.read_text("utf-8"), path.parent) for path in paths)


@cache
def statements() -> tuple[str, ...]:
    """The different lines of the corpus."""
    return tuple(dict.fromkeys(line for text, _ in corpus() for line in text.splitlines()))


@cache
def words() -> tuple[str, ...]:
    """Tokens of the corpus and of the tables: mnemonics, directives, registers."""
    found = dict.fromkeys(token for line in statements() for token in _TOKEN.findall(line))
    found |= dict.fromkeys(row.name for row in reference.directives())
    for core in registry.cores():
        found |= dict.fromkeys(core.rows)
        found |= dict.fromkeys(row.name for row in core.directives)
        for file in core.files:
            found |= dict.fromkeys(name for names in file.names for name in names)
    return tuple(word for word in found if not word.isspace())


@cache
def mnemonics() -> tuple[str, ...]:
    """Every mnemonic of every core."""
    return tuple(dict.fromkeys(name for core in registry.cores() for name in core.rows))


def make(rng: Random) -> Example[str]:
    """A source of the corpus, or some consecutive lines of it, with some damage."""
    origin, folder = rng.choice(corpus())
    lines = origin.splitlines()
    if len(lines) > MOST_LINES:
        first = rng.randrange(len(lines) - MOST_LINES)
        lines = lines[first : first + rng.randint(1, MOST_LINES)]
    if rng.random() < 0.3:  # a part that stands by itself
        lines.insert(0, rng.choice((".core cp", ".core pe", ".core pe, row=0", ".device tiny")))
    origin = "\n".join(lines) + "\n"
    for _ in range(mutate.several(rng)):
        _damage(rng, lines)
    text = rng.choice(("\n", "\n", "\n", "\n", "\r\n", ";")).join(lines) + "\n"
    if rng.random() < 0.05:
        text = text[: rng.randrange(len(text))]
    return Example(text, origin, rng.random() < THOROUGH, folder)


def _damage(rng: Random, lines: list[str]) -> None:
    """Damage one line, or the order of the lines."""
    kind = rng.randrange(14)
    if kind >= 12:
        _wrapped(rng, lines)
        return
    if kind < 3 or not lines:
        pool = statements() if rng.random() < 0.7 else [_statement(rng)]
        mutate.lines_changed(rng, lines, pool)
        return
    at = rng.randrange(len(lines))
    tokens = _TOKEN.findall(lines[at])
    if kind < 7:
        mutate.tokens_changed(rng, tokens, words() if rng.random() < 0.6 else PIECES)
    elif kind < 9:
        _other_number(rng, tokens)
    elif kind == 9:
        tokens.insert(rng.randrange(len(tokens) + 1), mutate.character(rng))
    elif kind == 10 and rng.random() < 0.3:
        _stretched(rng, tokens)
    else:
        _nested(rng, tokens)
    lines[at] = "".join(tokens)


# The lines before and after wrapped lines; `{}` is a number, and a macro is called at its end.
_WRAPPERS = (
    (".rept {}", ".endr"),
    (".irp x, {}, a0", ".endr"),
    (".irpc x, {}", ".endr"),
    (".macro m a, b={}, c:vararg", ".endm\nm 1, 2"),
    (".macro m x:req", ".endm\nm {0}\nm x={0}"),
    (".if {}", ".endif"),
    (".if {}", ".else\n.byte \\@\n.endif"),
    (".ifdef n\n.elseif {}", ".endif"),
    (".ifc \\x, {}", ".endif"),
)


def _wrapped(rng: Random, lines: list[str]) -> None:
    """Put lines into a macro, repetition or conditional; perhaps insert a parameter in them."""
    begin, end = rng.choice(_WRAPPERS)
    number = rng.choice((*"012345", "n", rng.choice(NUMBERS)))
    first = rng.randrange(len(lines) + 1)
    last = rng.randint(first, min(len(lines), first + 8))
    inside = lines[first:last]
    if inside and rng.random() < 0.5:
        tokens = _TOKEN.findall(inside[0])
        at = rng.randrange(len(tokens) + 1)
        tokens.insert(at, rng.choice(("\\x", "\\a", "\\c", "\\@", "\\()", ".exitm", "m \\a")))
        inside[0] = "".join(tokens)
    lines[first:last] = [
        *begin.format(number).split("\n"),
        *inside,
        *end.format(number).split("\n"),
    ]


def _statement(rng: Random) -> str:
    """A mnemonic with up to four random operands."""
    operands = (rng.choice(words()) for _ in range(rng.randrange(5)))
    return f"{rng.choice(mnemonics())} {', '.join(operands)}"


def _other_number(rng: Random, tokens: list[str]) -> None:
    """Replace a number, or another token if there is none, by an extreme number."""
    places = [place for place, token in enumerate(tokens) if _NUMBER.match(token)]
    places = places or list(range(len(tokens)))
    if places:
        tokens[rng.choice(places)] = rng.choice(NUMBERS)


def _stretched(rng: Random, tokens: list[str]) -> None:
    """Repeat a token, or the line from it on, many times."""
    if not tokens:
        return
    at = rng.randrange(len(tokens))
    count = rng.choice((50, 300, 2000))
    if rng.random() < 0.5:
        tokens[at] *= count
    else:
        tokens[at:] = tokens[at:] * min(count, 300)


def _nested(rng: Random, tokens: list[str]) -> None:
    """Put a token, or nothing, into many brackets or after many operators."""
    at = rng.randrange(len(tokens) + 1)
    inner = tokens[at] if at < len(tokens) else "1"
    depth = rng.choice((1, 2, 5, 40, 300, 3000))
    opening, closing = rng.choice(
        (("(", ")"), ("-", ""), ("~", ""), ("!", ""), ("[", "]"), ("x[", "]"), ("1+(", ")"))
        + (("%lo(", ")"), ("1-", ""), ("(1,", ")"), ("a=(", ")"), ("sizeof(", ")"), ("1:", ""))
    )
    missing = rng.choice((0, 0, 0, 1))
    tokens[at : at + 1] = [opening * depth, inner, closing * (depth - missing)]


def check(example: Example[str]) -> str:
    """Assemble; a program must be equal after writing, reading, disassembling and assembling."""
    try:
        with patch.object(text_stack, "MAX_LINES", MOST_EXPANDED):
            program = assemble(Source(example.data, NAME, example.folder))
    except AssemblyError as error:
        _check_diagnostics(error, example.data)
        return "refused"
    for warning in program.warnings:
        assert isinstance(warning, Diagnostic)
        sentence(warning.message)
    if not example.thorough or sum(len(item.data) for item in program.sections) > BIGGEST:
        return "accepted"
    _comes_back(program)
    return "came back"


def _check_diagnostics(error: AssemblyError, text: str) -> None:
    require(bool(error.errors), "an error without a diagnostic")
    require(bool(str(error).strip()), "an error without a text")
    last = text.count("\n") + 1
    for item in error.diagnostics:
        sentence(item.message)
        require(not item.hint or item.hint.isprintable(), "a hint cannot be printed", item.hint)
        span = item.span
        root = item.chain[-1].span if item.chain else span
        require(root.file == NAME, "an error in a file that nobody wrote", str(item))
        require(1 <= root.line <= last, "an error outside of the text", f"{item}, {last} lines")
        require(span.file != NAME or span.line <= last, "an error outside of the text", str(item))
        require(1 <= span.column <= span.end_column, "an error of no columns", str(item))
    require(len(set(error.diagnostics)) == len(error.diagnostics), "an error twice", str(error))
    require(bool(render(error.diagnostics)), "nothing is printed")
    require(to_json(error.diagnostics).startswith("["), "no JSON")


def _comes_back(program: Program) -> None:
    first = elf.write(program)
    again = elf.read(first)
    require(elf.write(again) == first, "the file that was read is written with other bytes")
    require(again.lines == program.lines, "the file has other lines")
    text = disassemble(again)
    device = config.parse(again.config_toml, again.device)
    second = elf.write(assemble(Source(text, "again.s"), device=device), lines=False)
    require(
        second == elf.write(program, lines=False), "its disassembly assembles to other bytes", text
    )


TARGET = Target("source", make, check)
