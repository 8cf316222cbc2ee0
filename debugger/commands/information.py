"""The command `info`: tables of the program and of the state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from macaw.debugger.commands import answers, groups
from macaw.debugger.commands import layer_information as of_network
from macaw.debugger.commands import program_information as of_program
from macaw.debugger.commands.answers import Answer
from macaw.debugger.commands.frames import frame_table
from macaw.debugger.commands.line import CommandError, Line, parse_ranges
from macaw.debugger.commands.operands import address_value
from macaw.debugger.commands.points import points_table
from macaw.debugger.commands.table import command
from macaw.debugger.commands.text import brief
from macaw.debugger.counters import counter_units, read_counters
from macaw.debugger.places import Place, counts, places
from macaw.debugger.point import WATCHES
from macaw.debugger.register_numbers import as_numbers
from macaw.debugger.state_paths import Members
from macaw.debugger.values import AccessError

if TYPE_CHECKING:
    from macaw.asm.program import Tensor
    from macaw.debugger.commands.context import Context
    from macaw.debugger.session import Session

MOST = 1000  # the greatest number of rows of a table


def _cores(context: Context, text: str | None) -> Answer:
    session = context.session
    chosen = _chosen(session, text) if text else list(session.device.order)
    rows = []
    for core in chosen:
        core.sync()
        where = session.where(core)
        state = "idle"
        if core.running:
            state = f"waits for {core.waiting.on}" if core.waiting is not None else "runs"
        source = f"{where.file}:{where.line}" if where.file else None
        place = None if where.address is None else f"{where.address:#010x}"
        mark = "*" if any(one.core == core.name for one in session.focus) else ""
        rows.append(
            (mark, core.name, core.number, core.retired, place, where.symbol, source, state)
        )
    return answers.table(
        ("", "core", "number", "done", "address", "symbol", "source", "state"), rows
    )


def _chosen(session: Session, text: str) -> list[Any]:
    names = dict.fromkeys(place.core for place in places(session.device, text))
    return [session.device.cores[name] for name in names]


def _places(context: Context, text: str | None) -> tuple[Place, ...]:
    session = context.session
    return places(session.device, text) if text else session.focus


def _registers(context: Context, text: str | None) -> Answer:
    """Return a table of registers.

    If `text` has names of registers, these are registers of the focus. Otherwise `text` has places,
    and the table has all their registers; without `text`, all registers of the focus.
    """
    session = context.session
    names = {
        name
        for place in session.focus
        for file in session.device.cores[place.core].table.files
        for one in file.names
        for name in one
    }
    words = [word.removeprefix("$") for word in (text or "").split()]
    if words and all(word in names or word == "pc" for word in words):
        return _named_registers(session, words)
    rows: list[tuple[Any, ...]] = []
    for place in _places(context, text):
        session.interrupts.check()
        members = Members(session.device, place)
        for file in members.table.files:
            for one in file.names:
                alias = one[1] if len(one) > 1 else None
                for name, value in _values(members, one[0]):
                    rows.append((str(place), name, alias, _hexadecimal(value), value))
        if len(rows) > MOST:
            raise CommandError(f"more than {MOST:,} registers are too many", "name less of them")
    return answers.table(("core", "register", "", "", "value"), rows)


def _named_registers(session: Session, names: Sequence[str]) -> Answer:
    """Return a table of registers of the focus; vector registers are arrays."""
    values = [(name, session.read(f"${name}")) for name in names]
    if any(isinstance(value, np.ndarray) for _, value in values):
        rows = [(name, np.asarray(value).tolist()) for name, value in values]
        return answers.table(answers.VALUE, rows)
    return answers.table(
        ("register", "value", ""), [(name, value, _hexadecimal(value)) for name, value in values]
    )


def _values(members: Members, name: str) -> list[tuple[str, Any]]:
    """Return (name, value) of a register; for several units, one such pair for each unit.

    If the core says the type of the numbers in a register of bytes, the value has these numbers.
    Raises `CommandError`.
    """
    try:
        value = members.find((name,)).read()
    except AccessError as error:
        raise CommandError(str(error)) from None
    return [
        (label, part.tolist() if isinstance(part, np.ndarray | np.generic) else part)
        for label, part in as_numbers(members, name, value)
    ]


def _hexadecimal(value: Any) -> str | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return f"{value & (0xFFFF_FFFF if -(1 << 31) <= value < 1 << 32 else (1 << 64) - 1):#x}"


def _queues(context: Context, text: str | None) -> Answer:
    rows: list[tuple[Any, ...]] = []
    session = context.session
    for place in _places(context, text):
        if len(rows) >= MOST:
            break
        members = Members(session.device, place)
        for queue in members.table.queues:
            level = members.find((queue.name, "level")).read()
            capacity = members.find((queue.name, "capacity")).read()
            high = members.find((queue.name, "high")).read() if queue.high else None
            rows.append((str(place), queue.name, _number(level), capacity, _number(high)))
    answer = answers.table(("core", "queue", "level", "capacity", "high"), rows[:MOST])
    if rows:
        return answer
    owners = [core.name for core in session.device.cores.values() if core.table.queues]
    return replace(answer, lines=(f"cores with queues: {', '.join(owners)}",))


def _boxes(context: Context, text: str | None) -> Answer:
    """Return a table of the numbered boxes of units in a block diagram, with their contents.

    The diagrams are figures of a seed, a document that describes the hardware. The units are the
    deepest units inside the places in `text`; None means the focus. Raises `CommandError`.
    """
    session = context.session
    chosen = [unit for place in _places(context, text) for unit in _deepest(session, place)]
    rows: list[tuple[Any, ...]] = []
    for place in chosen:
        session.interrupts.check()
        core = session.device.cores[place.core]
        core.sync()
        for box in core.boxes:
            contents = box.look(place.units).items()
            what = ", ".join(f"{name} {brief(value)}" for name, value in contents)
            rows.append((str(place), box.number, box.name, what))
        if len(rows) > MOST:
            raise CommandError(f"more than {MOST:,} boxes are too many", "name less of them")
    if not rows:
        cores = [core for core in session.device.order if core.boxes]
        hint = ", ".join(str(_deepest(session, Place(core.name))[0]) for core in cores)
        names = ", ".join(dict.fromkeys(place.core for place in chosen))
        raise CommandError(f"no figure shows boxes of {names}", hint and f"there are of {hint}")
    return answers.table(("unit", "box", "name", "holds"), rows)


def _deepest(session: Session, place: Place) -> list[Place]:
    """Return the units of the deepest level that are inside `place`."""
    limits = counts(session.device.cores[place.core])[len(place.units) :]
    return [Place(place.core, (*place.units, *more)) for more in product(*map(range, limits))]


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _perf(context: Context, text: str | None) -> Answer:
    """Return a table of the counters that are not 0, with the growth since the last `info perf`."""
    session = context.session
    chosen = _chosen(session, text) if text else list(session.device.order)
    counters = read_counters(session.device)
    rows = []
    for core in chosen:
        units = counter_units(core)
        before = context.counters.get(core.name, {})
        for name, value in counters[core.name].items():
            if value:
                change = value - before.get(name, 0)
                rows.append((core.name, name, value, change, units.get(name) or None))
    context.counters = counters
    return answers.table(("core", "counter", "value", "change", "unit"), rows)


def _symbols(context: Context, text: str | None) -> Answer:
    program = context.session.program
    types = {(x.name, x.address): _type(x) for x in (*program.arrays, *program.tensors)}
    rows = [
        (
            f"{symbol.value:#010x}",
            symbol.size or None,
            symbol.section,
            types.get((symbol.name, symbol.value)),
            symbol.name,
        )
        for symbol in program.symbols
        if text is None or text in symbol.name
    ]
    rows.sort(key=lambda row: (row[0], row[-1]))
    return answers.table(("address", "bytes", "in", "type", "name"), rows[:MOST])


def _type(tensor: Tensor) -> str:
    return f"{tensor.dtype}{list(tensor.shape)}"


def _mem(context: Context, text: str | None) -> Answer:
    """Return a table of the program's sections and tensors, or what is at the address in `text`."""
    session = context.session
    if text is not None:
        place = address_value(session, text)
        if place is None:
            raise CommandError(f"{text} is no address")
        return answers.message(f"{place:#010x}: {session.device.memory.describe(place)}")
    program = session.program
    rows = [
        (f"{item.address:#010x}", f"{item.end - 1:#010x}", item.size, item.name, item.core)
        for item in program.sections
        if item.size
    ]
    rows += [
        (
            f"{item.address:#010x}",
            f"{item.address + item.size - 1:#010x}",
            item.size,
            item.name,
            None,
        )
        for item in program.tensors
    ]
    return answers.table(("from", "to", "bytes", "name", "core"), sorted(rows, key=lambda x: x[0]))


