"""The directive `.hint tensor NAME, mem, addr, rows, cols`: where nnp has a tensor.

In a memory of vectors, or in a queue, the tensor is `rows` vectors of `cols` elements; each vector
is padded to whole native vectors. In MatrixRf the tensor is a matrix, padded to whole tiles. In
external memory the tensor may be vectors or a matrix, so the address of its end is not known.
"""

from __future__ import annotations

from functools import partial

from macaw.asm.diagnostics import did_you_mean
from macaw.asm.directive import wrong_operands
from macaw.asm.program import Hint
from macaw.asm.statement_context import StatementContext
from macaw.asm.syntax import Mistake, Name, Node, Phrase, Statement
from macaw.isa.nnp import CORE, HINT
from macaw.isa.nnp_layouts import BY_NAME, LAST_ADDRESS, TILE, VECTOR, Memory

_KIND = HINT.syntax.split()[1]
_MOST = 1 << 20  # rows or columns
_TOP = (1 << 32) - 1


def take(context: StatementContext, statement: Statement) -> None:
    """Evaluate `.hint tensor` and store the hint in the state of the run. Raises `Mistake`.

    Other hints are ignored, with a warning if the word looks like a misspelt `tensor`.
    """
    first = statement.operands[0] if statement.operands else None
    words = first.words if isinstance(first, Phrase) else (first,)
    kind = words[0]
    if not isinstance(kind, Name):
        return
    if kind.text != _KIND:
        if guess := did_you_mean(kind.text, [_KIND]):
            text = f"a hint '{kind.text}' is used by no tool: it is ignored"
            context.state.report.warning(context.line, kind, text, guess, name="hint")
        return
    match words, statement.operands[1:]:
        case (_, Name() as name), (Name() as memory, address, rows, cols):
            if not name.text.isidentifier():
                raise Mistake(f"'{name.text}' is no name of letters, digits and _", name)
            if memory.text not in BY_NAME:
                hint = did_you_mean(memory.text, BY_NAME) or f"there are {', '.join(BY_NAME)}"
                raise Mistake(f"{CORE.name} has no memory '{memory.text}'", memory, hint)
            numbers = (address, rows, cols)
            context.after_layout(partial(_keep, context, name, memory, numbers))
        case _:
            raise wrong_operands(statement, HINT.syntax)


def _keep(
    context: StatementContext, name: Name, memory: Name, numbers: tuple[Node, Node, Node]
) -> None:
    place = BY_NAME[memory.text]
    last = LAST_ADDRESS if place.setting and not place.queue else _TOP
    address = context.bounded_number(numbers[0], "addr", 0, last)
    rows = context.bounded_number(numbers[1], "rows", 1, _MOST)
    cols = context.bounded_number(numbers[2], "cols", 1, _MOST)
    hint = Hint(CORE.name, name.text, place.name, address, rows, cols)
    native = context.state.config["nnp.native"]
    end = address + _entries(hint, place, native)
    if place.setting and not place.queue and end > context.state.config[place.setting]:
        size = context.state.config[place.setting]
        text = f"{name.text} needs entry {end - 1} of {place.name}, which has {size}"
        raise Mistake(f"{text} ({place.setting})", numbers[0])
    for other in (other for other in context.state.hints if other.core == hint.core):
        if other.name == hint.name:
            raise Mistake(f"a tensor {name.text} is hinted at already", name)
        begin, ending = other.address, other.address + _entries(other, place, native)
        shared = place.setting and other.memory == hint.memory
        if shared and address < ending and begin < end:
            text = f"{name.text} overlaps {other.name} in entry {max(address, begin)} of"
            raise Mistake(f"{text} {place.name}", numbers[0])
    context.state.hints.append(hint)


def _entries(hint: Hint, place: Memory, native: int) -> int:
    """Return how many entries the tensor of `hint` occupies in the memory `place`.

    An entry is a native tile if the memory stores only tiles, otherwise a native vector. `native`
    is the number of elements of a native vector.
    """
    across = -(-hint.cols // native)
    if TILE in place.elements and VECTOR not in place.elements:
        return -(-hint.rows // native) * across
    return hint.rows * across
