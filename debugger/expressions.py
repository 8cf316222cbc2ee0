"""Compiles expressions over a device's state to Python functions.

Operators on whole numbers are those of the assembler, with 64 bits (`macaw.asm.expressions`; a true
comparison is -1). Operators on real numbers and on arrays are those of Python and NumPy; on arrays
they act element by element. Some expressions read only registers of one core, constants and plain
memory. For these the compiler also writes a Python text, which a fast engine puts into the code to
which it translates the core's program.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from macaw.asm.expressions import COMPARISONS, high_part, low_part
from macaw.asm.literals import wrap
from macaw.asm.syntax import (
    Binary,
    Call,
    Group,
    LongNumber,
    Mistake,
    Name,
    Node,
    Number,
    Real,
    Slice,
    Unary,
)
from macaw.debugger import grammar, operators
from macaw.debugger.grammar import AddressOf, Contents, Repeated
from macaw.debugger.model_names import with_symbols
from macaw.debugger.name_resolver import NameResolver
from macaw.debugger.values import (
    C_TYPES,
    VIEWS,
    WORD,
    Access,
    AccessError,
    array_of,
    memory,
    memory_span,
)

if TYPE_CHECKING:
    from macaw.debugger.debuggee import Debuggee
    from macaw.debugger.places import Place

_EACH = ("abs",)  # functions of each value by itself, which take one argument
MOST_REPEATED = 1 << 20  # the greatest number of elements of `E@N`
_numbers = count(1)  # numbers for names in compiled texts, so that no two expressions share a name


class ExpressionError(ValueError):
    """An error in the text of an expression, or an expression that has no value now.

    `start` and `end` are offsets in the expression's text.
    """

    def __init__(self, message: str, start: int = 0, end: int = 0, hint: str = "") -> None:
        super().__init__(message)
        self.message, self.start, self.end, self.hint = message, start, end, hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


@dataclass
class _Code:
    """A node of an expression as Python text, with facts about its value.

    If `whole`, the value is always a whole number of at most `bits` bits. `live` is a text for the
    code to which a fast engine translates the core's program; empty if there is none.
    """

    text: str
    whole: bool = False  # whether the value is always a whole number
    bits: int = 64  # the greatest number of bits of its magnitude
    live: str = ""
    is_constant: bool = False  # whether it reads nothing of the device


@dataclass
class Expression:
    """A compiled expression. `value()` returns its present value or raises `ExpressionError`.

    `accesses` has a pair (access, function that returns its present indices) for each value of the
    device that is read; `target` is the pair that `set` changes. `live` is Python text for a fast
    engine's code for the program of `live_core`. It may be wrong while a test in `guards` is true.
    """

    text: str
    value: Callable[[], Any]
    accesses: tuple[tuple[Access, Callable[[], tuple[Any, ...]]], ...] = ()
    live: str = ""
    live_core: str = ""  # empty: any core
    guards: tuple[str, ...] = ()
    names: dict[str, object] = field(default_factory=dict)
    target: tuple[Access, Callable[[], tuple[Any, ...]]] | None = None
    uses_focus: bool = False  # whether it names a member of the focus without a place

    @property
    def cores(self) -> frozenset[str]:
        """The names of the cores whose acts may change state that the expression reads."""
        return frozenset().union(*(access.cores for access, _ in self.accesses))

    @property
    def memory(self) -> bool:
        """Whether the expression reads memory."""
        return any(access.memory for access, _ in self.accesses)

    def extents(self) -> list[tuple[int, int]]:
        """Return the memory that the expression reads now: (address, bytes) for each piece."""
        return [
            access.extent(*indices())
            for access, indices in self.accesses
            if access.extent is not None
        ]

    def holds(self) -> bool:
        """Return whether the expression is true now: its value, or an element of it, is not 0.

        Raises `ExpressionError` if it has no value now.
        """
        try:
            return bool(np.any(array_of(self.value())))
        except AccessError as error:
            raise ExpressionError(str(error)) from None

    def set(self, value: Any) -> None:
        """Assign `value` to what the expression denotes. Raises `ExpressionError`."""
        if self.target is None or self.target[0].write is None:
            raise ExpressionError(f"{self.text} is nothing that can be set")
        access, indices = self.target
        assert access.write is not None
        try:
            access.write(value, *indices())
        except AccessError as error:
            raise ExpressionError(str(error)) from None
        except (TypeError, ValueError, OverflowError):
            raise ExpressionError(f"{self.text} cannot hold that value") from None


def compile_expression(
    debuggee: Debuggee, text: str, focus: tuple[Place, ...] | None = None
) -> Expression:
    """Compile the expression `text` for the debuggee's present device.

    Short names refer to `focus`, by default to the debuggee's focus. Raises `ExpressionError`.
    """
    if not isinstance(text, str):
        raise ExpressionError(
            f"an expression is a string, not a value of type {type(text).__name__}"
        )
    try:
        node = grammar.parse(with_symbols(debuggee.program, text))
        return _Compiler(debuggee, text, focus or debuggee.focus).expression(node)
    except Mistake as mistake:
        raise ExpressionError(mistake.message, mistake.start, mistake.end, mistake.hint) from None
    except RecursionError:
        raise ExpressionError("the expression is nested too deeply") from None


class _Compiler:
    def __init__(self, debuggee: Debuggee, text: str, focus: tuple[Place, ...]) -> None:
        self.resolver = NameResolver(debuggee, focus)
        self.text = text
        self.names: dict[str, object] = {}
        self.accesses: list[tuple[Access, tuple[_Code, ...]]] = []
        self.guards: list[str] = []

    def expression(self, node: Node) -> Expression:
        code = self._code(node, top=True)
        value = self._function(code.text)
        accesses = tuple((access, self._tuple(codes)) for access, codes in self.accesses)
        cores = {name for access, _ in accesses for name in access.cores}
        live = code.live if len(cores) <= 1 else ""
        is_path = bool(accesses) and grammar.denotes_place(node)
        return Expression(
            self.text, value, accesses, live, next(iter(cores), ""), tuple(self.guards),
            self.names, accesses[-1] if is_path else None, self.resolver.uses_focus,
        )  # fmt: skip

    def _function(self, text: str) -> Callable[[], Any]:
        try:
            function = eval(compile(f"lambda: {text}", "<expression>", "eval"), self.names)
        except (SyntaxError, MemoryError, RecursionError):
            raise ExpressionError("the expression is nested too deeply") from None

        def value() -> Any:
            try:
                return function()
            except AccessError as error:
                raise ExpressionError(str(error)) from None
            except ZeroDivisionError:
                raise ExpressionError("division by zero") from None
            except ValueError as error:
                raise ExpressionError(f"{self.text}: {error}") from None
            except (TypeError, OverflowError):
                raise ExpressionError(
                    f"{self.text}: not possible with values of these types"
                ) from None

        return value

    def _tuple(self, codes: tuple[_Code, ...]) -> Callable[[], tuple[Any, ...]]:
        return self._function(f"({''.join(f'{code.text}, ' for code in codes)})")

    def _name(self, value: object) -> str:
        name = f"v{next(_numbers)}"
        self.names[name] = value
        return name

    # Nodes

    def _code(self, node: Node, top: bool = False) -> _Code:
        path = grammar.path_of(node)
        if path is not None:
            return self._path(path, top)
        match node:
            case Number():
                return _number(node.value)
            case Real():
                return _Code(self._name(float(node.text)))  # infinity has no text in Python
            case Group() if len(node.items) == 1:
                return self._code(node.items[0])
            case Unary():
                return self._unary(node)
            case Binary():
                return self._binary(node)
            case Call():
                return self._call(node)
            case Contents():
                return self._memory(*self._of_contents(node))
            case Repeated():
                return self._repeated(node)
            case AddressOf():
                return self._address_of(node)
        why = "an expression is needed here"
        if isinstance(node, LongNumber):
            why = "the number does not fit 64 bits"
        raise Mistake(why, node)

    def _unary(self, node: Unary) -> _Code:
        inner, sign = self._code(node.operand), node.operator
        if not inner.whole:
            return _Code(f"{self._name(operators.unary)}({sign!r}, {inner.text})")
        shape = {"-": "(-{})", "+": "{}", "~": "(~{})", "!": "int(not {})"}[sign]
        live = shape.format(inner.live) if inner.live else ""
        return self._wrap(shape.format(inner.text), inner.bits + 1, live, inner.is_constant)

    def _binary(self, node: Binary) -> _Code:
        left, right, sign = self._code(node.left), self._code(node.right), node.operator
        bits = _bits(sign, left.bits, right.bits, node.right)
        shape = _SHAPES.get(sign)
        if not (left.whole and right.whole) or shape is None:
            text = f"{self._name(operators.binary)}({sign!r}, {left.text}, {right.text})"
            return _Code(text, left.whole and right.whole)
        live = shape.format(left.live, right.live) if left.live and right.live else ""
        is_constant = left.is_constant and right.is_constant
        return self._wrap(shape.format(left.text, right.text), bits, live, is_constant)

    def _wrap(self, text: str, bits: int, live: str, is_constant: bool) -> _Code:
        if bits < 64:
            return _Code(text, True, bits, live, is_constant)
        name = self._name(wrap)
        return _Code(f"{name}({text})", True, 64, f"{name}({live})" if live else "", is_constant)

    def _call(self, node: Call) -> _Code:
        if node.function in operators.SET_FUNCTIONS:
            if node.function in _EACH and len(node.arguments) != 1:
                raise Mistake(f"{node.function} takes one value", node)
            parts = ", ".join(self._code(item, top=True).text for item in node.arguments)
            return _Code(f"{self._name(operators.call)}({node.function!r}, {parts})")
        if node.function in ("%hi", "%lo") and len(node.arguments) == 1:
            part = high_part if node.function == "%hi" else low_part
            inner = self._whole(self._code(node.arguments[0]), f"what {node.function} takes")
            return _Code(f"{self._name(part)}({inner})", True, 34)
        return _number(self.resolver.function(node))

    # Memory

    def _of_contents(self, node: Contents) -> tuple[np.dtype[Any], _Code]:
        """Return the element type of the memory that `node` denotes, and code for the address."""
        dtype = WORD
        name = C_TYPES.get(node.type, node.type)
        if node.type and name not in VIEWS:
            known = ", ".join((*VIEWS, *C_TYPES))
            raise Mistake(f"'{node.type}' is no type, there are {known}", node)
        if node.type:
            dtype = VIEWS[name]
        elif isinstance(node.address, Name):
            dtype = self.resolver.element_type(node.address.text) or WORD
        code = self._code(node.address)
        return dtype, _Code(self._whole(code, "an address"), True, 64, code.live, code.is_constant)

    def _memory(self, dtype: np.dtype[Any], address: _Code) -> _Code:
        access = memory(self.resolver.device, "memory", dtype)
        self.accesses.append((access, (address,)))
        text = f"{self._name(access.read)}({address.text})"
        if not access.whole:
            return _Code(text)
        return _Code(text, True, min(access.bits, 63), self._inline(access, (address,)))

    def _repeated(self, node: Repeated) -> _Code:
        count = node.count
        if not isinstance(count, Number) or not 1 <= count.value <= MOST_REPEATED:
            raise Mistake(f"after @ comes a number from 1 to {MOST_REPEATED:,}", count)
        path = grammar.path_of(node.first)
        if isinstance(node.first, Contents):
            dtype, address = self._of_contents(node.first)
        else:
            dtype = (path and self.resolver.path_type(path)) or WORD
            address = self._address_of(AddressOf(node.start, node.end, node.first))
        access = memory_span(self.resolver.device, "memory", dtype)
        part = _Code(f"slice(0, {count.value})")
        self.accesses.append((access, (address, part)))
        return _Code(f"{self._name(access.read)}({address.text}, {part.text})")

    def _address_of(self, node: AddressOf) -> _Code:
        operand = node.operand
        if isinstance(operand, Contents):
            return self._of_contents(operand)[1]
        path = grammar.path_of(operand)
        if path is None:
            raise Mistake("only memory has an address", operand)
        constant = self.resolver.constant(path, False)
        if constant is not None:
            return _number(constant)
        access, nodes = self.resolver.access(path, False)
        if access.extent is None:
            what = self.text[operand.start : operand.end]
            raise Mistake(f"{what} is not in memory, it has no address", operand)
        codes = tuple(self._subscript(item) for item in nodes)
        name = self._name(partial(_first_address, access))
        is_constant = all(code.is_constant for code in codes)
        text = f"{name}({', '.join(code.text for code in codes)})"
        return _Code(text, True, 33, "", is_constant)

    def _path(self, path: grammar.Path, top: bool) -> _Code:
        constant = self.resolver.constant(path, top)
        if constant is not None:
            return _number(constant)
        access, nodes = self.resolver.access(path, top)
        codes = tuple(self._subscript(node) for node in nodes)
        self.accesses.append((access, codes))
        name = self._name(access.read)
        text = f"{name}({', '.join(code.text for code in codes)})"
        if access.whole and not any(isinstance(node, Slice | grammar.Every) for node in nodes):
            bits = access.bits if access.bits < 64 else 63
            return _Code(text, True, bits, access.live or self._inline(access, codes))
        return _Code(text)

    def _inline(self, access: Access, codes: tuple[_Code, ...]) -> str:
        """Return Python text that reads the number in memory at `access` with the indices `codes`.

        The text is empty if an index is not constant, or if translated code must not read there.
        """
        if access.memory_view is None or not all(code.is_constant for code in codes):
            return ""
        source = access.memory_view(*self._tuple(codes)())
        if source is None:
            return ""
        view, place, pages = source
        self.guards.append(f"{self._name(pages)}.sleeper")
        return f"{self._name(view)}[{place}]"

    def _subscript(self, node: Node) -> _Code:
        if isinstance(node, grammar.Every):
            return _Code("slice(None)")
        if not isinstance(node, Slice):
            code = self._code(node)
            return code if code.whole else _Code(self._whole(code, "a subscript"))
        ends = [
            "None" if x is None else self._whole(self._code(x), "a subscript")
            for x in (node.low, node.high)
        ]
        return _Code(f"slice({', '.join(ends)})")

    def _whole(self, code: _Code, what: str) -> str:
        """Return text that computes `code`, but raises an error about `what` unless it is whole."""
        if code.whole:
            return code.text
        return f"{self._name(partial(operators.whole_number, what))}({code.text})"


def _first_address(access: Access, *indices: Any) -> int:
    """Return the address of the first byte that `access` reads with these indices."""
    assert access.extent is not None
    return access.extent(*indices)[0]


def _number(value: int) -> _Code:
    text = f"({value})"
    return _Code(text, True, abs(value).bit_length() + 1, text, True)


# Python's operators on whole numbers that cannot fail; `operators.binary` computes the others.
_SHAPES = {
    "||": "int(bool({0} or {1}))",
    "&&": "int(bool({0} and {1}))",
    **{sign: f"({{0}} {sign} {{1}})" for sign in ("|", "^", "&", "+", "-", "*")},
    **{sign: f"(-({{0}} {sign} {{1}}))" for sign in ("==", "!=", "<", "<=", ">", ">=")},
    "<>": "(-({0} != {1}))",
}


def _bits(sign: str, left: int, right: int, node: Node) -> int:
    """Return how many bits the magnitude of the result of the operator `sign` has at most.

    `left` and `right` are the greatest numbers of bits of its operands' magnitudes.
    """
    if sign in ("||", "&&", *COMPARISONS):
        return 2
    if sign in ("&", "|", "^"):
        return max(left, right)
    return left + right if sign == "*" else max(left, right) + 1
