"""Lowers operations of layers to programs, measures the programs, and compares them with NumPy."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from macaw import api, arguments, execution, files
from macaw.arguments import check_arguments
from macaw.asm.diagnostics import AssemblyError, Span
from macaw.asm.program import Program
from macaw.asm.source import Source
from macaw.errors import InputError
from macaw.isa.config import Configuration
from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering import reference
from macaw.lowering.choose import Choice, choose
from macaw.lowering.convolution import Convolution, convolution
from macaw.lowering.cost import Cost, row_clock
from macaw.lowering.errors import LowerError
from macaw.lowering.layer_source import SourceFiles, layer_source
from macaw.lowering.mapping import MAPPINGS
from macaw.lowering.operation import Product
from macaw.lowering.partition import SPLITS
from macaw.phrases import one_line, plural, suggestion

PRODUCTS, CONVOLUTIONS = ("spmv", "spmm"), ("conv2d", "depthwise")
OPERATIONS = PRODUCTS + CONVOLUTIONS
Pair = int | tuple[int, int]  # one number for both directions, or (vertical, horizontal)


@dataclass(frozen=True)
class Measurement:
    """The result of running a lowered operation in the emulator.

    `cycles` is the length of the whole run. `external_bytes` is the number of bytes that the DMA
    engine moved from and to external memory, and `dma` the cycles in which it worked. `rows` is the
    number of device cycles in which the row of the PE array worked that worked longest. `equal` is
    true if all outputs equal NumPy's; floating-point outputs may differ by the array's roundings.
    """

    cycles: int
    external_bytes: int  # that the dma moved from and to external memory
    rows: int  # device cycles of the row that worked longest
    dma: int  # cycles in which the dma worked
    equal: bool


@dataclass(frozen=True)
class Lowering:
    """A lowered operation: its source, its files, and the chosen mapping with the reasons."""

    name: str
    product: Product
    config: Configuration
    choice: Choice
    program: SourceFiles

    def __repr__(self) -> str:
        cycles = plural(self.cost.cycles, "cycle")
        return one_line(f"<lowering of {self.name} for {self.config.name}: {cycles} predicted>")

    @property
    def source(self) -> str:
        """The assembly source. It reads the arrays `files` from the folder in which it is."""
        return self.program.source

    @property
    def files(self) -> dict[str, NDArray[Any]]:
        """The arrays that the source reads, by file name."""
        return self.program.files

    @property
    def cost(self) -> Cost:
        """The predicted cost of the program, in bytes and cycles."""
        return self.choice.selection.cost

    def reasons(self) -> list[str]:
        """Return lines that say why this mapping and this split were chosen.

        The mapping says which data stay in the PE array, the split how rows and clusters of PEs
        divide the work.
        """
        return self.choice.reasons()

    @check_arguments(path=arguments.path)
    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the source to `path` and its files to the same folder.

        Raises `InputError` if a file cannot be written.
        """
        write_sources(self.program, Path(path))

    def assemble(self) -> Program:
        """Assemble the source in a temporary folder, and return the program."""
        return assemble_lowered(self.program, self.name)

    @check_arguments(
        x=arguments.optional(arguments.array),
        seed=arguments.seed,
        max_cycles=arguments.optional(arguments.whole(0)),
    )
    def measure(
        self, x: ArrayLike | None = None, *, seed: int = 0, max_cycles: int | None = None
    ) -> Measurement:
        """Run the program in the emulator and compare its outputs with NumPy's.

        `x` are the activations. Without `x` they are random numbers, drawn with `seed`. Raises
        `RunError` if the program does not exit, within `max_cycles` if this is not None.
        """
        program = self.assemble()
        (tensor,) = program.inputs
        if x is None:
            x = reference.random_activations(self.product, self.config, seed)
        run = execution.run(program, {tensor.name: x}, max_cycles=max_cycles)
        dma = run.counters["dma"]
        rows = [values["cycles"] for core, values in run.counters.items() if "bus_beats" in values]
        return Measurement(
            cycles=run.cycles,
            external_bytes=dma["bytes"] - self.cost.traffic.between,
            rows=max(rows) * row_clock(self.config),
            dma=dma["cycles_busy"],
            equal=reference.agrees(self.product, self.config, np.asarray(x), run.outputs["y"]),
        )


def write_sources(program: SourceFiles, path: Path) -> None:
    """Write the source to `path` and its files to the same folder.

    Raises `InputError` if a file cannot be written. Then none of them is replaced.
    """
    files.write_all(source_contents(program, path))


