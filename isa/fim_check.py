"""Checks a fim program against the rules for blocks, loops, columns and the island's abilities.

If an instruction breaks a rule, the assembler reports the statement, and the emulator raises a
fault before the program starts. The disassembler prints a wrong act, fim or mmr as a number. If
another instruction is wrong, or a block has no end, it prints all words as numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from macaw.isa.fim import LOOP_DEPTH, PUSHED
from macaw.isa.fim_circuit import (
    COLUMNS,
    DOT,
    FIRST_ROW_REGISTER,
    FORMATS,
    FUNCTION_NAMES,
    MAX_ROWS,
    OPERATIONS,
    REGISTERS,
    RZ,
    SHIFT_REGISTER,
    SLOTS,
)
from macaw.isa.fim_islands import Abilities
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.rows import Instruction

_CHECKED = (
    "op",
    "arrange",
    "transpose",
    "format",
    "rz_step",
)  # registers that affect ALU operations
# Words outside of blocks; `block` begins one.
_OUTSIDE = ("block", "endall")


class CheckError(ValueError):
    """The error for a statement or word of a fim program that breaks a rule.

    `operand` is the name of the wrong operand. `mark` is the value with which the caller of
    `Check.take` identified the wrong statement; None means the statement that is being checked.
    """

    fault = "bad block"

    def __init__(self, message: str, hint: str = "", operand: str = "", mark: Any = None) -> None:
        super().__init__(message)
        self.hint, self.operand, self.mark = hint, operand, mark


class AbilityError(CheckError):
    """The error for an operation that the island's circuits cannot do."""

    fault = "not available"


@dataclass(frozen=True)
class _Use:
    """An ALU operation in a loop: its mode depends on registers that the loop's body sets.

    `registers` has the values of the registers that the body set before the operation. `mark`
    identifies the statement in errors. `expected` is the ALU function that the source names; None
    if it names none.
    """

    mark: Any  # identifies the statement in errors
    expected: int | None  # the ALU function that the source names
    registers: Mapping[str, int]


@dataclass
class _Loop:
    """A loop whose body is being checked. `count` is its number of passes.

    `mark` identifies the statement `loop` in errors. `registers` has the values of the registers
    that the body has set so far; `uses` are its ALU operations so far.
    """

    count: int  # the number of passes
    mark: Any  # identifies the statement `loop` in errors
    registers: dict[str, int] = field(default_factory=dict)  # that the body has set so far
    uses: list[_Use] = field(default_factory=list)  # the ALU operations of the body so far


