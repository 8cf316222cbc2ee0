"""Writes the introduction on the screen: the program, its position, three commands to try."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from macaw.debugger.commands.text import where_text

if TYPE_CHECKING:
    from macaw.debugger.session import Session

COMMAND = 18  # width of the column for a command


def introduction(session: Session) -> list[str]:
    """Return lines that name the loaded program, its position, and three commands to try."""
    program = session.program
    files = [PurePath(name).name for name in program.source_files]
    name = files[0] if files else "the program"
    device = f" for the device {program.device}" if program.device else ""
    kinds = dict.fromkeys(x.core for x in program.sections if x.core is not None and x.size)
    lines = [f"{name}{device}: parts for {_join(list(kinds)) or 'no core'}"]
    if program.tensors:
        tensors = (f"{x.direction} {x.name} {x.dtype} {' x '.join(map(str, x.shape))}"
                   for x in program.tensors)  # fmt: skip
        lines.append("; ".join(tensors))
    where = session.last_stop.where
    if where is not None:
        cycle = session.device.cycle
        begin = f"It has stopped at cycle {cycle:,}" if cycle else "Nothing has been executed yet"
        lines.append(f"{begin}: {where_text(where)}")
    lines.append("Three things to try:")
    lines.append(_row("step", "F11: execute a line of source; reverse-step goes back"))
    label, core = first_label(session), _other_core(session)
    if label:
        lines.append(_row(f"break {label}", "then continue, F5: run to this label"))
    elif core:
        lines.append(_row(f"focus {core}", "show the code, registers and queues of this core"))
    else:
        lines.append(_row("continue", "F5: run to the end; reverse-continue goes back"))
    if program.outputs:
        element = program.outputs[0].name
        if program.outputs[0].shape:
            element += f"[{', '.join('0' * len(program.outputs[0].shape))}]"
        lines.append(_row(f"why {element}", "after continue: what made this value"))
    else:
        lines.append(_row("info cores", "what each core does"))
    return [*lines, "help lists the commands, F1 shows the keys, Ctrl-D leaves"]


def first_label(session: Session) -> str:
    """Return the name of a label of code, as an example of a location for a breakpoint.

    If possible, the label is not in the code of the core at which the program starts. Only labels
    of the type function count, and only in code of cores without units: an instruction certainly
    follows such a label. The text is empty if there is none.
    """
    program, first = session.program, _first_core(session)
    kinds = {core.table.name for core in session.device.order if not core.table.levels}
    labels = []
    for symbol in program.symbols:
        section = program.section_at(symbol.value) if symbol.section else None
        if section is None or section.core not in kinds or symbol.value == program.entry:
            continue
        if symbol.kind == "func" and symbol.name.isidentifier():
            labels.append((section.core == first, symbol.value, symbol.name))
    return min(labels)[2] if labels else ""


def _first_core(session: Session) -> str | None:
    """Return the kind (`cp`, ...) of the core at which the program starts; None if unknown."""
    entry = session.program.entry
    section = None if entry is None else session.program.section_at(entry)
    return None if section is None else section.core


def _other_core(session: Session) -> str:
    """Return the name of a core that has code or data in the program, other than the first core.

    Cores of the same kind as the core at which the program starts do not count. If several cores
    remain, the result is the one with the lowest number. The text is empty if there is none.
    """
    kinds = {x.core for x in session.program.sections if x.core is not None and x.size}
    kinds.discard(_first_core(session))
    return next((core.name for core in session.device.order if core.table.name in kinds), "")


def _row(command: str, meaning: str) -> str:
    return f"  {command:{COMMAND}} {meaning}"


def _join(words: list[str]) -> str:
    """Return words as a list in a sentence: `a, b and c`."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
