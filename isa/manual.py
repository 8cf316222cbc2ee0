"""The reference, from the tables: plain text pages for `macaw isa` and the manual."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from functools import partial

from isa import codec
from isa.config import describe
from isa.model import Core, Field, Instruction, Operand, Pseudo, PseudoOperand, Row, Structure

WIDTH = 80
_fill = partial(textwrap.wrap, break_on_hyphens=False)


class UnknownRowError(LookupError):
    """The core has no instruction or structure of this name."""


def render(core: Core, row: Row | Structure) -> str:
    """The page of one row: bits, operands, meaning, reads, writes, cycles, example, source."""
    if isinstance(row, Structure):
        return _structure(core, row)
    if isinstance(row, Pseudo):
        return _pseudo(core, row)
    return _instruction(core, row)


def page(core: Core, name: str) -> str:
    """The pages of every row of a mnemonic, or of the structure `name`.

    Raises `UnknownRowError`.
    """
    rows: list[Row | Structure] = list(core.rows.get(name, ()))
    rows += [item for item in core.structures if item.name == name]
    if not rows:
        raise UnknownRowError(f"{core.name} has no '{name}'")
    return "\n".join(render(core, row) for row in rows)


def names(core: Core) -> tuple[str, ...]:
    """Everything that has a page, for completion and did-you-mean."""
    return (*core.rows, *(item.name for item in core.structures))


def summary(core: Core) -> str:
    """A line an instruction, by family, then pseudo-instructions and structures."""
    lines = [f"{core.name}: {core.title}"]
    families = dict.fromkeys((*core.order, *(row.family for row in core.instructions)))
    for family in families:
        rows = [row for row in core.instructions if row.family == family]
        lines += _list(family, ((codec.syntax(row), row.meaning) for row in rows))
    lines += _list("pseudo-instruction", ((codec.syntax(r), r.meaning) for r in core.pseudos))
    lines += _list("structure", ((item.name, item.meaning) for item in core.structures))
    lines += _list("directive", ((item.syntax, item.meaning) for item in core.directives))
    lines += _list(
        "register",
        ((f"{file.names[0][0]} to {file.names[-1][0]}", file.meaning) for file in core.files),
    )
    lines += _list("special register", ((item.name, item.meaning) for item in core.specials))
    lines += _list("queue", ((item.name, item.meaning) for item in core.queues))
    lines += _list("counter", ((item.name, item.meaning) for item in core.counters))
    lines += _list("fault", ((item.name, item.meaning) for item in core.faults))
    lines += _list("setting", ((item.name, describe(item)) for item in core.settings))
    return "\n".join(lines) + "\n"


def _list(title: str, entries: Iterable[tuple[str, str]]) -> list[str]:
    """A heading and its entries; nothing if there are none."""
    column = 26
    lines = []
    for name, meaning in entries:
        if len(name) > column - 2:
            lines.append(f"  {name}")
            name = ""
        lines += _fill(
            meaning,
            WIDTH + 20,
            initial_indent=f"  {name:<{column}}",
            subsequent_indent=" " * (column + 2),
        )
    return ["", title, *lines] if lines else []


def diagram(row: Instruction) -> str:
    """The bits of a row, high to low: fixed fields as their bits, others by name."""
    pieces: list[tuple[int, int, str]] = []
    for item in row.format.fields:
        for piece in item.slices:
            pieces.append((piece.word, piece.width, _content(row, item, piece.value, piece.width)))
    top, middle = " ", "|"
    for low, width, content in sorted(pieces, reverse=True):
        high = low + width - 1
        ends = f"{high} {low}" if width > 1 else f"{low}"
        size = max(len(content), len(ends)) + 2
        top += (f"{high}{low:>{size - len(str(high))}}" if width > 1 else f"{low:^{size}}") + " "
        middle += f"{content:^{size}}|"
    rule = re.sub(r"[^|]", "-", middle).replace("|", "+")
    return "\n".join(line.rstrip() for line in (top, rule, middle, rule))


def _content(row: Instruction, item: Field, low: int, width: int) -> str:
    """What stands in one piece of a field: bits if the row fixes them, else its name."""
    if item.name in row.fixed:
        return f"{row.fixed[item.name] >> low & (1 << width) - 1:0{width}b}"
    if item.name.startswith("reserved"):
        return "0" * width
    if len(item.slices) == 1 and not low:
        return item.name
    return f"{item.name}[{low + width - 1}:{low}]" if width > 1 else f"{item.name}[{low}]"


def _instruction(core: Core, row: Instruction) -> str:
    lines = [_heading(codec.syntax(row), f"{core.name}, {row.family}" if row.family else core.name)]
    lines += ["", *_wrapped(row.meaning), "", *textwrap.indent(diagram(row), "  ").split("\n"), ""]
    lines += _operands(row.operands)
    lines += _entry("Reads", row.reads.replace(" ", ", ") or "nothing")
    lines += _entry("Writes", row.writes.replace(" ", ", ") or "nothing")
    lines += _entry("Cycles", _cycles(core, row.cycles))
    lines += _entry("Example", row.example)
    lines += _entry("Source", row.source)
    return "\n".join(lines) + "\n"


def _pseudo(core: Core, row: Pseudo) -> str:
    lines = [_heading(codec.syntax(row), f"{core.name}, pseudo-instruction")]
    lines += ["", *_wrapped(row.meaning), ""]
    lines += _operands(row.operands)
    for number, alternative in enumerate(row.alternatives):
        for place, line in enumerate(alternative.lines):
            text = re.sub(r"\{(\w+)\}", r"\1", line)
            lines += _entry("Stands for" if not number and not place else "", text)
        if number + 1 < len(row.alternatives):
            lines += _entry("", "or")
    lines += _entry("Example", row.example)
    return "\n".join(lines) + "\n"


def _structure(core: Core, row: Structure) -> str:
    lines = [_heading(row.name, f"{core.name}, structure of {row.size} bytes"), ""]
    lines += [*_wrapped(row.meaning), "", "  offset type  member"]
    for member in row.members:
        legal = f"; {member.kind.describe()}" if member.kind else ""
        default = f"; {member.default} by default" if member.default else ""
        text = f"{member.meaning}{legal}{default}"
        head = f"  {row.offsets[member.name]:>6} {member.type:<5} {member.name:<14} "
        lines += _fill(text, WIDTH, initial_indent=head, subsequent_indent=" " * 29)
    if row.then:
        lines += ["", *_wrapped(f"Then follow {row.then}.")]
    return "\n".join(lines) + "\n"


def _heading(left: str, right: str) -> str:
    return f"{left}{right:>{max(WIDTH - len(left), len(right) + 2)}}"


def _wrapped(text: str) -> list[str]:
    return _fill(text, WIDTH - 2, initial_indent="  ", subsequent_indent="  ")


def _entry(title: str, text: str) -> list[str]:
    if not text:
        return []
    return _fill(text, WIDTH, initial_indent=f"  {title:<12}", subsequent_indent=" " * 14)


def _operands(operands: Sequence[Operand] | Sequence[PseudoOperand]) -> list[str]:
    lines: list[str] = []
    for operand in operands:
        text = operand.kind.describe()
        if operand.default is not None and not operand.kind.optional:
            text += f"; {operand.kind.format(operand.default)} if left out"
        lines += _entry("" if lines else "Operands", f"{operand.name}: {text}")
    return lines


def _cycles(core: Core, text: str) -> str:
    """The cycles with the core's settings by their full names and defaults."""
    for setting in core.settings:
        prefix, _, short = setting.name.rpartition(".")
        if prefix == core.name and re.search(rf"\b{re.escape(short)}\b", text) and "_" in short:
            text = re.sub(
                rf"(?<![\w.]){re.escape(short)}\b", f"{setting.name} ({setting.default})", text
            )
    return text
