"""Protects weights by a secret order: writes shuffled weights, the orders, and a note about both.

The note (`orders.toml` beside `orders.npy`) has the scope, the lanes, the original shapes, and
digests of the orders and of the shuffled weights. Keep it with the orders, not with the weights:
somebody who has the weights could use a digest of the orders to test guesses.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from macaw import arguments, files
from macaw.arguments import check_arguments
from macaw.errors import InputError
from macaw.isa.format_versions import version_problem
from macaw.lowering import protect as lowering
from macaw.lowering.errors import LowerError
from macaw.lowering.protect import Layout, Orders, Weights
from macaw.phrases import plural

FilePath = str | os.PathLike[str]
DEFAULT_SCOPE = "net"
FORMAT = 1  # version of the note beside the orders


@dataclass(frozen=True, eq=False)
class Protection:
    """The shuffled weights of a network, one array for each layer, and their orders.

    `order` is a uint8 array of shape (orders, blocks, lanes). A block is `lanes` consecutive
    weights of a node. The weight that was in lane i of a block is in lane order[..., i] of the
    shuffled block. `distinct` is the base-2 logarithm of the number of different arrangements of
    these weights; if lanes have equal weights, it is smaller than `bits`.
    """

    weights: tuple[Weights, ...]
    order: Orders
    layout: Layout  # the original shapes, and which nodes share an order
    distinct: float  # log2 of the number of different arrangements of these weights

    def __repr__(self) -> str:
        """Return a text without weights and orders, which must not get into a log together."""
        layers = plural(len(self.weights), "layer")
        shape = self.order.shape
        return f"<protection of {layers}, scope {self.layout.scope}: orders of the shape {shape}>"

    @property
    def bits(self) -> float:
        """The base-2 logarithm of the number of possible sets of orders."""
        return lowering.log2_orders(self.layout)

    @cached_property
    def orders(self) -> tuple[Orders, ...]:
        """The orders of the nodes of each layer, as arrays of shape (nodes, blocks, lanes)."""
        plan = self.layout
        pairs = enumerate(plan.order_of)
        return tuple(self.order[which, : plan.blocks_of(layer)] for layer, which in pairs)

    def plain(self) -> tuple[Weights, ...]:
        """Return the original weights, before shuffling."""
        return tuple(lowering.restore(self.weights, self.order, self.layout))

    @check_arguments(
        paths=arguments.sequence(arguments.path, "a list of paths"), order=arguments.path
    )
    def write(self, paths: Sequence[FilePath], order: FilePath) -> None:
        """Write each layer's weights to its path, and the orders to `order` with a note beside it.

        If one of the files cannot be written, no file is written. Raises `InputError` then. Also
        raises it if there are not as many paths as layers, if two of the files are the same, or if
        the file of the note exists and is no note.
        """
        if len(paths) != len(self.weights):
            raise InputError(f"{plural(len(self.weights), 'file')} of weights, {len(paths)} paths")
        note = check_paths(paths, order)
        if note.exists():
            with _with_message(
                f"{note} is there and no note of macaw protect: it is not overwritten"
            ):
                _read_note(note)
        text = _note_text(self, [Path(path).name for path in paths], order)
        arrays = zip((order, *paths), (self.order, *self.weights), strict=True)
        files.write_all(
            [(note, text.encode()), *((path, files.npy_bytes(array)) for path, array in arrays)]
        )


@check_arguments(
    weights=arguments.array,
    scope=arguments.word,
    lanes=arguments.optional(arguments.whole(1)),
    seed=arguments.optional(arguments.seed),
)
def protect(
    *weights: ArrayLike,
    scope: str = DEFAULT_SCOPE,
    lanes: int | None = None,
    seed: int | None = None,
) -> Protection:
    """Return the weights of a network, shuffled in random orders.

    Each array of `weights` is a layer and has shape (nodes, inputs). `scope` says which nodes share
    an order: net, layer, group:N (N nodes of a layer) or node. A node's weights are shuffled in
    blocks of `lanes` weights. By default a block has as many weights as a vector register has lanes
    for the widest type in `weights`. The orders come from the operating system's random generator;
    a `seed` is only for tests. Raises `InputError` for weights or a scope that cannot be used.
    """
    arrays = [np.asarray(array) for array in weights]
    with _as_input_errors():
        plan = lowering.layout(arrays, scope, arguments.python_numbers(lanes))
        orders = lowering.draw(plan, seed)
        stored = tuple(lowering.shuffle(arrays, orders, plan))
        return Protection(stored, orders, plan, lowering.log2_distinct(arrays, plan))


@check_arguments(
    weights=arguments.array,
    order=arguments.array,
    scope=arguments.word,
    shapes=arguments.optional(
        arguments.sequence(arguments.sequence(arguments.whole(0), "a shape"), "a list of shapes")
    ),
)
def unprotect(
    *weights: ArrayLike,
    order: ArrayLike,
    scope: str = DEFAULT_SCOPE,
    shapes: Sequence[tuple[int, ...]] | None = None,
) -> tuple[Weights, ...]:
    """Return the original weights for shuffled weights and their orders.

    `order` are the orders that `protect` returned (`Protection.order`), `scope` is the scope that
    it was called with. `shapes` are the original shapes; without `shapes`, the results have the
    padding of the shuffled weights. Raises `InputError` if the orders do not fit the weights.
    """
    arrays, orders = [np.asarray(array) for array in weights], np.asarray(order)
    if shapes is not None and len(shapes) != len(arrays):
        count = plural(len(arrays), "array")
        raise InputError(f"shapes has {plural(len(shapes), 'shape')} for {count} of weights")
    with _as_input_errors():
        plan = lowering.stored_layout(arrays, scope, orders, arguments.python_numbers(shapes))
        return tuple(lowering.restore(arrays, lowering.check(orders, plan), plan))


def note_path(order: FilePath) -> Path:
    """Return the path of the note that belongs to a file of orders.

    Raises `InputError` if the path has no name of a file.
    """
    return files.with_suffix(order, ".toml")


def check_paths(paths: Sequence[FilePath], order: FilePath) -> Path:
    """Return the path of the note that belongs to `order`, the file of the orders.

    Raises `InputError` if two of the files of weights (`paths`), orders and note are the same.
    """
    note = note_path(order)
    for one, other in itertools.combinations([*paths, order, note], 2):
        files.refuse_same_file(one, other)
    return note


def restore_files(
    paths: Sequence[FilePath],
    order: FilePath,
    *,
    scope: str | None,
    lanes: int | None,
) -> tuple[Weights, ...]:
    """Return the original weights of the shuffled files `paths`, whose orders are in file `order`.

    If `scope` or `lanes` is given, it must be the same as in the note. Raises `InputError` if
    weights, orders and note do not belong together.
    """
    orders, path = files.read_array(order), note_path(order)
    arrays = [files.read_array(each) for each in paths]
    note = _read_note(path)
    expected = len(note["weights"])
    if expected != len(arrays):
        raise InputError(
            f"the orders are for {plural(expected, 'file')} of weights, {len(arrays)} given",
            "a network's files are protected, and restored, together",
        )
    for what, given in (("scope", scope), ("lanes", lanes)):
        if given is not None and str(given) != str(note[what]):
            raise InputError(f"{path} says {what} {note[what]}, not {given}")
    if _digest(orders) != note["sha256"]:
        raise InputError(f"{order} holds other orders than those that {path} was written with")
    if orders.ndim == 3 and note["lanes"] != orders.shape[-1]:
        raise InputError(f"{path} says lanes {note['lanes']}, the orders have {orders.shape[-1]}")
    stored = [each["sha256"] for each in note["weights"]]
    for place, (name, array) in enumerate(zip(paths, arrays, strict=True)):
        digest = _digest(array)
        if digest != stored[place]:
            hint = "the weights have changed, or the orders are another network's"
            if digest in stored:
                hint = "files are named in the order in which they were protected: " + ", ".join(
                    each["file"] for each in note["weights"]
                )
            raise InputError(f"{name} holds other weights than those that {order} is for", hint)
    shapes = [tuple(each["shape"]) for each in note["weights"]]
    return unprotect(*arrays, order=orders, scope=note["scope"], shapes=shapes)


@contextlib.contextmanager
def _as_input_errors() -> Iterator[None]:
    """Raise each `LowerError` of the `with` block as `InputError`."""
    try:
        yield
    except LowerError as error:
        raise InputError(str(error), error.hint) from None


@contextlib.contextmanager
def _with_message(message: str) -> Iterator[None]:
    """If the `with` block raises an `InputError`, replace the text of the error by `message`."""
    try:
        yield
    except InputError:
        raise InputError(message, "order='other.npy', --order other.npy") from None


# The note


def _digest(array: NDArray[Any]) -> str:
    """Return the SHA-256 digest of an array's type, shape and values."""
    digest = hashlib.sha256(f"{array.dtype.str} {array.shape} ".encode())
    digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _note_text(protection: Protection, names: Sequence[str], order: FilePath) -> str:
    plan = protection.layout
    lines = [
        f"# By macaw protect: what {Path(order).name!a} belongs to. Keep it with the orders,",
        "# apart from the weights.",
        f"format = {FORMAT}",
        f'scope = "{plan.scope}"',
        f"lanes = {plan.lanes}",
        f'sha256 = "{_digest(protection.order)}"',
    ]
    for name, array, shape in zip(names, protection.weights, plan.shapes, strict=True):
        lines += [
            "",
            "[[weights]]",
            f'file = "{"".join(_toml_character(letter) for letter in name)}"',
            f"shape = {list(shape)}",
            f'sha256 = "{_digest(array)}"',
        ]
    return "\n".join([*lines, ""])


