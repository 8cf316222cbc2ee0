"""Functions of real numbers as steps in binary32, which the SIMD core vc computes one by one.

The steps define the results: each step rounds once, and the exponential is vc's instruction. The
absolute error is below 5e-7; for results greater than 1, the relative error is below 5e-7.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.numerics import exponential
from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.errors import LowerError
from macaw.lowering.onnx.graph import Node

Float = NDArray[np.float32]


@dataclass(frozen=True)
class Step:
    """One operation: its result becomes the value of variable `target`.

    Operands are variables (int) or constants (float). There are three variables. Variables 0 and 1
    start as the inputs, and variable 0 is the result in the end. `select` gives the second operand
    where the first is below 0, else the third.
    """

    operation: str
    target: int
    operands: tuple[int | float, ...]


Steps = tuple[Step, ...]
VARIABLES = 3
_OPERATIONS: Mapping[str, Any] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "max": np.fmax,
    "min": np.fmin, "exp": exponential, "sqrt": np.sqrt, "neg": np.negative, "abs": np.abs,
    "select": lambda a, b, c: np.where(a < 0, b, c),
}  # fmt: skip


def evaluate(steps: Steps, *inputs: Float) -> Float:
    """Execute the operations `steps` on one or two arrays of binary32, and return the result."""
    values: dict[int, Any] = dict(enumerate(inputs))
    with np.errstate(all="ignore"):
        for step in steps:
            operands = [
                np.float32(item) if isinstance(item, float) else values[item]
                for item in step.operands
            ]
            values[step.target] = np.asarray(_OPERATIONS[step.operation](*operands), np.float32)
    return np.asarray(values[0])


def _steps(text: str, **constants: float) -> Steps:
    """Parse a text that has a step on each line: an operation, its target and its operands.

    The target is a variable, written as 0, 1 or 2. An operand is a variable, a constant (any other
    number), or the name of a constant in `constants`.
    """
    result = []
    for line in text.strip().splitlines():
        operation, target, *operands = line.split()
        result.append(
            Step(
                operation,
                int(target),
                tuple(int(x) if x in "012" else constants.get(x) or float(x) for x in operands),
            )
        )
    return tuple(result)


# Variable 1 becomes the polynomial of Abramowitz and Stegun 7.1.26 for x in variable 2, x >= 0.
# `_POWER` makes erf(x) from it.
_ERF = """
    mul 2 2 0.3275911
    add 2 2 1.0
    div 2 1.0 2
    mul 1 2 1.061405429
    add 1 1 -1.453152027
    mul 1 1 2
    add 1 1 1.421413741
    mul 1 1 2
    add 1 1 -0.284496736
    mul 1 1 2
    add 1 1 0.254829592
    mul 1 1 2
"""
# Give variable 1, which is not negative, the sign of variable 0.
_SIGN = """
    neg 2 1
    select 1 0 2 1
"""
# tanh of |variable 1|, with the sign of variable 0.
_TANH = f"""
    abs 1 1
    mul 1 1 -2.0
    exp 1 1
    sub 2 1.0 1
    add 1 1 1.0
    div 1 2 1
    {_SIGN}
"""
_LOGISTIC = """
    neg 1 1
    exp 1 1
    add 1 1 1.0
    div 1 1.0 1
