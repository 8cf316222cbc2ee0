"""Expressions over a device's state, compiled once: the assembler's operators, 64 bits, and more.

Whole numbers mean what they mean in a source (`macaw.asm.expressions`: a comparison that holds is
-1). Real numbers, and arrays element by element, are Python's and NumPy's. An expression that
only reads registers of one core and constants has a text for translated code too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from macaw.asm.expressions import BINARY, COMPARISONS, UNARY, high_part, low_part
from macaw.asm.literals import wrap
from macaw.asm.syntax import Binary, Call, Group, Mistake, Node, Number, Real, Slice, Unary
from macaw.debugger import grammar
from macaw.debugger.name_resolver import NameResolver
from macaw.debugger.values import Access, AccessError

if TYPE_CHECKING:
    from macaw.debugger.debuggee import Debuggee
    from macaw.debugger.places import Place

SETS: Mapping[str, Callable[..., Any]] = {
    "sum": lambda values: np.sum(values, dtype=_wide(values)),
    "max": np.max,
    "min": np.min,
    "mean": lambda values: np.mean(values, dtype=np.float64),
    "any": lambda values: -int(np.any(values)),
    "all": lambda values: -int(np.all(values)),
    "count": lambda values: int(np.count_nonzero(values)),
    "len": np.size,
    "abs": lambda values: np.abs(_widened(values)),
}
"""Functions of sets and arrays: of all values of their arguments together."""
_EACH = ("abs",)
_numbers = count(1)  # names of values in compiled text: no two expressions share one


class ExpressionError(ValueError):
    """An expression that is wrong, or has no value now; `start` and `end` are in its text."""

    def __init__(self, message: str, start: int = 0, end: int = 0, hint: str = "") -> None:
        super().__init__(message)
        self.message, self.start, self.end, self.hint = message, start, end, hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


@dataclass
class _Code:
    """Python text of a part: `live` for translated code, empty if it cannot be there."""

    text: str
    whole: bool = False  # always a whole number
    bits: int = 64  # of no greater magnitude than so many bits
    live: str = ""
    fixed: bool = False  # nothing of the device is in it


@dataclass
class Expression:
    """A compiled expression. `value()` is what it is now."""

    text: str
    value: Callable[[], Any]
    accesses: tuple[tuple[Access, Callable[[], tuple[Any, ...]]], ...] = ()  # with their indices
    live: str = ""  # for breaks of `live_core`; empty: of any
    live_core: str = ""
    guards: tuple[str, ...] = ()  # where one of these holds, the text may not be asked
    names: dict[str, object] = field(default_factory=dict)
    target: tuple[Access, Callable[[], tuple[Any, ...]]] | None = None  # what a `set` sets
    uses_focus: bool = False  # it names something of the focus without saying whose

    @property
    def cores(self) -> frozenset[str]:
        """The cores whose acts may change it."""
        return frozenset().union(*(access.cores for access, _ in self.accesses))

    @property
    def memory(self) -> bool:
        """Whether it depends on memory."""
        return any(access.memory for access, _ in self.accesses)

    def extents(self) -> list[tuple[int, int]]:
        """The runs of memory that it reads now: address, bytes."""
        return [
            access.extent(*indices())
            for access, indices in self.accesses
            if access.extent is not None
        ]

    def holds(self) -> bool:
        """Whether it is true now: any value of it is not 0."""
        return bool(np.any(self.value()))

    def set(self, value: Any) -> None:
        """Set what it names. Raises `ExpressionError`."""
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
    """The expression of a text, names as seen from a focus (None: that of the debuggee).

    It reads the device that the debuggee has now. Raises `ExpressionError`.
    """
    try:
        node = grammar.parse(text)
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
        is_path = grammar.path_of(node) is not None and len(accesses) == 1
        return Expression(
            self.text, value, accesses, live, next(iter(cores), ""), tuple(self.guards),
            self.names, accesses[0] if is_path else None, self.resolver.uses_focus,
        )  # fmt: skip

    def _function(self, text: str) -> Callable[[], Any]:
        try:
            made = eval(compile(f"lambda: {text}", "<expression>", "eval"), self.names)
        except (SyntaxError, MemoryError, RecursionError):
            raise ExpressionError("the expression is nested too deeply") from None

        def value() -> Any:
            try:
                return made()
            except AccessError as error:
                raise ExpressionError(str(error)) from None
            except ZeroDivisionError:
                raise ExpressionError("division by zero") from None
            except ValueError as error:
                raise ExpressionError(f"{self.text}: {error}") from None
            except (TypeError, OverflowError):
                raise ExpressionError(f"{self.text}: these values do not go together") from None

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
        raise Mistake("an expression is needed here", node)

    def _unary(self, node: Unary) -> _Code:
        inner, sign = self._code(node.operand), node.operator
        if not inner.whole:
            return _Code(f"{self._name(_unary)}({sign!r}, {inner.text})")
        shape = {"-": "(-{})", "+": "{}", "~": "(~{})", "!": "int(not {})"}[sign]
        live = shape.format(inner.live) if inner.live else ""
        return self._wrapped(shape.format(inner.text), inner.bits + 1, live, inner.fixed)

    def _binary(self, node: Binary) -> _Code:
        left, right, sign = self._code(node.left), self._code(node.right), node.operator
        bits = _bits(sign, left.bits, right.bits, node.right)
        shape = _SHAPES.get(sign)
        if not (left.whole and right.whole) or shape is None:
            found = f"{self._name(_binary)}({sign!r}, {left.text}, {right.text})"
            return _Code(found, left.whole and right.whole)
        live = shape.format(left.live, right.live) if left.live and right.live else ""
        fixed = left.fixed and right.fixed
        return self._wrapped(shape.format(left.text, right.text), bits, live, fixed)

    def _wrapped(self, text: str, bits: int, live: str, fixed: bool) -> _Code:
        if bits < 64:
            return _Code(text, True, bits, live, fixed)
        name = self._name(wrap)
        return _Code(f"{name}({text})", True, 64, f"{name}({live})" if live else "", fixed)

    def _call(self, node: Call) -> _Code:
        if node.function in SETS:
            if node.function in _EACH and len(node.arguments) != 1:
                raise Mistake(f"{node.function} takes one value", node)
            parts = ", ".join(self._code(item, top=True).text for item in node.arguments)
            return _Code(f"{self._name(_of_set)}({node.function!r}, {parts})")
        if node.function in ("%hi", "%lo") and len(node.arguments) == 1:
            part = high_part if node.function == "%hi" else low_part
            inner = self._whole(self._code(node.arguments[0]), f"what {node.function} takes")
            return _Code(f"{self._name(part)}({inner})", True, 34)
        return _number(self.resolver.function(node))

    def _path(self, path: grammar.Path, top: bool) -> _Code:
        constant = self.resolver.constant(path, top)
        if constant is not None:
            return _number(constant)
        access, nodes = self.resolver.access(path, top)
        codes = tuple(self._subscript(node) for node in nodes)
        self.accesses.append((access, codes))
        name = self._name(access.read)
        text = f"{name}({', '.join(code.text for code in codes)})"
        if access.whole:
            bits = access.bits if access.bits < 64 else 63
            return _Code(text, True, bits, access.live or self._inlined(access, codes))
        return _Code(text)

    def _inlined(self, access: Access, codes: tuple[_Code, ...]) -> str:
        """The text of a number in memory whose address never changes, if there is one."""
        if access.inlined is None or not all(code.fixed for code in codes):
            return ""
        found = access.inlined(*self._tuple(codes)())
        if found is None:
            return ""
        view, place, pages = found
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
        """The text of a part that has to be a whole number."""
        return code.text if code.whole else f"{self._name(partial(_as_whole, what))}({code.text})"


def _as_whole(what: str, value: Any) -> int:
    found = np.asarray(value)
    if found.ndim or found.dtype.kind not in "iu":
        raise ValueError(f"{what} is a whole number")
    return int(found)


def _number(value: int) -> _Code:
    text = f"({value})"
    return _Code(text, True, abs(value).bit_length() + 1, text, True)


# Python for operators of whole numbers; those that may fail are functions.
_SHAPES = {
    "||": "int(bool({0} or {1}))",
    "&&": "int(bool({0} and {1}))",
    **{sign: f"({{0}} {sign} {{1}})" for sign in ("|", "^", "&", "+", "-", "*")},
    **{sign: f"(-({{0}} {sign} {{1}}))" for sign in ("==", "!=", "<", "<=", ">", ">=")},
    "<>": "(-({0} != {1}))",
}


def _bits(sign: str, left: int, right: int, node: Node) -> int:
    """The magnitude of a result, in bits, at most."""
    if sign in ("||", "&&", *COMPARISONS):
        return 2
    if sign in ("&", "|", "^"):
        return max(left, right)
    return left + right if sign == "*" else max(left, right) + 1


def _binary(sign: str, left: Any, right: Any) -> Any:
    """An operator on any values."""
    if isinstance(left, int) and isinstance(right, int):
        if sign in "/%" and right == 0:
            raise ZeroDivisionError
        if sign in ("<<", ">>") and not 0 <= right < 64:
            return 0
        return wrap(BINARY[sign](left, right))
    left, right = _widened(left), _widened(right)
    if sign in _WHOLE and "f" in (left.dtype.kind, right.dtype.kind):
        raise ValueError(f"{sign} takes whole numbers")
    if sign in _NUMERIC:
        with np.errstate(all="ignore"):
            return _plain(_NUMERIC[sign](left, right))
    if sign in ("&&", "||"):
        both = np.logical_and if sign == "&&" else np.logical_or
        return _plain(both(left, right).astype(np.int64))
    return _plain(-BINARY_COMPARED[sign](left, right).astype(np.int64))


def _unary(sign: str, value: Any) -> Any:
    if isinstance(value, int):
        return wrap(UNARY[sign](value))
    value = _widened(value)
    if sign == "!":
        return _plain((value == 0).astype(np.int64))
    if sign in _WHOLE and value.dtype.kind == "f":
        raise ValueError(f"{sign} takes whole numbers")
    return _plain({"-": np.negative, "+": np.positive, "~": np.invert}[sign](value))


def _of_set(function: str, *values: Any) -> Any:
    parts = [_numbers_of(value) for value in values]
    whole = parts[0] if len(parts) == 1 else np.concatenate([part.ravel() for part in parts])
    if not whole.size and function in ("max", "min", "mean"):
        raise ValueError(f"{function} of nothing")
    with np.errstate(all="ignore"):
        return _plain(SETS[function](whole))


def _numbers_of(value: Any) -> np.ndarray[Any, Any]:
    """Numbers as an array of their own type."""
    found = np.frombuffer(value, np.uint8) if isinstance(value, bytes) else np.asarray(value)
    if found.dtype.kind not in "iubf":
        raise ValueError("that is no number")
    return found


def _wide(values: np.ndarray[Any, Any]) -> np.dtype[Any]:
    """The type of 64 bits in which sums of numbers do not run over."""
    return np.dtype(np.float64 if values.dtype.kind == "f" else np.int64)


def _widened(value: Any) -> Any:
    """Numbers of 64 bits."""
    found = _numbers_of(value)
    return found.astype(_wide(found))


def _plain(value: Any) -> Any:
    found = np.asarray(value)
    return found.item() if found.ndim == 0 else found


_WHOLE = ("&", "|", "^", "<<", ">>", "~")  # operators of whole numbers alone
_NUMERIC: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.true_divide, "%": np.fmod,
    "&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor,
    "<<": np.left_shift, ">>": np.right_shift,
}  # fmt: skip
BINARY_COMPARED: Mapping[str, Callable[[Any, Any], Any]] = {
    "==": np.equal, "!=": np.not_equal, "<>": np.not_equal, "<": np.less, "<=": np.less_equal,
    ">": np.greater, ">=": np.greater_equal,
}  # fmt: skip
