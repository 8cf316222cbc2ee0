"""Programs of generated sources, and the mistakes in them, against recorded outcomes."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from macaw.asm.assembler import analyse, assemble
from macaw.asm.diagnostics import ERROR, AssemblyError, Diagnostic
from macaw.asm.source import Source
from tests.asm.generated import directives, expressions, outcomes, parts, texts
from tests.recorded import check

pytestmark = pytest.mark.once

MAKERS: dict[str, tuple[Callable[[str], str], int]] = {
    "data": (directives.data_source, 60),
    "sections": (directives.section_source, 60),
    "symbols": (directives.symbol_source, 60),
    "tensors": (directives.tensor_source, 50),
    "names": (expressions.named_source, 60),
    "macros": (texts.macro_source, 60),
    "includes": (texts.include_source, 40),
    "pe": (parts.pe_source, 50),
    "good_pe": (parts.good_pe_source, 24),
    "fim": (parts.fim_source, 60),
    "nnp": (parts.nnp_source, 60),
}
SHOWN = 0.2  # of the sources of a kind, whose outcomes are shown; of the others there is a digest


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sources")
    texts.write_files(folder)
    return folder


def sources(kind: str) -> dict[str, str]:
    make, count = MAKERS[kind]
    return {f"{kind} {number}": make(f"{kind} {number}") for number in range(count)}


def shown(found: dict[str, list[str]], part: float = SHOWN) -> dict[str, str]:
    """The first outcomes in full, and digests of the others."""
    most = round(len(found) * part)
    texts = {
        name: lines
        if place < most
        else [f"{len(lines)} lines {outcomes.digest(chr(10).join(lines))}"]
        for place, (name, lines) in enumerate(found.items())
    }
    return outcomes.records({name: outcomes.shortened(lines) for name, lines in texts.items()})


@pytest.mark.parametrize("kind", MAKERS)
def test_programs_and_mistakes(folder: Path, kind: str) -> None:
    found = {name: outcomes.outcome(text, folder) for name, text in sources(kind).items()}
    check(outcomes.FOLDER / f"programs_{kind}.txt", shown(found))


@pytest.mark.few(7)
@pytest.mark.parametrize("kind", MAKERS)
def test_programs_without_the_wrong_lines(folder: Path, kind: str) -> None:
    found = {
        name: outcomes.outcome(outcomes.repaired(text, folder), folder)
        for name, text in list(sources(kind).items())[:40]
    }
    check(outcomes.FOLDER / f"repaired_{kind}.txt", shown(found, 0.15))


@pytest.mark.parametrize("kind", MAKERS)
def test_objects(folder: Path, kind: str) -> None:
    """More of the sources without their wrong lines, as objects for a linker, with definitions."""
    found = {
        name: outcomes.object_outcome(
            outcomes.repaired(text, folder), folder, defines={"n": 2, "ext": "0x10"}, gnu=True
        )
        for name, text in list(sources(kind).items())[-20:]
    }
    check(outcomes.FOLDER / f"objects_{kind}.txt", shown(found, 0.2))


@pytest.mark.parametrize("kind", MAKERS)
def test_damaged_sources(folder: Path, kind: str) -> None:
    found = {
        name: outcomes.outcome(texts.damaged(text, f"damage {name}"), folder)
        for name, text in list(sources(kind).items())[:30]
    }
    check(outcomes.FOLDER / f"damaged_{kind}.txt", shown(found, 0.1))


@pytest.mark.parametrize("kind", ["data", "symbols", "macros", "nnp", "pe", "fim"])
def test_lines_of_a_repetition_are_as_plain_lines(folder: Path, kind: str) -> None:
    """One round of a repetition gives the same program and mistakes as its lines outside of it.

    Lines of an expansion take other ways through the assembler than lines of a file.
    """
    for name, text in list(sources(kind).items())[:12]:
        if any(
            word in text for word in (".exitm", ".macro", ".endr", ".rept", ".irp", ".end\n", "\\")
        ):
            continue
        lines = text.splitlines()
        first = next(
            place
            for place, line in enumerate(lines)
            if not line.startswith((".device", ".input", ".output", ".core", ".set"))
        )
        inside = "\n".join([*lines[:first], ".rept 1", *lines[first:], ".endr"]) + "\n"
        plain, repeated = (problems(source, folder) for source in (text, inside))
        moved = {(line + (line > first), message) for line, message in plain}
        assert {message for _line, message in moved} == {message for _line, message in repeated}, (
            name
        )
        if not plain:
            assert image(text, folder) == image(inside, folder), name


def problems(text: str, folder: Path) -> set[tuple[int, str]]:
    state = analyse([Source(text, outcomes.NAME, folder)]).state
    return {
        (x.span.line, x.message)
        for x in state.report.diagnostics()
        if x.severity == ERROR and "defined twice" not in x.message
    }


def image(text: str, folder: Path) -> list[tuple[str, bytes]]:
    return [(x.name, x.data) for x in assemble(Source(text, outcomes.NAME, folder)).sections]


# --- with an independent result --------------------------------------------------------------


def errors_by_line(text: str) -> tuple[dict[int, Diagnostic], bytes]:
    """The errors by their lines, or the bytes of the data section."""
    try:
        program = assemble(Source(text, outcomes.NAME))
    except AssemblyError as error:
        return {item.span.line: item for item in error.diagnostics if item.severity == ERROR}, b""
    return {}, program.section(".data").data


@pytest.mark.parametrize("seed", range(6))
def test_values_of_expressions(seed: int) -> None:
    """Sums, shifts and comparisons at the edges of words are those of 64-bit integers."""
    text, values = expressions.numeric_source(f"expressions {seed}", 60)
    lines = text.splitlines()
    errors, _data = errors_by_line(text)
    wrong = {number for number, value in enumerate(values, 1) if value is None}
    assert errors.keys() == wrong, {x: lines[x - 1] for x in errors.keys() ^ wrong}
    assert {item.message for item in errors.values()} <= {"division by zero"}
    good = [(line, value) for line, value in zip(lines, values, strict=True) if value is not None]
    errors, data = errors_by_line("\n".join(line for line, _value in good) + "\n")
    assert not errors
    for place, (line, value) in enumerate(good):
        assert struct.unpack_from("<q", data, 8 * place)[0] == value, line


@pytest.mark.parametrize("seed", range(3))
def test_bounds_of_numbers(seed: int) -> None:
    """A number is stored in two's complement, or refused if neither sign makes it fit."""
    text, pairs = directives.integer_source(f"integers {seed}")
    errors, _data = errors_by_line(text)
    fits = [
        -(1 << directives.BITS[name] - 1) <= value < 1 << directives.BITS[name]
        for name, value in pairs
    ]
    assert errors.keys() == {number for number, fit in enumerate(fits, 1) if not fit}
    good = [pair for pair, fit in zip(pairs, fits, strict=True) if fit]
    errors, data = errors_by_line("".join(f"{name} {value}\n" for name, value in good))
    assert not errors
    assert data == b"".join(
        (value % (1 << directives.BITS[name])).to_bytes(directives.BITS[name] // 8, "little")
        for name, value in good
    )


def test_groups_of_seven_bits() -> None:
    edges = [
        sign * (1 << bits) + more
        for bits in (0, 6, 7, 13, 14, 31, 62, 63, 64, 90)
        for sign in (1, -1)
        for more in (-1, 0, 1)
    ]
    _errors, data = errors_by_line("".join(f".sleb128 {value}\n" for value in edges))
    assert data == b"".join(directives.leb128(value, True) for value in edges)
    positive = [value for value in edges if 0 <= value < 1 << 64]
    _errors, data = errors_by_line("".join(f".uleb128 {value}\n" for value in positive))
    assert data == b"".join(directives.leb128(value, False) for value in positive)


@pytest.mark.parametrize(
    ("name", "code"), [(".float16", "<e"), (".float", "<f"), (".double", "<d")]
)
def test_floating_point_numbers(name: str, code: str) -> None:
    """Short decimal numbers, which binary64 holds well enough, are rounded as by struct."""
    numbers = [
        "0",
        "-0.0",
        "1",
        "-1.5",
        "0.1",
        "1e-3",
        "65504",
        "6e-8",
        "4e-8",
        "0.333",
        "-1e-7",
        "123.456",
    ]
    _errors, data = errors_by_line(f"{name} {', '.join(numbers)}\n")
    assert data == b"".join(struct.pack(code, float(number)) for number in numbers)
