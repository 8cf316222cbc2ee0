"""Expectations: comments in which a source of the corpus says what the assembler makes of it.

    add a0, a1      #! error 9-23: add does not take 2 operands | write add rd, rs1, rs2
    #! error 4:9-11: a comment without an end      (of line 4, if that line cannot hold it)
    #! error include/a.inc:4:9-11: ...             (of an included file)
    #! warning 1-2: label '1' is not used
    #! bytes .text.cp 13000000 67800000            (all of a section; several lines add up)
    #! at .data+4 0a0b                             (some bytes of a section)
    #! section .data 0x80000000 12 align 4         (address, size, alignment)
    #! symbol name 0x10000 4 func .text.cp         (value, size, kind, section or -)
    #! global name

Columns count from 1; the end is the column after the last one. The text after `|` is the hint. A
diagnostic that no comment expects fails the test, too.

`python -m tests.asm.expectations FILE...` writes the diagnostics that the assembler gives now into
files of `err` that expect none. Read them before you commit.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from macaw.asm.assembler import assemble
from macaw.asm.diagnostics import AssemblyError, Diagnostic
from macaw.asm.program import Program

_EXPECTATION = re.compile(r"#! (\w+) (.*?)\s*$")
_PLACE = re.compile(r"(?:([\w./]+):(?=\d+:))?(?:(\d+):)?(\d+)-(\d+): (.*)")


@dataclass(frozen=True, order=True)
class Said:
    """A diagnostic: what the assembler reports, or what a comment of the corpus expects."""

    file: str  # empty: the source itself
    line: int
    column: int
    end: int
    severity: str
    message: str
    hint: str


def of(item: Diagnostic) -> Said:
    """Convert a diagnostic of the assembler."""
    span, main = item.span, item.chain[-1].span if item.chain else item.span
    file = "" if span.file == main.file else "/".join(Path(span.file).parts[-2:])
    return Said(
        file, span.line, span.column, span.end_column, item.severity, item.message, item.hint
    )


def expected(path: Path) -> tuple[list[Said], list[tuple[str, str]]]:
    """Return the diagnostics that a source expects, and its other expectations.

    Each of the other expectations is its keyword and the rest of the comment.
    """
    said, others = [], []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        match = _EXPECTATION.search(line)
        if not match:
            continue
        what, rest = match.groups()
        if what not in ("error", "warning"):
            others.append((what, rest))
            continue
        place = _PLACE.fullmatch(rest)
        assert place, f"{path}:{number}: not an expectation: {line}"
        message, _, hint = place[5].partition(" | ")
        at = int(place[2] or number)
        file, columns = place[1] or "", (int(place[3]), int(place[4]))
        said.append(Said(file, at, *columns, what, message, hint))
    return sorted(said), others


def compare(program: Program, what: str, rest: str) -> tuple[object, object]:
    """Return the value in the program and the expected value, for one expectation."""
    words = rest.split()
    if what == "at":
        name, _, offset = words[0].partition("+")
        wanted, start = bytes.fromhex("".join(words[1:])), int(offset or "0", 0)
        data = program.section(name).data[start : start + len(wanted)]
        return data.hex(" ", 4), wanted.hex(" ", 4)
    if what == "section":
        section = program.section(words[0])
        found = [hex(section.address), str(section.size), "align", str(section.align)]
        return found[: len(words) - 1], words[1:]
    if what == "symbol":
        symbol = program.symbol(words[0])
        found = [hex(symbol.value), str(symbol.size), symbol.kind, symbol.section or "-"]
        return found[: len(words) - 1], words[1:]
    if what == "global":
        return [word for word in words if program.symbol(word).is_global], words
    if what == "absent":
        return {symbol.name for symbol in program.symbols} & set(words), set()
    raise AssertionError(f"no expectation is called {what}")


def main(names: list[str]) -> None:
    """Write the diagnostics that the assembler gives now into sources that expect none."""
    for name in names:
        path = Path(name)
        if expected(path)[0]:
            print(f"{name}: expects some already")
            continue
        lines = path.read_text("utf-8").splitlines()
        try:
            found = assemble(path).warnings
        except AssemblyError as error:
            found = error.diagnostics
        for item in reversed([item for item in found if isinstance(item, Diagnostic)]):
            said = of(item)
            hint = f" | {said.hint}" if said.hint else ""
            text = f"{said.column}-{said.end}: {said.message}{hint}"
            if said.file or "#! " in lines[said.line - 1]:
                where = f"{said.file}:{said.line}" if said.file else f"{said.line}"
                lines.append(f"#! {said.severity} {where}:{text}")
            else:
                lines[said.line - 1] = f"{lines[said.line - 1]:<40}  #! {said.severity} {text}"
        path.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