"""
_KEEP = "mul 1 0 1.0"  # variable 1 gets the value of variable 0
_TAKE = "mul 0 1 1.0"


def _joined(*parts: str) -> str:
    lines = (line for part in parts for line in part.strip().splitlines())
    return "\n".join(line for line in lines if line.strip())


EXP: Steps = _steps("exp 0 0")
SIGMOID: Steps = _steps(_joined(_KEEP, _LOGISTIC, _TAKE))
TANH: Steps = _steps(_joined(_KEEP, _TANH, _TAKE))
_POWER = "mul 2 2 2\nneg 2 2\nexp 2 2\nmul 1 1 2\nsub 1 1.0 1"
ERF: Steps = _steps(_joined("abs 2 0", _ERF, "mul 2 0 1.0", _POWER, _SIGN, _TAKE))
_GELU_END = "add 1 1 1.0\nmul 0 0 0.5\nmul 0 0 1"
GELU: Steps = _steps(
    _joined("div 2 0 root", "abs 2 2", _ERF, "div 2 0 root", _POWER, _SIGN, _GELU_END),
    root=math.sqrt(2),
)
GELU_TANH: Steps = _steps(
    _joined("mul 1 0 0\nmul 1 1 0\nmul 1 1 0.044715\nadd 1 0 1\nmul 1 1 root", _TANH, _GELU_END),
    root=math.sqrt(2 / math.pi),
)


def swish(alpha: float) -> Steps:
    """Return the steps of x / (1 + exp(-alpha · x))."""
    return (Step("mul", 1, (0, alpha)), *_steps(_joined(_LOGISTIC, "mul 0 0 1")))


# By LRN's exponent: the factors of the divisor, as `roots_of_power` returns them, and the steps
# that make the divisor from the base, which is in variable 1.
_POWERS: Mapping[float, tuple[tuple[int, ...], Steps]] = {
    1.0: ((0,), ()),
    0.5: ((1,), _steps("sqrt 1 1")),
    0.75: ((1, 2), _steps("sqrt 1 1\nsqrt 2 1\nmul 1 1 2")),
}


def roots_of_power(exponent: float) -> tuple[int, ...]:
    """Return the factors of x to the power `exponent`, an exponent of LRN.

    Each factor is a root of x, given by how often the square root is taken: 1 for the square root,
    2 for the fourth root, 0 for x. Raises `LowerError` if the power is no product of such roots.
    """
    if exponent not in _POWERS:
        known = ", ".join(f"{power:g}" for power in sorted(_POWERS))
        raise LowerError(f"a beta of {exponent:g}", f"there are {known}")
    return _POWERS[exponent][0]


def constants_of_lrn(node: Node) -> tuple[float, float, float]:
    """Return the numbers (factor, bias, exponent) of LRN. Sums of squares are multiplied by factor.

    Raises `LowerError` for a size below 1.
    """
    attributes, size = node.attributes, int(node.attributes["size"])
    if size < 1:
        raise LowerError(f"a size of {size}", "at least 1")
    beta = float(np.float32(attributes.get("beta", 0.75)))
    factor = float(attributes.get("alpha", 1e-4)) / size
    return factor, float(attributes.get("bias", 1.0)), beta


def quotient_of_lrn(node: Node) -> Steps | None:
    """Return the operations (steps) that compute an LRN from its input and its sums of squares.

    The input is variable 0, the sums are variable 1. Returns None if the power with the node's
    exponent is no product of roots.
    """
    factor, bias, beta = constants_of_lrn(node)
    if beta not in _POWERS:
        return None
    base = Step("mul", 1, (1, factor)), Step("add", 1, (1, bias))
    return (*base, *_POWERS[beta][1], Step("div", 0, (0, 1)))


def formula(node: Node, constants: Mapping[str, NDArray[Any] | None]) -> Steps | None:
    """Return the operations in binary32 (steps) that compute a node's function.

    The node has one or two inputs that are no constants; for these, `constants` has None. If both
    are the same value, there is only one variable. The result is None if no steps are known for the
    node.
    """
    rule = _RULES.get(node.operator)
    operands: list[int | float] = []
    variables: dict[str, int] = {}
    for name in node.inputs:
        array = constants.get(name) if name else None
        if not name:
            operands.append(math.nan)
        elif array is None:
            operands.append(variables.setdefault(name, len(variables)))
        elif array.size != 1 or array.dtype != np.float32:
            return None
        else:
            operands.append(float(array.reshape(-1)[0]))
    if rule is None or not 1 <= len(variables) <= 2 or len(node.outputs) != 1:
        return None
    steps: Steps | None = rule(node, operands)
    limits = node.attributes.get("activation_range")
    if steps is None or limits is None:
        return steps
    return (*steps, *_limited(*limits))


def _limited(low: float, high: float) -> Steps:
    pairs = (("max", low), ("min", high))
    return tuple(Step(name, 0, (0, bound)) for name, bound in pairs if math.isfinite(bound))


def _one(steps: Steps) -> Any:
    return lambda _node, operands: steps if len(operands) == 1 else None


def _two(operation: str) -> Any:
    """Return the rule for a node that is one operation on two operands, such as Add.

    The rule takes the node, and its operands as variables (int) or constants (float). It returns
    the single step `operation`, or None unless there are two operands.
    """
    return lambda _node, operands: (
        (Step(operation, 0, tuple(operands)),) if len(operands) == 2 else None
    )


def _sum(_node: Node, operands: Sequence[int | float]) -> Steps:
    """Return the steps that add the operands of a Sum, one after the other."""
    first, *others = operands
    if len(others) == 1:
        return (Step("add", 0, (first, others[0])),)
    steps = [Step("mul", 2, (first, 1.0))]
    steps += [Step("add", 2, (2, other)) for other in others]
    return (*steps, Step("mul", 0, (2, 1.0)))


def _clip(_node: Node, operands: Sequence[int | float]) -> Steps | None:
    low, high = (*operands[1:], math.nan, math.nan)[:2]
    if isinstance(low, int) or isinstance(high, int):
        return None
    return _limited(-math.inf if math.isnan(low) else low, math.inf if math.isnan(high) else high)


def _leaky(node: Node, _operands: Sequence[int | float]) -> Steps:
    alpha = float(node.attributes.get("alpha", 0.01))
    return (Step("mul", 1, (alpha, 0)), Step("select", 0, (0, 1, 0)))


def _hard(node: Node, _operands: Sequence[int | float]) -> Steps:
    if node.operator == "HardSwish":
        return (*_hard_sigmoid(1 / 6, 0.5), Step("mul", 0, (0, 1)))
    attributes = node.attributes
    steps = _hard_sigmoid(attributes.get("alpha", 0.2), attributes.get("beta", 0.5))
    return (*steps, Step("mul", 0, (1, 1.0)))


def _hard_sigmoid(alpha: float, beta: float) -> Steps:
    return (
        Step("mul", 1, (float(alpha), 0)), Step("add", 1, (1, float(beta))),
        Step("min", 1, (1, 1.0)), Step("max", 1, (1, 0.0)),
    )  # fmt: skip


def _gelu(node: Node, _operands: Sequence[int | float]) -> Steps:
    return GELU_TANH if node.attributes.get("approximate", "none") == "tanh" else GELU


_RULES: Mapping[str, Any] = {
    "Exp": _one(EXP), "Sigmoid": _one(SIGMOID), "Tanh": _one(TANH), "Erf": _one(ERF),
    "Gelu": _gelu, "Swish": lambda node, _operands: swish(float(node.attributes.get("alpha", 1.0))),
    "Neg": _one((Step("neg", 0, (0,)),)), "Abs": _one((Step("abs", 0, (0,)),)),
    "Sqrt": _one((Step("sqrt", 0, (0,)),)), "Reciprocal": _one((Step("div", 0, (1.0, 0)),)),
    "Relu": _one((Step("max", 0, (0, 0.0)),)), "Clip": _clip, "LeakyRelu": _leaky,
    "HardSigmoid": _hard, "HardSwish": _hard, "Add": _two("add"), "Sub": _two("sub"),
    "Mul": _two("mul"), "Div": _two("div"), "Max": _two("max"), "Min": _two("min"), "Sum": _sum,
    "LRN": lambda node, operands: quotient_of_lrn(node) if len(operands) == 2 else None,
}  # fmt: skip