def source_contents(program: SourceFiles, path: Path) -> Iterator[tuple[Path, bytes]]:
    """Return the contents of the source at `path` and of its files in the same folder, by path.

    Raises `InputError` if a name of a file is not UTF-8.
    """
    folder = path.parent
    for name in (*program.files, *program.texts):
        if files.text_bytes(name).decode() != name:
            raise InputError(f"cannot write {path}: the file '{name}' needs a name in UTF-8")
    arrays = ((folder / name, files.npy_bytes(array)) for name, array in program.files.items())
    texts = ((folder / name, files.text_bytes(text)) for name, text in program.texts.items())
    return chain(arrays, texts, [(path, files.text_bytes(program.source))])


def assemble_lowered(program: SourceFiles, name: str) -> Program:
    """Assemble a lowered program in a temporary folder, and return the program.

    The source is called `name` with the ending `.s`.
    """
    with tempfile.TemporaryDirectory() as folder, errors_without_folder(folder):
        write_sources(program, Path(folder) / f"{name}.s")
        assembled = api.assemble(Source(program.source, f"{name}.s", Path(folder)))
        return without_folder(assembled, folder)


def without_folder(program: Program, folder: str) -> Program:
    """Return the program with names of source files that do not begin with `folder`.

    Messages about a program from a temporary folder then name files as `write` would write them.
    """

    rename = partial(_without_folder, folder)
    files = tuple(map(rename, program.source_files))
    return replace(program, lines=program.line_table.renamed(rename), source_files=files)


@contextmanager
def errors_without_folder(folder: str) -> Iterator[None]:
    """Let an `AssemblyError` name source files as `without_folder` does."""

    def rename(span: Span) -> Span:
        return replace(span, file=_without_folder(folder, span.file))

    try:
        yield
    except AssemblyError as error:
        raise AssemblyError(
            replace(
                item,
                span=rename(item.span),
                chain=tuple(replace(link, span=rename(link.span)) for link in item.chain),
            )
            for item in error.diagnostics
        ) from None


def _without_folder(folder: str, name: str) -> str:
    return name.removeprefix(folder).lstrip(os.sep) if name.startswith(folder) else name


@dataclass(frozen=True)
class _ImageOptions:
    """The arguments of `lower` that only convolutions take."""

    image: tuple[int, int] | None = None
    stride: Pair = 1
    padding: Pair = 0
    pads: tuple[int, int, int, int] | None = None
    dilation: Pair = 1
    groups: int = 1
    batch: int | None = None
    layout: str = "hwc"
    out_layout: str = "hwc"

    def check(self, operation: str) -> None:
        """Raise `InputError` if an option was given that `operation` lacks, or if two conflict."""
        if operation in PRODUCTS and self != _ImageOptions():
            raise InputError(
                f"{operation} has no image, stride, padding, dilation, groups, batch or layout",
                "conv2d and depthwise have",
            )
        if self.pads is not None and self.padding != 0:
            raise InputError("pads and padding both give the padding", "pads=(1, 1, 2, 2) alone")

    def convolution(
        self,
        weights: NDArray[Any],
        bias: NDArray[Any] | None,
        activation: str,
        shift: int | None,
        *,
        depthwise: bool,
    ) -> Convolution:
        """Return the convolution of the image with `weights`; the arguments are those of `lower`.

        Raises `LowerError` if the arguments do not fit each other.
        """
        assert self.image is not None
        both = (*_pair(self.padding), *_pair(self.padding))
        sides = both if self.pads is None else self.pads
        above, left, below, right = map(int, sides)
        return convolution(
            weights,
            _pair(self.image),
            stride=_pair(self.stride),
            padding=(above, left),
            after=(below, right),
            dilation=_pair(self.dilation),
            groups=int(self.groups),
            images=int(self.batch or 0),
            depthwise=depthwise,
            bias=bias,
            activation=activation,
            shift=shift,
            layout=self.layout,
            out_layout=self.out_layout,
        )