class Check:
    """A check of one fim program. The caller passes its instructions in their order to `take`.

    An instruction that breaks a rule has no effect on the checks of later ones, except that it may
    begin a block, or end a block or a loop.
    """

    def __init__(
        self, banks: int, rows: int, able: Abilities | None, others: Sequence[Abilities] = ()
    ) -> None:
        """Begin the check for an island with `banks` banks of `rows` DRAM rows each.

        `able` is what the circuits of the island can do; if it is None, the check accepts
        operations that they cannot do. `others` are the abilities of the device's other islands: a
        hint names the islands that can do an operation.
        """
        self._banks, self._rows, self._able, self._others = banks, rows, able, others
        self.caution = ""  # a probable mistake in the instruction that `take` checked last
        self._slot: int | None = 0  # the value of RZ_SLOT, if it is known
        self._dots = False  # whether a dot product has advanced RZ_SLOT to its value
        self._taken = 0  # mask of the banks that belong to blocks so far
        self.opened: Any = None  # the mark of the open block
        self.registers: dict[str, int] = {}  # those that the open block has set, with their values
        self._loops: list[_Loop] = []
        self._can: set[tuple[int, ...]] = set()  # modes of operations that the circuits can do

    def take(
        self,
        row: Instruction,
        values: Mapping[str, int],
        mark: Any,
        expected: int | None = None,
    ) -> None:
        """Check the next instruction of the program. Raises `CheckError`.

        `row` is its table row, `values` are its field values by name. `mark` identifies it in
        errors. If the source writes the instruction as a move, such as `rz <- rop * iosa[4]`,
        `expected` is the ALU function that the move means.
        """
        name = row.mnemonic
        self.caution = ""
        if name in _OUTSIDE:
            self._outside(name, values, mark)
            return
        if self.opened is None:
            raise CheckError(f"{name} is outside of a block", "write it between .block and end")
        match name:
            case "end":
                self._end()
            case "act":
                self._activation(values["row"], values["inc"])
            case "fim":
                self._operation(values, mark, expected)
            case "mmr":
                self._register(values)
            case "loop":
                if len(self._loops) == LOOP_DEPTH:
                    raise CheckError(f"more than {LOOP_DEPTH} loops inside of one another")
                self._loops.append(_Loop(values["n"], mark))
                self._slot = None
            case "endloop":
                self._endloop()
            case "push":
                self._moves_slice(PUSHED[values["register"]] == RZ, name, 1)

    def finish(self) -> None:
        """Raise `CheckError` if a block is open at the end of the program."""
        if self.opened is not None:
            raise self.unfinished()

    def unfinished(self) -> CheckError:
        """Close the open block and return the error for its missing `end`."""
        mark, self.opened = self.opened, None
        self._loops.clear()
        return CheckError("a block without its end", mark=mark)

    # --- blocks and loops ---

    def _outside(self, name: str, values: Mapping[str, int], mark: Any) -> None:
        inside = self.opened is not None
        if inside:
            self.unfinished()
        if name == "endall":
            self._taken = 0
        else:
            self._begin(values["banks"], mark)
        if inside:
            raise CheckError(f"{name} is inside of a block", "end the block before it with end")

    def _begin(self, banks: int, mark: Any) -> None:
        self.opened, self.registers = mark, {}
        self._slot, self._dots = 0, False
        twice, self._taken = self._taken & banks, self._taken | banks
        if banks >> self._banks:
            number = banks.bit_length() - 1
            raise CheckError(
                f"bank {number} is out of range, 0 to {self._banks - 1}", operand="banks"
            )
        if twice:
            number = (twice & -twice).bit_length() - 1
            raise CheckError(f"bank {number} is in two blocks of the program", operand="banks")

    def _end(self) -> None:
        self.opened = None
        if self._loops:
            mark = self._loops[-1].mark
            self._loops.clear()
            raise CheckError("a loop without its endloop", mark=mark)

    def _endloop(self) -> None:
        if not self._loops:
            raise CheckError("endloop without loop")
        loop = self._loops.pop()
        if loop.count == 1:
            return
        for use in loop.uses:
            state = {**self.registers, **use.registers}
            self._able_to(state, use.expected, use.mark, "from the second pass of the loop on, ")

    # --- operations ---

    def _activation(self, row: int, inc: int) -> None:
        if row >= MAX_ROWS:
            return  # a register, whose value is known when the word is done
        if row >= self._rows:
            raise CheckError(f"row: {row} is out of range, 0 to {self._rows - 1}", operand="row")
        if inc:
            hint = f"write mmr row0, {row} once, and act row0, inc={inc} here"
            raise CheckError("inc: only a row register is advanced", hint, "inc")

    def _register(self, values: Mapping[str, int]) -> None:
        row = REGISTERS[values["register"]]
        if values["value"] > row.greatest:
            raise CheckError(
                f"value: {values['value']} is out of range, 0 to {row.greatest}", operand="value"
            )
        names_row = FIRST_ROW_REGISTER <= values["register"] < SHIFT_REGISTER
        if names_row and values["value"] >= self._rows:
            raise CheckError(
                f"value: row {values['value']} is out of range, 0 to {self._rows - 1}",
                operand="value",
            )
        if row.name == "rz_slot":
            self._slot, self._dots = values["value"], False
        if row.name in _CHECKED:
            self.registers[row.name] = values["value"]
            for loop in self._loops:
                loop.registers[row.name] = values["value"]

    def _operation(self, values: Mapping[str, int], mark: Any, expected: int | None) -> None:
        number = values["n"]
        operation = OPERATIONS[number]
        column, step = values["col"], values["inc"]
        if not operation.has_column and (column or step):
            raise CheckError(
                f"operation {number} has no column", operand="col" if column else "inc"
            )
        last = column + step * (values["repeat"] - 1)
        if not 0 <= last < COLUMNS:
            raise CheckError(
                f"the column goes from {column} to {last}, out of range, 0 to {COLUMNS - 1}",
                operand="repeat",
            )
        if not operation.computes:
            self._moves_slice(operation.left == RZ, f"operation {number}", values["repeat"])
            return
        self._able_to(self.registers, expected, mark, "")
        if self.registers.get("arrange", 0) == DOT:
            self._dots = True
            if self._slot is not None:
                slots = FORMATS[self.registers.get("format", 0)].slots
                self._slot = (self._slot + values["repeat"]) % slots
        for loop in self._loops:
            loop.uses.append(_Use(mark, expected, dict(loop.registers)))

    def _moves_slice(self, moves: bool, what: str, count: int) -> None:
        """Set the warning `caution` if an instruction copies a slice of Rz that has no results.

        `what` is the instruction's name in the warning.

        Rz is the circuit's register of results. A slice of it has one result for each lane; dot
        products are only in the first slices. If `moves` is false, the instruction copies no slice.
        Otherwise it copies `count` slices, the first of which the register RZ_SLOT selects, and
        then advances this register.
        """
        if not moves:
            return
        if self._dots and self._slot and not self._loops:
            form = FORMATS[self.registers.get("format", 0)]
            if self._slot * form.slice_bytes >= form.slots * form.sum_size:
                filled = "slice 0" if form.lanes == form.slots else "slices 0 and 1"
                self.caution = (
                    f"{what} moves slice {self._slot} of Rz, because dots have advanced rz_slot to"
                    f" {self._slot}; their results are in {filled}"
                )
        if self._slot is not None and self.registers.get("rz_step"):
            step = self.registers["rz_step"]
            self._slot = (self._slot + count * step) % SLOTS

    def _able_to(
        self, state: Mapping[str, int], expected: int | None, mark: Any, when: str
    ) -> None:
        function = state.get("op")
        if expected is not None and function is None:
            name = FUNCTION_NAMES[expected]
            raise CheckError(
                f"the block has no mmr op before it, and this is {name}",
                f"write mmr op, {name} before it",
                mark=mark,
            )
        if expected is not None and expected != function:
            assert function is not None
            raise CheckError(
                f"{when}this is {FUNCTION_NAMES[expected]},"
                f" the last mmr op says {FUNCTION_NAMES[function]}",
                mark=mark,
            )
        if self._able is None:
            return
        arrangement, form = state.get("arrange", 0), state.get("format", 0)
        modes = function or 0, arrangement, form, state.get("transpose", 0)
        if modes in self._can:
            return
        why = self._able.lacks(*modes)
        if why:
            able = [str(other.island) for other in self._others if not other.lacks(*modes)]
            many = "s" if len(able) > 1 else ""
            hint = f"island{many} {', '.join(able)} can do it" if able else ""
            if "format" not in state:
                hint = self._format_hint(*modes) or hint
            raise AbilityError(f"{when}{why}", hint, mark=mark)
        self._can.add(modes)

    def _format_hint(self, function: int, arrangement: int, form: int, transpose: int) -> str:
        """Return a hint that names a number format with which the island can do an operation.

        The arguments are the values of the registers for function, arrangement, format and
        transpose. The caller calls the method for a program that has selected no format, so `form`
        is the format that is set at the start of each program. The hint is empty if the island has
        this format, or if it can do the operation with no other format.
        """
        assert self._able is not None
        if FORMATS[form].name in self._able.formats:
            return ""
        for other, row in enumerate(FORMATS):
            if not self._able.lacks(function, arrangement, other, transpose):
                name = FORMATS[form].name
                return f"write mmr format, {row.name} before it; format is {name} at the start"
        return ""
