"""The parts of fim: blocks of words for the banks of an island, operations as moves, tiles.

A source contains `.block banks=0-3` and moves such as `rop <- iosa[3]` and `rz <- rop * iosa[4]`;
each move becomes one word. `iosa[4:8]` is a range of columns. In an `mmr`, the value may be a name
or the address of a column. `macaw.isa.fim_check` checks the rules for programs, and tracks the last
`mmr op`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from macaw.asm.core_part import CorePart
from macaw.asm.diagnostics import did_you_mean
from macaw.asm.directive import Directive, table, wrong_operands
from macaw.asm.forms.fim.bank_sections import BankSections
from macaw.asm.forms.fim.moves import Move, move_of
from macaw.asm.instructions import known_values, place_word
from macaw.asm.layout import OWN, Area, SectionPlan
from macaw.asm.operands import BoundOperands, bind, known_word
from macaw.asm.program import tensor_section
from macaw.asm.statement_context import StatementContext
from macaw.asm.syntax import Binary, Checked, Group, Mistake, Name, Node, Number, Statement
from macaw.isa import memory_map
from macaw.isa.codec import encode
from macaw.isa.config import Configuration
from macaw.isa.fim import CORE
from macaw.isa.fim_check import Check, CheckError
from macaw.isa.fim_circuit import (
    COLUMN_BYTES,
    ISLANDS,
    MAX_ROWS,
    REGISTER_NAMES,
    REGISTERS,
)
from macaw.isa.fim_islands import abilities, geometry
from macaw.isa.fim_moves import ARROW
from macaw.isa.model import Core
from macaw.isa.rows import Instruction, Row

_MAP_END = memory_map.ISLANDS + (ISLANDS << memory_map.ISLAND_SHIFT)
_ROWS = CORE.by_mnemonic
# If one of these is wrong, later words cannot be checked.
_RULED = ("block", "end", "endall", "loop", "endloop", "mmr")


class FimPart(CorePart):
    """The part of a source that belongs to one island: it assembles blocks, words and moves."""

    def __post_init__(self) -> None:
        config = self.state.config
        assert self.index is not None
        self.geometry = geometry(config)
        able = abilities(config, self.index)
        every = (abilities(config, island) for island in range(config["fim.islands"]))
        others = [other for other in every if other.island != self.index]
        self.check = Check(self.geometry.banks, self.geometry.rows, able, others)
        self.banks = BankSections(self.core.section.format(self.index), self.index, self.geometry)
        block = next(row for row in CORE.directives if row.name == ".block")
        meaning = "An operation by what it moves, or computes, into a register or a column."
        self.directives = table(
            [
                Directive(
                    block.name, block.syntax, block.meaning, self._block, False, block.example
                ),
                Directive(ARROW, f"TO {ARROW} FROM", meaning, self._move),
            ]
        )
        self.last: Row | None = None  # the row of the part's last word
        # `_lost`: a wrong statement has no word, so words up to the next block are not checked.
        # `_refused`: an error in the current statement does not prevent checks of later words.
        self._lost = self._refused = False

    # --- statements ---

    def instruction(
        self, context: StatementContext, statement: Statement, rows: Sequence[Row]
    ) -> None:
        row = rows[0]
        assert isinstance(row, Instruction)
        self._refused = row.mnemonic not in _RULED
        bound = bind(row, statement)
        if row.mnemonic == "mmr":
            _name_value(context, bound)
        elif row.mnemonic == "act":
            _check_row_number(context, bound)
        self._take(context, statement, bound)
        self.check_group(context, statement)
        self._refused = False

    def _take(
        self,
        context: StatementContext,
        statement: Statement,
        bound: BoundOperands,
        expected: int | None = None,
    ) -> None:
        """Append the word of a statement with the operands `bound`, and check the rules for it.

        `expected` is the function that a move computes; None means any function. If the word breaks
        a rule, the word stays in the part and the method raises `Mistake`.
        """
        row = bound.row
        assert isinstance(row, Instruction)
        assert statement.head is not None
        values, pending = known_values(context, row, bound)
        if row.mnemonic == "mmr":
            pending.pop("value", None)  # an address that is not known yet, which no rule needs
        for name, node in pending.items():
            try:
                context.number(node)
            except Mistake as mistake:  # the reason why the value is not known
                if isinstance(node, Name):
                    mistake.hint = did_you_mean(node.text, bound.operand(name).kind.words())
                raise
        defaults = {x.name: x.default for x in row.operands if x.default is not None}
        if context.area.section != self.plan().name:
            raise Mistake(
                f"a word of an island is in {self.plan().name}, not in {context.area.section}",
                statement.head,
                "write .text before it",
            )
        place_word(context, row, bound)
        self.last = row
        try:
            self.check.take(row, {"value": 0, **defaults, **values}, (context, statement), expected)
        except CheckError as error:
            if not self._lost:
                self._refuse(error, statement, bound)
        if self.check.caution and not self._lost:
            first = statement.operands[0] if statement.head.text == ARROW else statement.head
            self.state.report.warning(
                context.line, (first.start, statement.end), self.check.caution,
                "write `mmr rz_slot, 0` before it", name="rz-slot",
            )  # fmt: skip
        self._lost = self._lost and row.mnemonic != "block"

    def statement_failed(self) -> None:
        self._lost = self._lost or not self._refused
        self._refused = False

    def _refuse(self, error: CheckError, statement: Statement, bound: BoundOperands) -> None:
        """Raise a `Mistake` for the broken rule that `error` describes.

        If the error belongs to an earlier statement, report it there instead and raise nothing.
        """
        assert statement.head is not None
        place: Node | tuple[int, int] = statement.head
        if statement.head.text == ARROW:
            place = (statement.operands[0].start, statement.end)
        if error.operand in bound.nodes:
            place = bound.nodes[error.operand]
        if error.mark is None or error.mark[1] is statement:
            self._refused = True
            raise Mistake(str(error), place, error.hint)
        self._report(error)

    def _report(self, error: CheckError) -> None:
        """Report a broken rule at the statement that `error.mark` identifies."""
        context, statement = error.mark
        first = statement.operands[0] if statement.head.text == ARROW else statement.head
        mistake = Mistake(str(error), (first.start, statement.end), error.hint)
        self.state.report.mistake(context.line, mistake)

    def _block(self, context: StatementContext, statement: Statement) -> None:
        """Carry out `.block banks=0-3`. Raises `Mistake`."""
        assert statement.head is not None
        options = context.named_operands(statement.operands, ["banks"], statement.head)
        if len(options) != 1 or len(statement.operands) != 1:
            raise wrong_operands(statement, ".block banks=RANGE, or banks=(RANGE, ...)")
        node = options["banks"].value
        items = node.items if isinstance(node, Group) else (node,)
        if not items:
            raise Mistake("a block needs at least one bank", node)
        mask = 0
        for item in items:
            mask |= self._range(context, item)
        operands: dict[str, Node] = {"banks": Number(node.start, node.end, mask)}
        self._take(context, statement, BoundOperands(_ROWS["block"], operands))

    def _range(self, context: StatementContext, node: Node) -> int:
        """Return the mask of one bank, or of a range such as `0-3`. Raises `Mistake`."""
        last = self.geometry.banks - 1
        if isinstance(node, Binary) and node.operator == "-":
            low = context.bounded_number(node.left, "bank", 0, last)
            high = context.bounded_number(node.right, "bank", 0, last)
            if low > high:
                raise Mistake(f"the range {low}-{high} is empty", node)
        else:
            low = high = context.bounded_number(node, "bank", 0, last)
        return (2 << high) - (1 << low)

    def _move(self, context: StatementContext, statement: Statement) -> None:
        """Assemble a move such as `rop <- iosa[3]` or `rz <- rop * iosa[4]`. Raises `Mistake`."""
        self._refused = True
        move = move_of(context, statement)
        self._take(
            context, statement, BoundOperands(_ROWS["fim"], _given(statement, move)), move.function
        )
        self._refused = False

    # --- tensors ---

    @classmethod
    def tensor_plans(cls, core: Core, config: Configuration) -> Mapping[str, SectionPlan]:
        """Return the sections for the tensors of islands, by the name that `at=` uses.

        The names are `island0`, `island1` and so on. The tensors of an island follow each other
        from the start of its banks.
        """
        plans: dict[str, SectionPlan] = {}
        for instance in range(config[f"{core.name}.{core.index}s"]):
            home = f"{core.index}{instance}"
            name = tensor_section(home)
            areas = [Area(name, zeros=True, align=COLUMN_BYTES)]
            memory = core.memories[1]
            plans[home] = SectionPlan(
                name, OWN, "aw", areas, address=memory.start(instance),
                limit=memory.bytes(config, instance), bound=memory.setting(instance),
                part_section=core.section.format(instance),
            )  # fmt: skip
        return plans

    # --- data in the banks ---

    def section(self, name: str) -> Area | None:
        plan = self.banks.plan(name)
        if plan is None:
            return super().section(name)
        if name not in self.state.layout.plans:
            self.banks.plans.append(plan)
        return self.state.layout.area(plan)

    def section_forms(self) -> Sequence[str]:
        return (self.banks.form,)

    # --- the end ---

    def leave(self) -> None:
        if self.check.opened is not None:
            error = self.check.unfinished()
            if not self._lost:
                self._report(error)

    def finish(self) -> None:
        tensors = self.state.layout.plans.get(tensor_section(f"island{self.index}"))
        for problem in self.banks.problems(tensors.areas[0] if tensors is not None else None):
            self.state.report.mistake(self.line, Mistake(problem, (-1, -1)))
        endall = _ROWS["endall"]
        if self.last is not None and self.last is not endall:
            context = StatementContext.current(self.state, self.line).at_end(self.area())
            context.emit(encode(endall, {}).to_bytes(endall.format.size, "little"))


def _given(statement: Statement, move: Move) -> dict[str, Node]:
    """Return, by name, the operands of the `fim` instruction that encodes a move."""
    place = statement.operands[1]
    numbers = {"n": move.number, "col": move.column, "repeat": move.repeat}
    if move.repeat > 1:
        numbers["inc"] = 1
    return {name: Number(place.start, place.end, value) for name, value in numbers.items()}


def _name_value(context: StatementContext, bound: BoundOperands) -> None:
    """Replace the value operand of an `mmr` by a number.

    A name becomes its number; an address becomes the number of its column.
    """
    register = bound.nodes["register"]
    node = bound.nodes["value"]
    if isinstance(register, Name) and register.text not in REGISTER_NAMES:
        if context.scope.find(register.text) is None:
            hint = did_you_mean(register.text, REGISTER_NAMES)
            raise Mistake(
                f"'{register.text}' is no memory-mapped register and no symbol",
                register,
                hint or f"there are {', '.join(REGISTER_NAMES)}",
            )
        return
    if not isinstance(register, Name):
        return  # the operand's kind checks the number
    row = REGISTERS[REGISTER_NAMES.index(register.text)]
    if row.words and isinstance(node, Name):
        if node.text in row.words:
            bound.nodes["value"] = Number(node.start, node.end, row.words.index(node.text))
        elif context.scope.find(node.text) is None:
            choices = ", ".join(row.words)
            hint = did_you_mean(node.text, row.words) or f"there are {choices}"
            raise Mistake(f"{row.name} has no value '{node.text}'", node, hint)
    if row.address:
        own = Checked(node.start, node.end, node, partial(_column_address, node))
        base = Number(node.start, node.end, memory_map.ISLANDS)
        offset = Binary(node.start, node.end, "-", own, base)
        shift = Number(node.start, node.end, COLUMN_BYTES.bit_length() - 1)
        bound.nodes["value"] = Binary(node.start, node.end, ">>", offset, shift)


def _check_row_number(context: StatementContext, bound: BoundOperands) -> None:
    """Check that the row operand of an `act` is the number of a row or names a row register.

    A number is checked when its value is known. Raises `Mistake`.
    """
    node = bound.nodes["row"]
    operand = next(item for item in bound.row.operands if item.name == "row")
    if known_word(operand.kind, node) is None:
        if isinstance(node, Name) and context.scope.find(node.text) is None:
            words = operand.kind.words()
            hint = did_you_mean(node.text, words) or f"there are {', '.join(words)}"
            raise Mistake(f"'{node.text}' is no row register and no symbol", node, hint)
        bound.nodes["row"] = Checked(node.start, node.end, node, partial(_row_number, node))


def _row_number(node: Node, value: int) -> None:
    """Raise `Mistake` unless `value` is the number of a row."""
    if not 0 <= value < MAX_ROWS:
        raise Mistake(f"row: {value} is out of range, 0 to {MAX_ROWS - 1}", node)


def _column_address(node: Node, value: int) -> None:
    """Raise `Mistake` unless `value` is the address of a column of an island."""
    if not memory_map.ISLANDS <= value < _MAP_END:
        message = f"{value:#x} is out of range, {memory_map.ISLANDS:#x} to {_MAP_END - 1:#x}"
        raise Mistake(f"value: {message}", node, "the address of a column of an island")
    if value % COLUMN_BYTES:
        raise Mistake(f"value: {value:#x} is not a multiple of {COLUMN_BYTES}", node)


PART = FimPart
