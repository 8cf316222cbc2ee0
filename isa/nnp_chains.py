"""The rules for the order of instructions in an nnp chain, and the unit that executes each of them.

The rules follow from the rows alone (`macaw.isa.nnp.STEPS`). Assembler and emulator use the same
functions. `isa/nnp_entries.py` has the rules for the memory entries that a chain reads and writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from macaw.isa.codec import Decoded
from macaw.isa.nnp import BEGIN, RESET, RULES, SCALARS, STAGE, STEPS, WRITE, Scalar, Step
from macaw.isa.nnp_layouts import BY_CODE, BY_NAME, TILE, UNITS, Memory

_PLACE = {unit.name: place for place, unit in enumerate(UNITS)}
_BY_CODE = {scalar.code: scalar for scalar in SCALARS}


class ChainError(ValueError):
    """The error for a chain that breaks a rule.

    `rule` is the name of the rule. `at` is the index, in the chain, of the instruction that breaks
    the rule; it is the chain's length if an instruction is missing at its end.
    """

    def __init__(self, rule: str, at: int, message: str) -> None:
        super().__init__(message)
        self.rule, self.at, self.meaning = rule, at, RULES[rule]


def step(instruction: Decoded) -> Step:
    """Return the role of an instruction in a chain."""
    return STEPS[instruction.row.mnemonic]


def memory(instruction: Decoded) -> Memory | None:
    """Return the memory that an instruction reads or writes; None if it uses none."""
    code = instruction.values.get("mem")
    if code is not None:
        return BY_CODE[code]
    own = step(instruction).memory
    return BY_NAME[own] if own else None


def registers(instruction: Decoded) -> tuple[str, ...]:
    """Return the names of the registers that an instruction s_wr sets."""
    own = _BY_CODE[instruction.values["reg"]]
    return tuple(name for name in (own.name, own.vertical, *own.resets) if name)


def settings(instruction: Decoded) -> dict[str, int]:
    """Return the registers that an instruction s_wr sets, with their values.

    Raises `ChainError` if the register cannot have the value.
    """
    own, value = _BY_CODE[instruction.values["reg"]], instruction.values["value"]
    _check_value(own, value)
    values = {name: RESET[name] for name in own.resets} | {own.name: value}
    return values | {own.vertical: value} if own.vertical else values


def check_registers(scalars: Mapping[str, int]) -> None:
    """Raise `ChainError` if a register has a value that no s_wr can set.

    A user can have set such a value in the debugger. `scalars` has the registers' values by name.
    """
    for own in SCALARS:
        _check_value(own, scalars[own.name])


def _check_value(own: Scalar, value: int) -> None:
    if value < own.low:
        raise ChainError("value", 0, f"{own.name} is at least {own.low}, not {value}")


# --- the order of instructions ---


def goes_on(instruction: Decoded) -> bool:
    """Return whether an instruction continues an open chain.

    Any other instruction ends the chain.
    """
    return step(instruction).role in (STAGE, WRITE)


def follow(rows: Sequence[Decoded]) -> tuple[str, ...]:
    """Return, for each instruction of a chain, the name of the unit that executes it.

    The name is empty for reads and writes. `rows` is a chain or its first instructions. If several
    units can execute an instruction, the function chooses the first one, because this leaves the
    most units for later instructions. Raises `ChainError`.
    """
    first = step(rows[0])
    if first.role != BEGIN:
        reads = "m_rd" if first.elements == TILE else "v_rd"
        raise ChainError("begin", 0, f"{name(rows[0])} is in no chain: {reads} begins one")
    units = [""]
    for at, row in enumerate(rows[1:], 1):
        this, after_write = step(row), step(rows[at - 1]).role == WRITE
        if this.elements != first.elements:
            text = f"{name(row)} is for {this.elements}s, {name(rows[0])} reads {first.elements}s"
            raise ChainError("tiles", at, text)
        if this.role == WRITE:
            if after_write and first.elements == TILE:
                raise ChainError("tiles", at, "m_rd has its m_wr already")
            units.append("")
            continue
        if after_write:
            text = f"{name(row)} stands after {name(rows[at - 1])}, which ends a chain"
            raise ChainError("written", at, text)
        units.append(_unit(rows, units, at))
    if first.elements == TILE:
        _check_sides(rows)
    for at, row in enumerate(rows):
        _check_queue(row, at)
    return tuple(units)


def complete(rows: Sequence[Decoded], ender: str = "") -> None:
    """Raise `ChainError` unless the chain writes its result.

    `ender` is the mnemonic of the instruction that ends the chain, for the message.
    """
    if step(rows[-1]).role != WRITE:
        write = "m_wr" if step(rows[0]).elements == TILE else "v_wr"
        before = f" before {ender}" if ender else ""
        text = f"the chain of {name(rows[0])} writes nothing: {write} is missing{before}"
        raise ChainError("written", len(rows), text)


def name(instruction: Decoded) -> str:
    """Return the mnemonic of an instruction, for messages."""
    return instruction.row.mnemonic


def _unit(rows: Sequence[Decoded], units: Sequence[str], at: int) -> str:
    """Return the unit that executes instruction `at` of a chain. Raises `ChainError`.

    `units` are the units of the instructions before it.
    """
    this, place = step(rows[at]), memory(rows[at])
    can = [place.unit] if place is not None and place.unit else list(this.units)
    last = max((_PLACE[unit] for unit in units if unit), default=0)
    by_unit = {(unit, step(row).block): row for row, unit in zip(rows[:at], units, strict=True)}
    for unit in can:
        if _PLACE[unit] >= last and (unit, this.block) not in by_unit:
            return unit
    beyond = next((item for item, unit in zip(rows, units, strict=False) if _is(unit, last)), None)
    why = []
    for unit in can:
        title, user = UNITS[_PLACE[unit]].title, by_unit.get((unit, this.block))
        if user is not None:
            why.append(f"{title} has one, which {name(user)} uses")
        elif beyond is not None:
            why.append(f"the chain is past {title} since {name(beyond)}")
    rule = "blocks" if any((unit, this.block) in by_unit for unit in can) else "order"
    raise ChainError(rule, at, f"no block is left for {name(rows[at])}: {', and '.join(why)}")


def _is(unit: str, place: int) -> bool:
    return bool(unit) and _PLACE[unit] == place


def _check_sides(rows: Sequence[Decoded]) -> None:
    """Raise `ChainError` if a chain copies tiles within MatrixRf, or between other memories.

    MatrixRf is the multiplier's memory of tiles; a chain of tiles must either read or write it.
    """
    sides = [place for place in map(memory, rows) if place is not None]
    if len(sides) == 2 and sum(side.unit == "mvm" for side in sides) != 1:
        text = f"tiles go between Dram or NetInQ and MatrixRf, not from {sides[0].name}"
        raise ChainError("tiles", 1, f"{text} to {sides[1].name}")


def _check_queue(instruction: Decoded, at: int) -> None:
    place = memory(instruction)
    if place is not None and place.queue:
        for field in ("a", "inc"):
            if instruction.values.get(field):
                text = (
                    f"{place.name} has no addresses: {field} is 0, not {instruction.values[field]}"
                )
                raise ChainError("queue", at, text)