@check_arguments(
    operation=arguments.word,
    weights=arguments.array,
    rows=arguments.optional(arguments.whole(1)),
    image=arguments.optional(arguments.pair(1)),
    stride=arguments.one_or_pair(1),
    padding=arguments.one_or_pair(0),
    pads=arguments.optional(arguments.four(0)),
    dilation=arguments.one_or_pair(1),
    groups=arguments.whole(1),
    batch=arguments.optional(arguments.whole(1)),
    layout=arguments.word,
    out_layout=arguments.word,
    bias=arguments.optional(arguments.array),
    activation=arguments.word,
    shift=arguments.optional(arguments.whole(0)),
    device=arguments.device,
    mapping=arguments.optional(arguments.word),
    split=arguments.optional(arguments.word),
    density=arguments.number,
    name=arguments.optional(arguments.file_name),
)
def lower(
    operation: str,
    weights: ArrayLike,
    *,
    rows: int | None = None,
    image: tuple[int, int] | None = None,
    stride: Pair = 1,
    padding: Pair = 0,
    pads: tuple[int, int, int, int] | None = None,
    dilation: Pair = 1,
    groups: int = 1,
    batch: int | None = None,
    layout: str = "hwc",
    out_layout: str = "hwc",
    bias: ArrayLike | None = None,
    activation: str = "none",
    shift: int | None = None,
    device: api.DeviceLike = api.DEFAULT_DEVICE,
    mapping: str | None = None,
    split: str | None = None,
    density: float = 1.0,
    name: str | None = None,
) -> Lowering:
    """Lower a matrix product (`spmv`, `spmm`) or a convolution (`conv2d`, `depthwise`).

    Weights have shape (outputs, inputs) for a product, (outputs, height, width, channels) for
    `conv2d` and (channels, height, width) for `depthwise`. Activations have shape (inputs,) for
    `spmv`, (rows, inputs) for `spmm` and (height, width, channels) for a convolution, where `image`
    is (height, width). With `batch`, images and results have a first axis of that length.

    `stride`, `padding` and `dilation` are one number, or (vertical, horizontal). `pads`, in place
    of `padding`, is the padding above, left, below and right. With `groups`, the weights of
    `conv2d` have the channels of a group, and an output depends only on the channels of its own
    group. With `layout="cwh"` (`depthwise` only) the image has shape (channels, width, height);
    `out_layout` is the same choice for the results.

    `bias` (outputs,) is added to the sums, then `activation` is applied. With a `shift`, results
    are divided by 2**shift and saturated to the element type. `density` is the share of activations
    that are not zero. `mapping` ("input", "weight" or "output") says which data stay in the PE
    array, `split` (a letter from "a" to "i", docs/lowering.md) how its rows and clusters divide the
    work. Without them, the cost model chooses the cheapest mapping and split. The names of the
    files begin with `name`.

    Raises `InputError` for an operation that cannot be lowered, `ConfigError` for an invalid
    device.
    """
    _check_word("operation", operation, OPERATIONS)
    if mapping is not None:
        _check_word("mapping", mapping, MAPPINGS)
    if split is not None:
        _check_word("split", split, SPLITS)
    if not 0 < density <= 1:
        raise InputError(f"the density {density} is out of range, above 0 to 1")
    config = api.configuration(device)
    name, shift = name or operation, arguments.python_numbers(shift)
    matrix = np.asarray(weights)
    vectors = None if bias is None else np.asarray(bias)
    _check_operation(operation, rows, image)
    images = _ImageOptions(
        image, stride, padding, pads, dilation, groups, batch, layout, out_layout
    )
    images.check(operation)
    try:
        product: Product
        if operation in PRODUCTS:
            vector = operation == "spmv"
            product = Product(int(rows or 1), matrix, vectors, activation, shift, vector)
        else:
            product = images.convolution(
                matrix, vectors, activation, shift, depthwise=operation == "depthwise"
            )
        product = product.validated(config)
        choice = choose(
            product, config, operation=operation, mapping=mapping, split=split, density=density
        )
    except LowerError as error:
        raise InputError(str(error), error.hint) from None
    program = layer_source(choice.selection.plan, name, choice.reasons())
    return Lowering(name, product, config, choice, program)


def _pair(value: Pair) -> tuple[int, int]:
    vertical, horizontal = value if isinstance(value, tuple | list) else (value, value)
    return int(vertical), int(horizontal)


def _check_operation(operation: str, rows: int | None, image: Pair | None) -> None:
    """Raise `InputError` if `operation` needs `rows` or `image` and this argument is None.

    Also raise it for `rows` of a convolution, and for more than one row of `spmv`.
    """
    if operation == "spmv" and rows not in (None, 1):
        raise InputError("spmv takes one vector", "spmm takes several rows of activations")
    if operation == "spmm" and rows is None:
        raise InputError("spmm needs the number of rows of activations", "rows=64, --rows 64")
    if operation in CONVOLUTIONS and image is None:
        raise InputError(
            f"{operation} needs the height and width of its image", "image=(28, 28), --image 28x28"
        )
    if operation in CONVOLUTIONS and rows is not None:
        raise InputError(f"{operation} has no rows", "its activations are an image")


def _check_word(what: str, word: str, words: Iterable[str]) -> None:
    words_in_order = tuple(words)
    if word not in words_in_order:
        hint = suggestion(word, words_in_order)
        raise InputError(f"no {what} '{word}'", hint)
