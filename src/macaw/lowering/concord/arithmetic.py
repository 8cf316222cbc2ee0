"""Selects from templates the arithmetic functions that a generated file needs.

Each target, such as NumPy, has its own names for some array operations (`templates/<target>.txt`).
The templates of the number rules (docs/numbers-nnp.md) use these names, so each rule is written
once: in `numbers.txt` and in one file for each quantiser, width of sums and host format. Templates
are text and never imported.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files

from macaw.isa.config import Configuration
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.nnp_elements import MX_ELEMENTS, Element, float_element, greatest_power
from macaw.lowering.errors import LowerError

TARGETS = ("numpy", "torch", "tensorflow", "onnx")
_HOST = {
    "numpy": {"fp16": "np.float16", "fp32": "np.float32"},
    "torch": {"fp16": "torch.float16", "fp32": "torch.float32"},
    "tensorflow": {"fp16": "tf.float16", "fp32": "tf.float32"},
    "onnx": {"fp16": "np.float16", "fp32": "np.float32"},
}
# For each host format: significant digits, exponent of the last place of the least number, greatest
# number.
_LIMITS = {"fp16": (11, -24, "65504.0"), "fp32": (24, -149, "(2.0 - 2.0**-23) * 2.0**127")}
_EXACT = 53  # number of significant binary digits of a binary64 number
_WHOLE = 62  # the most binary digits of a sum that is computed in int64
_LONG = 22  # up to 2**22 columns, BFP long stays within int64


@dataclass(frozen=True)
class Piece:
    """A statement of a template: a definition, or an import.

    `names` are the names that it defines, `uses` those that it uses. `module` is the module of an
    import; `block` says whether the statement defines a function or a class.
    """

    names: tuple[str, ...]
    text: str
    uses: frozenset[str]
    module: str = ""  # the module of an import
    block: bool = False  # whether it is a function or class


@cache
def pieces(template: str) -> tuple[Piece, ...]:
    """Return the statements of the file `templates/TEMPLATE.txt`, in its order."""
    text = files("macaw.lowering.concord").joinpath(f"templates/{template}.txt").read_text("utf-8")
    lines = text.splitlines()
    definitions = []
    for item in ast.parse(text).body:
        assert item.end_lineno is not None
        names: tuple[str, ...]
        if isinstance(item, ast.Import | ast.ImportFrom):
            names = tuple(alias.asname or alias.name for alias in item.names)
        elif isinstance(item, ast.FunctionDef | ast.ClassDef):
            names = (item.name,)
        elif isinstance(item, ast.Assign):
            names = tuple(_names(item.targets))
        else:
            names = ("__main__",)
        module = ""
        if isinstance(item, ast.Import | ast.ImportFrom):
            module = getattr(item, "module", None) or item.names[0].name
        source = "\n".join(lines[item.lineno - 1 : item.end_lineno])
        block = isinstance(item, ast.FunctionDef | ast.ClassDef)
        definitions.append(Piece(names, source, _used_names(item), module, block))
    return tuple(definitions)


def _names(nodes: Iterable[ast.AST]) -> list[str]:
    return [each.id for node in nodes for each in ast.walk(node) if isinstance(each, ast.Name)]


def _used_names(node: ast.AST) -> frozenset[str]:
    return frozenset(_names([node]))


def templates(target: str, config: Configuration, columns: int) -> list[str]:
    """Return the names of the templates for a target and a device.

    `columns` is the number of elements in a matrix row, which determines how wide sums are. Raises
    `LowerError` if sums of `columns` products are not exact.
    """
    kind, host = str(config["nnp.quantise"]), str(config["nnp.host_format"])
    names = [target, "numbers"]
    if target == "torch":
        names.insert(0, "torch_gradients")
    if target == "tensorflow":
        names.insert(1, f"tensorflow{host.removeprefix('fp')}")
    if kind == "bfp":
        if columns > 1 << _LONG:
            raise LowerError(f"a row of {columns} elements; sums are exact up to {1 << _LONG}")
        return [*names, "bfp", host]
    if kind == "mx":
        return [*names, "mx", "mx_wide" if _is_wide(config, columns) else "mx_narrow", host]
    sizes = [_size(config, side) for side in ("vector", "matrix")]
    wide = sum(sizes) + (columns - 1).bit_length() > _EXACT
    if wide:
        parts = [max(20, size - 20) for size in sizes]
        if sum(parts) + (columns - 1).bit_length() > _EXACT:
            raise LowerError(f"a row of {columns} elements; sums of {kind} are exact up to fewer")
    return [*names, "exact", kind, "wide" if wide else "narrow", host]


def _elements(config: Configuration) -> tuple[Element, Element]:
    """Return the element types of (vectors, matrices), for the quantisers float and mx."""
    return _side_element(config, "vector"), _side_element(config, "matrix")


def _block(config: Configuration) -> int:
    return min(int(config["nnp.mx_block"]), int(config["nnp.native"]))


def _places(config: Configuration) -> int:
    """Return by how many bits each block's dot product is shifted to the left before it is added.

    This is for the arithmetic "BFP long" of docs/numbers-nnp.md.
    """
    return max(0, 40 - sum(item.greatest_exponent - item.unit for item in _elements(config)))


def _is_wide(config: Configuration, columns: int) -> bool:
    """Return whether the generated file must divide the factors of products into halves.

    It must, for the quantiser mx, if sums do not fit an int64, or dot products are not exact in a
    binary64. `columns` is the number of elements in a matrix row. Raises `LowerError` if even sums
    of these halves are too large.
    """
    block = _block(config)
    bits = sum(element.size for element in _elements(config)) + (block - 1).bit_length()
    blocks = max(1, columns // block)
    if bits <= _EXACT and bits + _places(config) + (blocks - 1).bit_length() <= _WHOLE:
        return False
    if _places(config) or blocks > 1 << _LONG:
        raise LowerError(f"a row of {columns} elements; sums of mx are exact up to fewer")
    return True


def _side_element(config: Configuration, side: str) -> Element:
    """Return the element type of one side of a product, for the quantisers float and mx.

    `side` is "vector" or "matrix".
    """
    if config["nnp.quantise"] == "mx":
        return MX_ELEMENTS[config[f"nnp.{side}_element"]]
    return float_element(
        int(config["nnp.float_exponent_bits"]), int(config["nnp.float_mantissa_bits"])
    )


def _size(config: Configuration, side: str) -> int:
    """Return the number of bits of the integers to which the device quantises numbers.

    `side` is "vector" or "matrix". docs/numbers-nnp.md calls the result `g`.
    """
    kind, bits = config["nnp.quantise"], int(config[f"nnp.{side}_bits"])
    if kind == "log":
        return 2 * greatest_power(bits)
    return _side_element(config, side).size if kind in ("float", "mx") else bits - 1


def _unit(config: Configuration, side: str) -> str:
    """Return Python source that computes the real value of the quantised integer 1.

    `side` is "vector" or "matrix".
    """
    kind = config["nnp.quantise"]
    if kind == "log":
        return f"2.0**{-greatest_power(int(config[f'nnp.{side}_bits']))}"
    if kind in ("float", "mx"):
        return f"2.0**{_side_element(config, side).unit}"
    return "1.0"


def _mx_arguments(element: Element) -> str:
    """Return, as Python source, the arguments of the quantiser in templates/mx.txt for a type."""
    numbers = (
        element.least_exponent,
        element.mantissa_bits,
        element.greatest_value,
        element.greatest_exponent,
    )
    return str(numbers)


def constants(target: str, config: Configuration) -> tuple[Piece, ...]:
    """Return a target's definitions of the device's constants, such as `HOST` and `NATIVE`."""
    host = str(config["nnp.host_format"])
    digits, last, greatest = _LIMITS[host]
    rows: list[tuple[str, object, str]] = [
        ("HOST", _HOST[target][host], f"{host}, the host format"),
        ("DIGITS", digits, "its significant binary digits"),
        ("LAST_PLACE", last, "2**this is its least number"),
        ("GREATEST", greatest, "its greatest number"),
        ("NATIVE", config["nnp.native"], "elements of a native vector"),
    ]
    for side in ("vector", "matrix"):
        bits = int(config[f"nnp.{side}_bits"])
        arguments = {
            "bfp": bits,
            "int": f"({bits},)",
            "log": f"({greatest_power(bits)},)",
            "float": f"({config['nnp.float_exponent_bits']}, {config['nnp.float_mantissa_bits']})",
            "mx": _mx_arguments(_side_element(config, side)),
        }[str(config["nnp.quantise"])]
        what = f"of the quantiser of {'vectors' if side == 'vector' else 'matrices'}"
        rows.append((f"{side.upper()}_BITS", arguments, f"bits of a mantissa {what}"))
        rows.append((side.upper(), arguments, f"{what.removeprefix('of ')}: its range"))
        rows.append((f"{side.upper()}_UNIT", _unit(config, side), f"its least number, {what}"))
    if config["nnp.quantise"] == "mx":
        places = _places(config)
        last = sum(element.unit for element in _elements(config)) - places
        rows.append(("BLOCK", _block(config), "elements that share a scale"))
        rows.append(("PLACES", places, "a dot product of blocks is shifted by this in BFP long"))
        rows.append(("LAST_EXPONENT", last, "the exponent of BFP long's last place is this + e"))
    return tuple(
        Piece(
            (name,), f"{name} = {value}  # {meaning}", frozenset(_used_names(ast.parse(str(value))))
        )
        for name, value, meaning in rows
    )


# Decorators of torch functions, which give them gradients (templates/torch_gradients.txt).
_GRADIENTS = {
    "vv_add": "straight(lambda x, y: x + y)",
    "vv_a_sub_b": "straight(lambda x, y: x - y)",
    "vv_b_sub_a": "straight(lambda x, y: y - x)",
    "vv_mul": "straight(lambda x, y: x * y)",
    "vv_max": "straight(torch.maximum)",
    "v_relu": "straight(torch.relu)",
    "v_sigm": "straight(torch.sigmoid)",
    "v_tanh": "straight(torch.tanh)",
    "v_softmax": "straight(lambda x, n: fill(torch.softmax(x[:, :n], -1), *x.shape))",
    "requantise": "straight(lambda x: x)",
    "requantise_matrix": "straight(lambda x: x)",
    "widen": "straight(lambda x: x.to(torch.float64))",
    "quantise": "straight_quantiser",
    "quantise_matrix": "straight_quantiser",
    "mv_mul": "straight_product",
    "narrow": "straight_narrow",
}


# Functions that are local functions of an ONNX model (templates/onnx.txt).
_LOCAL = dict.fromkeys((*_GRADIENTS.keys() - {"widen", "narrow"}, "windows"), "local")
_DECORATORS = {"torch": _GRADIENTS, "onnx": _LOCAL}


def _first_definitions(every: Sequence[Piece]) -> list[Piece]:
    """Return the definitions; if functions or classes have the same name, only the first one."""
    names: set[str] = set()
    kept = []
    for piece in every:
        if not (piece.block and names.intersection(piece.names)):
            kept.append(piece)
        names.update(piece.names if piece.block else ())
    return kept


def _decorated(piece: Piece, decorators: Mapping[str, str]) -> Piece:
    """Return the definition `piece` with the decorator that `decorators` has for its function."""
    decorator = decorators.get(piece.names[0])
    if decorator is None:
        return piece
    uses = piece.uses | _used_names(ast.parse(decorator))
    return replace(piece, text=f"@{decorator}\n{piece.text}", uses=uses)


def requirements(
    target: str, config: Configuration, columns: int, roots: Iterable[str]
) -> tuple[list[Piece], list[Piece], list[Piece]]:
    """Return the definitions that a generated file needs: (imports, constants, functions).

    They are the definitions of the names in `roots`, those that every file for the target has, and
    all definitions that these use. Each of the three lists has the order of the templates.
    `columns` is the number of elements in a matrix row.
    """
    every = [piece for name in templates(target, config, columns) for piece in pieces(name)]
    if target in _DECORATORS:
        every = [_decorated(piece, _DECORATORS[target]) for piece in every]
    if target == "onnx":
        every = _first_definitions(every)
    numbers = constants(target, config)
    by_name: dict[str, Piece] = {}
    for piece in (*numbers, *every):
        by_name.update(dict.fromkeys(piece.names, piece))
    names, todo = set(), [name for name in roots if name in by_name]
    if target == "onnx":
        todo += ["model", "__main__"]
    if target == "torch":
        todo.append("Layer")
    while todo:
        name = todo.pop()
        if name in names:
            continue
        names.add(name)
        todo += [use for use in by_name[name].uses if use in by_name and use not in names]

    def select(group: Sequence[Piece]) -> list[Piece]:
        return [item for item in group if names.intersection(item.names)]

    names_used = select(every)
    imports = [item for item in names_used if item.module]
    return imports, select(numbers), [item for item in names_used if not item.module]


def all_templates(target: str) -> list[str]:
    """Return the names of all templates that a file for `target` may use, for any device."""
    kinds = (
        "bfp", "exact", "int", "log", "float", "narrow", "wide", "mx", "mx_narrow", "mx_wide",
        "fp16", "fp32",
    )  # fmt: skip
    gradients = ["torch_gradients"] if target == "torch" else []
    return [*gradients, target, "numbers", *kinds]


def import_text(imports: Sequence[Piece]) -> str:
    """Return the import statements as text: the standard library, an empty line, other packages."""
    groups: list[list[str]] = [[], []]
    for piece in sorted(imports, key=lambda item: (item.text.startswith("from"), item.module)):
        groups[piece.module.split(".")[0] not in sys.stdlib_module_names].append(piece.text)
    return "\n\n".join("\n".join(group) for group in groups if group)
