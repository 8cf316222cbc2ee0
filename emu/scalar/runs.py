"""Runs: sequences of instructions bound to the registers of one core, executed one after the other.

A run can contain instructions that neither wait nor call a service of the device. It is a list of
acts: functions without arguments that each execute one instruction. At its end is a branch, a jump
or the next address. The fast engine executes long runs, and the interpreter executes runs of one
instruction. So each instruction is defined only once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from macaw.emu.faults import Fault
from macaw.emu.scalar import semantics
from macaw.emu.scalar.core import ScalarCore
from macaw.emu.scalar.semantics import MASK, SINK, Act, Decision, Exit, Leave
from macaw.isa.codec import Decoded
from macaw.isa.typed_records import NamedTuple

ACTS = frozenset(("register", "immediate", "upper", "multiply", "divide", "load", "store"))
ENDS = frozenset(("branch", "jump"))


class Uses(NamedTuple):
    """The uses of compute units by the instructions of a run, for the trace.

    For each instruction and for the end of the run, `counts` has the number of uses before it, and
    `until` the end of the last use before it. `first` is the start of the first use. Times are
    relative to the start of the run.
    """

    counts: tuple[int, ...]
    until: tuple[int, ...]
    first: int


class Run(NamedTuple):
    """Consecutive instructions in memory; the last one may be a branch or jump.

    `acts` execute the instructions, except a branch or jump at the end. `end` executes this, and
    returns the next address and the cost of the whole run. `costs` has the device cycles from the
    start of the run to the start of each instruction, `lead` those to the start of the last one.
    `length` is the number of instructions, `code` has their words.
    """

    acts: tuple[Act, ...]
    end: Decision
    lead: int
    length: int
    costs: tuple[int, ...]
    code: bytes
    uses: Uses


def bind_run(
    core: ScalarCore,
    address: int,
    instructions: Iterable[Decoded],
    code: Callable[[int], bytes],
    single: bool,
) -> Run:
    """Make a run of the instructions from `address` on, up to the first that cannot be part of it.

    An instruction cannot be part of a run if it waits or calls a service. An instruction with
    probes can be part of a run only if `single` is set, that is, if the run has one instruction.
    If the first instruction cannot be part of a run, the result is an empty run, whose execution
    raises `Leave` at once. `code(n)` returns the n bytes of memory from `address` on.
    """
    acts: list[Act] = []
    costs = [0]
    uses, lasts, first = [0], [0], 0
    end: Decision | None = None
    for found in instructions:
        place = len(acts)
        at = address + 4 * place
        family = found.row.family
        if not single and core.probe_set.of(found):
            break
        if family in ENDS:
            end = _decision(core, found, at, place, costs[-1])
            break
        if family not in ACTS:
            break
        acts.append(_act(core, found, at, place))
        costs.append(costs[-1] + core.timing.of_family[family])
        units = core.uses(found.row)
        if units and not uses[-1]:
            first = costs[-2]
        uses.append(uses[-1] + units)
        lasts.append(costs[-1] if units else lasts[-1])
    if end is None:
        if not acts:
            return Run((), _leave_at_once, 0, 0, (0,), code(4), Uses((0,), (0,), 0))
        length = len(acts)
        end = _always((address + 4 * length, costs.pop()))
    else:
        length = len(acts) + 1
        uses.append(uses[-1])
        lasts.append(lasts[-1])
    used = Uses(tuple(uses), tuple(lasts), first)
    return Run(tuple(acts), end, costs[-1], length, tuple(costs), code(4 * length), used)


def arguments(found: Decoded) -> dict[str, int]:
    """Return the operands of an instruction, as arguments for functions of `semantics`.

    A destination x0 becomes `SINK`, the index of a further register that no instruction reads.
    """
    values = dict(found.values)
    if values.get("rd") == 0:
        values["rd"] = SINK
    return values


def misaligned_target(core: ScalarCore, found: Decoded) -> Fault:
    """Return the fault of `found`, a jump or branch at `pc` whose target is no multiple of 4."""
    values = found.values
    if "target" in values:
        target = core.pc + values["target"] & MASK
    else:
        target = core.x[values["rs1"]] + values["imm"] & MASK - 1
    return Fault(
        "misaligned access",
        f"{found.row.mnemonic} to {target:#010x}, which is no multiple of 4",
        {"address": target, "size": 4},
    )


def _act(core: ScalarCore, found: Decoded, address: int, place: int) -> Act:
    """Return the act of an instruction that neither branches nor jumps.

    The instruction is at `address`; `place` is its index in the run.
    """
    more: dict[str, object] = {}
    if found.row.family in ("load", "store"):
        more = {"local": core.device.memory.local, "place": place}
    elif "pc" in found.row.reads.split():
        more = {"pc": address}
    make = semantics.meaning(semantics, found.row.mnemonic)
    act: Act = make(core.x, **arguments(found), **more)
    return act


def _decision(core: ScalarCore, found: Decoded, address: int, place: int, before: int) -> Decision:
    """Return the act of a branch or jump, which ends a run.

    The instruction is at `address`. `place` is the number of instructions before it in the run,
    `before` their cost in cycles.
    """
    make: Callable[..., Decision] = semantics.meaning(semantics, found.row.mnemonic)
    values = arguments(found)
    timing = core.timing
    target = address + values.pop("target", 0) & 0xFFFF_FFFF
    following = address + 4 & 0xFFFF_FFFF
    if found.row.family == "branch":
        fallen: Exit = (following, before + timing.alu)
        taken: Exit = (target, before + timing.taken)
        decide = make(core.x, **values, taken=taken, fallen=fallen)
        return _guard(decide, taken, place) if target & 3 else decide
    return make(core.x, **values, **_jump(found.row.syntax, target), link=following, leave=place,
                cost=before + timing.taken)  # fmt: skip


def _jump(syntax: str, target: int) -> Mapping[str, int]:
    """Return the argument `target`, as a dict, for the function of a jump with this syntax.

    The result is empty if the syntax has no target, as for a jump to an address in a register.
    """
    return {"target": target} if "target" in syntax else {}


def _always(exit_: Exit) -> Decision:
    return lambda: exit_


def _leave_at_once() -> Exit:
    raise Leave(0)


def _guard(decide: Decision, taken: Exit, place: int) -> Decision:
    """Return the act of a branch whose target is misaligned.

    It does what `decide` does, but if the branch is taken, it raises `Leave(place)`, so that the
    interpreter executes the branch and raises the fault. `taken` is the result of `decide` for a
    taken branch.
    """

    def act() -> Exit:
        chosen = decide()
        if chosen is taken:
            raise Leave(place)
        return chosen

    return act
