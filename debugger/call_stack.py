"""Finds the calls from which a core has not returned: from the link register and the stack.

Assembly code has no frame records. So the instructions from an address to the next return say where
the function's return address is and how large its frame is. If they do not, each word on the stack
that is the address after a call counts as a return address. A call of a known address counts only
if this address is at or before the address that was found before it, because that one is in the
called function.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from macaw.asm.disassembly.forms import printer_of
from macaw.debugger.source_code import STACK, WORD, SourceCode
from macaw.debugger.stops import Where
from macaw.debugger.where import where_of
from macaw.emu.breaks import live_values
from macaw.emu.faults import Fault
from macaw.isa.kinds import Register

if TYPE_CHECKING:
    from macaw.debugger.debuggee import Debuggee
    from macaw.emu.core import Core
    from macaw.isa.codec import Decoded

LINK = "ra"
MOST_WORDS = 4096  # the number of words of the stack that are searched
MOST_FRAMES = 64


def call_stack(debuggee: Debuggee, core: Core) -> list[Where]:
    """Return where a core is, then where each open call will return to, the innermost first.

    The result is empty if the core is idle.
    """
    addresses = call_addresses(debuggee, core)
    return [where_of(debuggee.program, core, address) for address in addresses]


def call_addresses(debuggee: Debuggee, core: Core) -> list[int]:
    """Return a core's next address, then the return addresses of its open calls, innermost first.

    The result has at most `MOST_FRAMES` addresses. It is empty if the core is idle.
    """
    here = core.next_address
    if here is None:
        return []
    code = SourceCode(debuggee, core)
    addresses = [here]
    link, stack = register(core, LINK), register(core, STACK)
    if stack is None:
        return addresses
    way = _way_out(code, here)
    # A function may jump to another one in place of a call and a return (a tail call): then no call
    # of the present function is before `link`.
    is_shown = _returns_by_link(code, here) or (way is not None and way.slot is None)
    inner = None if is_shown else here
    if link is not None and _is_link(code, link, here, way) and _follows_call(code, link, inner):
        addresses.append(link)
        stack += way.size if way is not None and way.slot is None else 0
        way = _way_out(code, link)
    while way is not None and way.slot is not None and len(addresses) < MOST_FRAMES:
        (word,) = _words(debuggee, stack + way.slot, 1) or (0,)
        if not code.calls(word - WORD):
            break
        addresses.append(word)
        stack += way.size
        way = _way_out(code, word)
    for word in _words(debuggee, stack, MOST_WORDS):
        if len(addresses) >= MOST_FRAMES:
            break
        if _follows_call(code, word, addresses[-1]):
            addresses.append(word)
    return addresses


def register(core: Core, alias: str) -> int | None:
    """Return the value of the register with this name or alias, or None if the core has none."""
    for file in core.table.files:
        for number, names in enumerate(file.names):
            values = live_values(core, file.name)
            if alias in names and values is not None:
                return int(values[number])
    return None


class _WayOut(NamedTuple):
    """How a function returns from an instruction on.

    The function has `size` bytes of the stack. Its return address is `slot` bytes above the stack
    pointer; if `slot` is None, it is in the link register.
    """

    size: int
    slot: int | None


class _Path(NamedTuple):
    """The instructions that are followed from one on: where they lead, and what they have done.

    `change` is their change of the stack pointer. They have shown where the return address is if
    `is_known` is true: at `slot`, as in `_WayOut`. If `is_lost` is true, a call has replaced the
    value of the link register before.
    """

    address: int
    change: int = 0
    is_lost: bool = False
    is_known: bool = False
    slot: int | None = None


def _way_out(code: SourceCode, here: int) -> _WayOut | None:
    """Follow the instructions from `here` to a return, and return how the function returns.

    A branch is followed only if the instructions after it lead to no return. The result is None if
    the instructions do not show the way, for example if they set the stack pointer to a new value.
    """
    seen: set[int] = set()
    paths = [_Path(here)]
    while paths and len(seen) < MOST_WORDS:
        path = paths.pop()
        at = path.address
        instruction = None if at in seen else code.instruction(at)
        seen.add(at)
        if instruction is None:
            continue
        if code.returns(at):
            if LINK in _names(instruction, "rs1") and (path.is_known or not path.is_lost):
                return _WayOut(max(0, path.change), path.slot)
            continue
        after = _followed(path, instruction)
        if after is None:
            continue
        is_target = "target" in instruction.values and not code.calls(at)
        if is_target:
            paths.append(after._replace(address=at + instruction.values["target"]))
        if not is_target or instruction.row.flow == "branch":
            paths.append(after)
    return None


def _followed(path: _Path, instruction: Decoded) -> _Path | None:
    """Return `path` with the instruction at its end; None if the way out is then unknown."""
    path = path._replace(address=path.address + WORD)
    written, base = _names(instruction, "rd"), _names(instruction, "rs1")
    number = instruction.values.get("imm")
    if STACK in written:
        if STACK not in base or number is None:
            return None
        return path._replace(change=path.change + number)
    if path.is_known:
        return path
    if STACK in base and LINK in _names(instruction, "rs2"):  # it stores the link register
        return None if path.is_lost else path._replace(is_known=True)
    if STACK in base and LINK in written and number is not None:
        return path._replace(is_known=True, slot=path.change + number)
    return path._replace(is_lost=path.is_lost or LINK in written)


def _is_link(code: SourceCode, link: int, here: int, way: _WayOut | None) -> bool:
    """Return whether `link`, the link register's value, is the return address of a function.

    `here` is an address in that function. The value is no such address if the function has stored
    the register before, because the stack then has the address; at the end of the function the
    register has it again. A value in the function itself comes from a call that has returned,
    unless this call is of the function itself.
    """
    program = code.debuggee.program
    symbol, after = program.symbol_at(here), program.symbol_at(link)
    start = here - (symbol[1] if symbol else 0)
    if _returns_by_link(code, here):
        return True
    is_inside = (symbol and symbol[0].name) == (after and after[0].name)
    if is_inside:
        target = _target(code, link - WORD)
        # An indirect call may be of the function itself; the code before its first call shows that.
        is_own = way is not None and way.slot is None and target is None
        is_own = is_own and not any(code.calls(at) for at in range(start, here, WORD))
        if target != start and not is_own:
            return False
    if way is not None:
        return way.slot is None
    return not any(_uses(code, at, "memory", LINK) for at in range(start, here, WORD))


def _returns_by_link(code: SourceCode, here: int) -> bool:
    """Return whether a return follows `here` that takes the present value of the link register.

    The result is False if a branch, or a change of the stack pointer, is between.
    """
    section = code.debuggee.program.section_at(here)
    for at in range(here, here if section is None else section.end, WORD):
        instruction = code.instruction(at)
        if code.returns(at):
            return _uses(code, at, "pc", LINK)
        if instruction is None or instruction.row.flow:
            return False
        if _uses(code, at, "rd", LINK) or _uses(code, at, "rd", STACK):
            return False
    return False


def _names(instruction: Decoded, operand: str) -> tuple[str, ...]:
    """Return the names of the register in an operand; none if there is no such operand."""
    for row in instruction.row.operands:
        if row.name == operand and isinstance(row.kind, Register):
            return row.kind.names[instruction.values[operand]]
    return ()


def _uses(code: SourceCode, address: int, written: str, register: str) -> bool:
    """Return whether an instruction writes `written` and has a register among its operands.

    `written` is "memory", "pc" or an operand. If it is an operand, it must be the register.
    """
    instruction = code.instruction(address)
    if instruction is None or written not in instruction.row.writes.split():
        return False
    for row in instruction.row.operands:
        names = row.kind.names if isinstance(row.kind, Register) else ()
        is_meant = row.name == written or written in ("memory", "pc")
        if is_meant and names and register in names[instruction.values[row.name]]:
            return True
    return False


def _words(debuggee: Debuggee, address: int, most: int) -> list[int]:
    """Return the 32-bit words of memory from `address` on, at most `most` of them."""
    memory = debuggee.device.memory
    try:
        pages, offset = memory.locate(address, WORD)
    except Fault:
        return []
    length = min(most * WORD, (pages.size - offset) // WORD * WORD)
    data = memory.peek(address, length)
    return [int.from_bytes(data[at : at + WORD], "little") for at in range(0, length, WORD)]


def _follows_call(code: SourceCode, address: int, inner: int | None) -> bool:
    """Return whether the instruction before `address` may have called a certain function.

    `inner` is an address in that function. The result is False if the instruction is not a call.
    An indirect call may have called every function. The target of another call must be in the
    program, and must not be after `inner` unless `inner` is None.
    """
    section = code.debuggee.program.section_at(address - WORD)
    if section is None or address % WORD or not code.calls(address - WORD):
        return False
    goal = _target(code, address - WORD)
    if goal is None:
        return True
    is_before = inner is None or goal <= inner
    return is_before and code.debuggee.program.section_at(goal) is not None


def _target(code: SourceCode, address: int) -> int | None:
    """Return where the call at an address goes, or None if a register decides that.

    The instruction before the call may compute the address together with it, as in `call`.
    """
    call, before = code.instruction(address), code.instruction(address - WORD)
    if call is None:
        return None
    if "target" in call.values:
        return address + call.values["target"]
    printer = printer_of(code.core.table.name)
    if before is not None:
        printer.target_of(before, address - WORD)
    return printer.target_of(call, address)