def _toml_character(letter: str) -> str:
    """Return a character of a file name, or `?` if a TOML string cannot contain it."""
    return letter if letter.isprintable() and letter not in '"\\' else "?"


def _read_note(path: Path) -> dict[str, Any]:
    if not path.exists():
        raise InputError(
            f"{path} is not there: it has the scope and the shapes",
            "macaw protect wrote it beside the orders; macaw.unprotect (Python) does without",
        )
    try:
        note = tomllib.loads(files.read_bytes(path).decode())
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    problem = version_problem(note.get("format", 1), FORMAT, "`macaw protect`")
    if problem:
        raise InputError(f"{path}: {problem[0]}", problem[1])
    good = _has_fields(note, {"scope": str, "lanes": int, "sha256": str, "weights": list})
    kinds = {"file": str, "shape": list, "sha256": str}
    if not good or not all(
        _has_fields(each, kinds) and all(isinstance(length, int) for length in each["shape"])
        for each in note["weights"]
    ):
        raise InputError(f"{path} is no note of macaw protect")
    return note


def _has_fields(table: Any, kinds: Mapping[str, type]) -> bool:
    """Return whether `table` is a TOML table with all fields of `kinds`, with these types."""
    return isinstance(table, dict) and all(
        isinstance(table.get(name), kind) for name, kind in kinds.items()
    )