def _checkpoints(context: Context, text: str | None) -> Answer:
    session = context.session
    rows = [
        (point.number or None, point.position[0], "edited" if point.has_edits else None)
        for point in session.checkpoints
        if point.number or text == "all"
    ]
    title = (
        f"{len(session.checkpoints)} kept, {session.checkpoint_bytes / (1 << 20):.1f} MiB together"
    )
    return answers.table(("number", "cycle", ""), rows, title)


def _breakpoints(context: Context, text: str | None) -> Answer:
    return points_table(context, numbers=_numbers(text))


def _watchpoints(context: Context, text: str | None) -> Answer:
    return points_table(context, WATCHES, _numbers(text))


def _numbers(text: str | None) -> list[int]:
    """Return the numbers of points in `text`, such as `1 3-5`; none without `text`."""
    return parse_ranges((text or "").split(), "points")


def _displays(context: Context, text: str | None) -> Answer:
    displays = context.displays
    rows = [
        (number, "no" if number in displays.disabled else "yes", str(form) or None, expression)
        for number, (expression, form) in displays.rows.items()
    ]
    return answers.table(("number", "enabled", "format", "expression"), rows)


_INFO: Mapping[str, tuple[Callable[[Context, str | None], Answer], str]] = {
    "cores": (_cores, "the instruction of each core, and what it waits for"),
    "registers": (_registers, "registers of the focus or of places; or one register by its name"),
    "queues": (_queues, "queues of the focus or of places"),
    "boxes": (
        _boxes,
        "contents of the boxes of seed 000's figures, for PEs of the focus or of places",
    ),
    "layers": (
        of_network.layers_table,
        "layers of a compiled network: done, running, to come, with their cycles; with TEXT, some",
    ),
    "tensors": (
        of_network.tensors_table,
        "tensors of a compiled network by their names in the model, and whether they are there",
    ),
    "perf": (
        _perf,
        "counters and groups of the trace, with their change since the last `info perf`",
    ),
    "breakpoints": (
        _breakpoints,
        "breakpoints, watches and events; with TEXT, those with these numbers",
    ),
    "groups": (
        groups.groups_table,
        "units of the focus or of places grouped by their instruction: 14@mac 2@idle",
    ),
    "symbols": (_symbols, "symbols and tensors; with TEXT, those whose names contain it"),
    "mem": (_mem, "sections and tensors by address; or the memory that has an address"),
    "frame": (frame_table, "the chosen call, and where it returns to"),
    "line": (of_program.line_table, "the addresses of a line; without TEXT: of the present one"),
    "source": (of_program.source_table, "the source file of the focus"),
    "sources": (of_program.sources_table, "the source files of the program"),
    "functions": (of_program.functions_table, "labels of code; with TEXT, those that match it"),
    "variables": (of_program.variables_table, "labels of data and tensors, as functions"),
    "address": (of_program.address_answer, "the address of a symbol or a tensor"),
    "symbol": (of_program.symbol_answer, "the symbol at an address"),
    "program": (of_program.program_answer, "where and why the program has stopped"),
    "watchpoints": (_watchpoints, "watches, as breakpoints"),
    "display": (_displays, "the expressions of `display`"),
    "checkpoints": (
        _checkpoints,
        "checkpoints with a number; with `all`, also those that the debugger has made",
    ),
}
_ALONE = ("frame", "source", "sources", "program", "display")  # they have no operand


@command(
    f"info {'|'.join(_INFO)} [TEXT]",
    "look",
    "show a table of the program or of its state",
    aliases=("i",),
    details="\n".join(f"{name}: {meaning}" for name, (_, meaning) in _INFO.items()),
)
def _info(context: Context, line: Line) -> Answer:
    (what,) = line.words
    if what in _ALONE and line.get("TEXT"):
        raise CommandError(f"info {what} takes nothing more", at=line.place("TEXT"))
    return _INFO[what][0](context, line.get("TEXT") or None)
