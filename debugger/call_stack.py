"""Who has called: return addresses in the link register and on the stack.

Programs in assembly say nothing of their frames, so every word on the stack is taken that points
right behind a call. A direct call counts only if it goes to before where the inner function is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from macaw.debugger.source_code import STACK, WORD, SourceCode
from macaw.debugger.stops import Where
from macaw.emu.faults import Fault
from macaw.isa.kinds import Register

if TYPE_CHECKING:
    from macaw.debugger.session import Session
    from macaw.emu.core import Core

LINK = "ra"
MOST_WORDS = 4096  # of the stack that are looked at
MOST_FRAMES = 64


def call_stack(session: Session, core: Core) -> list[Where]:
    """Where a core is, then where each call returns to, inner ones first; empty if it has none."""
    here = core.next_address
    if here is None:
        return []
    code = SourceCode(session.debuggee, core)
    found = [here]
    link, stack = register(core, LINK), register(core, STACK)
    inside = _function(session, here)
    stale = link is not None and _function(session, link) == inside
    if link is not None and not (stale or _saves(code, here)) and _called(code, link, here):
        found.append(link)
    for word in _words(session, stack) if stack is not None else ():
        if len(found) >= MOST_FRAMES:
            break
        if _called(code, word, found[-1]):
            found.append(word)
    return [session.where(core, address) for address in found]


def register(core: Core, alias: str) -> int | None:
    """The value of a register by one of its names; None: the core has none of that name."""
    for file in core.table.files:
        for number, names in enumerate(file.names):
            if alias in names and core.inlines == file.name:
                return int(getattr(core, core.inlines)[number])
    return None


def _saves(code: SourceCode, here: int) -> bool:
    """Whether the function has stored its link before an instruction: then it is on the stack."""
    symbol = code.debuggee.program.symbol_at(here)
    for at in range(here - (symbol[1] if symbol else 0), here, WORD):
        found = code.instruction(at)
        if found is None or "memory" not in found.row.writes.split():
            continue
        for operand in found.row.operands:
            names = operand.kind.names if isinstance(operand.kind, Register) else ()
            if names and LINK in names[found.values[operand.name]]:
                return True
    return False


def _words(session: Session, address: int) -> list[int]:
    """The words from an address up, as far as there is memory."""
    memory = session.device.memory
    try:
        pages, offset = memory.locate(address, WORD)
    except Fault:
        return []
    length = min(MOST_WORDS * WORD, (pages.size - offset) // WORD * WORD)
    data = memory.peek(address, length)
    return [int.from_bytes(data[at : at + WORD], "little") for at in range(0, length, WORD)]


def _called(code: SourceCode, address: int, inner: int) -> bool:
    """Whether an address is behind a call that may have led to `inner`."""
    section = code.debuggee.program.section_at(address - WORD)
    if section is None or address % WORD or not code.calls(address - WORD):
        return False
    found = code.instruction(address - WORD)
    target = None if found is None else found.values.get("target")
    if target is None:
        return True
    goal = address - WORD + target
    return goal <= inner and code.debuggee.program.section_at(goal) is not None


def _function(session: Session, address: int) -> str | None:
    found = session.program.symbol_at(address)
    return None if found is None else found[0].name
