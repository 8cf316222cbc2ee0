"""The parts of cp: code and data in local memory, and the default program.

If the sources have no part of cp, the assembler adds the default program.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from struct import pack

from macaw.asm.core_part import Startup, Transfer
from macaw.asm.forms import scalar
from macaw.asm.generated_sources import default_program
from macaw.asm.layout import LOCAL, Area, SectionPlan
from macaw.asm.source import Source


class Command(IntEnum):
    """The numbers of the commands that the default program executes.

    A command is a record of eight words; the first word is the command's number. In `default_cp.s`,
    the code for a command has the label `default.` followed by the command's name.
    """

    END = 0
    COPY = 1
    COPIED = 2
    SWAP = 3
    RUN = 4
    START = 5
    WAIT = 6


_COMMANDS = ".data.cp"


class CpPart(scalar.ScalarPart):
    """A part of cp.

    The sections `.text` and `.data.cp` are in local memory, the other sections in external memory.
    """

    def plan(self) -> SectionPlan:
        return SectionPlan(
            ".text.cp", LOCAL, "ax", [Area(".text.cp", align=4)], self.core.name, None
        )

    def section(self, name: str) -> Area | None:
        if name == _COMMANDS:
            area = Area(_COMMANDS, align=16)
            self.state.layout.area(self.plan())  # the text comes first
            return self.state.layout.area(
                SectionPlan(_COMMANDS, LOCAL, "aw", [area], self.core.name)
            )
        return super().section(name)

    def section_names(self) -> Sequence[str]:
        return (*super().section_names(), _COMMANDS)

    def default_source(self) -> Source:
        return default_program(self.core.name)

    def fill_default(self, parts: Sequence[Startup]) -> None:
        area = self.section(_COMMANDS)
        assert area is not None
        for command in _commands(parts):
            area.append(
                pack("<8I", *(word & 0xFFFFFFFF for word in command), *[0] * (8 - len(command)))
            )


def _commands(parts: Sequence[Startup]) -> Iterable[tuple[int, ...]]:
    """Yield the commands that run all parts, each step of `Startup` for all parts together.

    The steps are in this order: loads, swap, dispatches, starts, drains, feeds, waits, stores.
    """

    def copies(transfers: Iterable[Transfer]) -> Iterable[tuple[int, ...]]:
        for item in transfers:
            yield (
                Command.COPY,
                item.dst,
                item.src,
                item.row_bytes,
                item.rows,
                item.dst_stride,
                item.src_stride,
            )

    loads = [command for part in parts for command in copies(part.loads)]
    stores = [command for part in parts for command in copies(part.stores)]
    drains = [command for part in parts for command in copies(part.drains)]
    feeds = [command for part in parts for command in copies(part.feeds)]
    swap, waits = 0, 0
    for part in parts:
        swap, waits = swap | part.swap, waits | part.waits
    if loads:
        yield from (*loads, (Command.COPIED,))
    if swap:
        yield Command.SWAP, swap
    # First the first list of each part, so that rows run in parallel.
    for turn in range(max((len(part.dispatches) for part in parts), default=0)):
        for part in parts:
            if turn < len(part.dispatches):
                yield Command.RUN, *part.dispatches[turn]
    for part in parts:
        for start in part.starts:
            yield Command.START, *start
    yield from drains
    yield from feeds
    if waits:
        yield Command.WAIT, waits
    yield from stores
    if drains or feeds or stores:
        yield (Command.COPIED,)
    yield (Command.END,)


PART = CpPart
