"""Writes the program of a model on nnp: a readable source with hints, and its data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.isa.config import Configuration, load, presets
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.nnp import RESET, WINDOW
from macaw.lowering.errors import LowerError
from macaw.lowering.layer_source import SourceFiles
from macaw.lowering.listing import Listing
from macaw.lowering.nnp import operations as ops
from macaw.lowering.nnp.chain_source import NO_WINDOW, START, ChainWriter, Settings
from macaw.lowering.nnp.chains import ChainPhase, form_chains
from macaw.lowering.nnp.memory import FILES, Memory, allocate
from macaw.lowering.nnp.operations import Model, Place
from macaw.lowering.nnp.reading import HOST, untaken
from macaw.lowering.nnp.tiles import tiles_of
from macaw.lowering.onnx.model_file import message_name
from macaw.lowering.operation import counted

SOURCE = "main.s"


@dataclass(frozen=True)
class Lowered:
    """The program of a model, its number of instructions, and its use of nnp's memories.

    `used` has pairs (used, all) that count native tiles or vectors, by memory.
    """

    files: SourceFiles
    instructions: int
    used: Mapping[str, tuple[int, int]]


def program(model: Model, config: Configuration, title: str) -> Lowered:
    """Return the program of a model: main.s, and its data main.vectors.npy and main.tiles.npy.

    `title` is the name in its first comment. A device that is not a preset is written to
    main.device.toml. Raises `LowerError` if something does not fit into nnp.
    """
    name = SOURCE.removesuffix(".s")
    phases = form_chains(model)
    memory = allocate(model, phases, config)
    out = Listing()
    texts: dict[str, str] = {}
    _head(out, model, config, title, name, texts)
    names, constants = _names(model, memory)
    out.put(".core nnp")
    _hints(out, model, phases, memory, names)
    _symbols(out, constants)
    writer = ChainWriter(model, phases, memory, config, out, _reset(), names)
    _chains(writer)
    files = _data(out, model, memory, config, name)
    return Lowered(
        SourceFiles(out.text(), files, texts), writer.words, _used(model, memory, config)
    )


def write_code(out: Listing, model: Model, config: Configuration, entry: str) -> Memory:
    """Append nnp's code of a model that is a part of a larger program.

    Return the addresses of the model's tensors and matrices. The larger program starts nnp at the
    label `entry`, sets nnp's register `base` to the address of the data that `write_data` appends,
    and feeds the input queue. The queues carry the native vectors of the inputs and outputs, in the
    order of the model. Raises `LowerError` if something does not fit into nnp.
    """
    phases = form_chains(model)
    memory = allocate(model, phases, config)
    names, constants = _names(model, memory)
    out.put(".core nnp")
    _symbols(out, constants)
    writer = ChainWriter(model, phases, memory, config, out, {}, names)
    out.title("registers: another program may have set them")
    out.put("", label=entry)
    writer.set(_reset())
    _chains(writer)
    out.put(".word 0", "the program ends")
    return memory


def write_data(
    out: Listing, model: Model, memory: Memory, config: Configuration, name: str, label: str
) -> dict[str, NDArray[Any]]:
    """Append the data of a model's code at a label; return the files of data, NAME.*.npy.

    `memory` is the result of `write_code`.
    """
    out.put(".data")
    out.put(".balign 64")
    out.put("", label=label)
    return _data(out, model, memory, config, name)


def _chains(writer: ChainWriter) -> None:
    """Write all chains. Raises `LowerError` for more instructions than nnp has room for."""
    _constants(writer)
    for number in range(len(writer.phases)):
        writer.phase(number)
    writer.put("end_chain")
    room = int(writer.config["nnp.instructions"])
    if writer.words > room:
        raise LowerError(
            f"the program takes {writer.words:,} instructions; nnp has room for {room:,}",
            f"fewer time steps, or nnp.instructions = {writer.words}",
        )


def _used(model: Model, memory: Memory, config: Configuration) -> dict[str, tuple[int, int]]:
    """Return, for each memory, how many tiles or vectors are used, and how many it has."""
    used = {}
    tiles = [start + _tiles(model, name) for name, start in memory.matrices.items()]
    used["MatrixRf"] = (max(tiles, default=0), int(config["nnp.matrix_rf"]))
    for file, setting in FILES.items():
        ends = [
            places[file] + model.tensors[name].vectors * model.tensors[name].slots
            for name, places in memory.files.items()
            if file in places
        ]
        used[file] = (max(ends, default=0), int(config[setting]))
    return used


def _reset() -> Settings:
    registers = {name: value for name, value in RESET.items() if name not in WINDOW}
    return {**registers, "window": NO_WINDOW}


def _head(
    out: Listing,
    model: Model,
    config: Configuration,
    title: str,
    name: str,
    texts: dict[str, str],
) -> None:
    layers = counted(len(model.layers), "layer")
    text = f"{message_name(title)} - a model of {layers} on nnp."
    out.comment(f"{text} Written by macaw compile --core nnp.")
    out.comment()
    device = config.name
    if device not in presets() or load(device) != config:
        device = f'"{name}.device.toml"'
        texts[device.strip('"')] = config.to_toml()
    out.put(f".device {device}")
    native, host = int(config["nnp.native"]), HOST[str(config["nnp.host_format"])].name
    for port in model.inputs:
        vectors = model.tensors[port.tensor].vectors
        out.put(f".input {port.tensor}, {host}, {vectors}, {native}, at=netin")
    for port in model.outputs:
        vectors = model.tensors[port.tensor].vectors
        out.put(f".output {port.tensor}, {host}, {vectors}, {native}, at=netout")
    out.comment()


def _names(
    model: Model, memory: Memory
) -> tuple[dict[tuple[str, str], str], list[tuple[str, str, int]]]:
    """Return the symbols of tensors and matrices, and the addresses of the symbols.

    The first result has the symbol of each (tensor or matrix, memory). The second one has (symbol,
    memory, address) for each symbol.
    """
    names: dict[tuple[str, str], str] = {}
    symbols: list[tuple[str, str, int]] = []
    suffixes = dict(zip(FILES, ("_initial", "_mul", "_add0", "_add1"), strict=True))
    ports = {port.tensor for port in (*model.inputs, *model.outputs)}
    taken = {name.lower() for name in (*model.tensors, *model.matrices)}
    for tensor in model.tensors.values():
        if tensor.name in ports:
            continue
        places = dict(memory.files.get(tensor.name, {}))
        if tensor.name in memory.dram and not places:
            places[ops.DRAM] = memory.dram[tensor.name]
        several = len(set(places.values())) > 1
        for file, address in places.items():
            symbol = tensor.name
            if several:
                symbol = untaken(tensor.name + suffixes[file], taken)
                taken.add(symbol.lower())
            names[tensor.name, file] = symbol
            if (symbol, file, address) not in symbols:
                symbols.append((symbol, file, address))
    for name, address in memory.matrices.items():
        names[name, "MatrixRf"] = name
        symbols.append((name, "MatrixRf", address))
    return names, symbols


def _hints(
    out: Listing,
    model: Model,
    phases: Sequence[ChainPhase],
    memory: Memory,
    symbols: Mapping[tuple[str, str], str],
) -> None:
    """Write hints for the inputs, the outputs, and the constants in register files and MatrixRf.

    A hint is a directive that gives the name and the shape of a tensor at an address. A copied
    constant or a matrix gets no hint if other constants use its entries at another time. `symbols`
    has the symbol of each tensor in each memory.
    """
    at = {ops.NET_IN: 0, ops.NET_OUT: 0}
    for port in (*model.inputs, *model.outputs):
        tensor = model.tensors[port.tensor]
        rows, columns = tensor.shape
        address = at[tensor.memory]
        out.put(f".hint tensor {tensor.name}, {tensor.memory}, {address}, {rows}, {columns}")
        at[tensor.memory] += tensor.vectors
    for file, names in memory.constants.items():
        for name in names:
            rows, columns = model.tensors[name].shape
            if names is memory.constants[_first_file(memory, name)]:
                symbol = symbols[name, file]
                out.put(f".hint tensor {name}, {file}, {symbol}, {rows}, {columns}")
    copies = [copy for phase in phases for copy in _constant_copies(model, memory, phase)]
    copied = Counter(entry for copy in copies for entry in copy.entries)
    named: set[str] = set()
    for copy in copies:
        name = f"{copy.target.tensor}_start"
        # at entries that get several constants, a hint would name the wrong one
        if name not in named and all(copied[entry] == 1 for entry in copy.entries):
            named.add(name)
            _start_hint(out, model, symbols, copy, name)
    for name in memory.matrix_dram:
        rows, columns = model.matrices[name].shape
        if not _shared(model, memory, name):
            out.put(f".hint tensor {name}, MatrixRf, {name}, {rows}, {columns}")


def _first_file(memory: Memory, name: str) -> str:
    return next(file for file, names in memory.constants.items() if name in names)


@dataclass(frozen=True)
class _Copy:
    """A copy of a constant from Dram to consecutive entries (file, address) of a register file."""

    source: Place
    target: Place
    entries: tuple[tuple[str, int], ...]


def _constant_copies(model: Model, memory: Memory, phase: ChainPhase) -> Iterator[_Copy]:
    """Yield a copy for each register file to which a chain of the phase copies a constant."""
    for chain in phase.chains:
        source = chain.source
        if model.tensors[source.tensor].constant is None or chain.functions or chain.matrix:
            continue
        for target in chain.writes:
            for file, address in memory.files.get(target.tensor, {}).items():
                rows = np.arange(target.count)[:, None] * target.stride + np.arange(target.vectors)
                addresses = (address + target.first + rows).ravel().tolist()
                yield _Copy(source, target, tuple((file, entry) for entry in addresses))


def _start_hint(
    out: Listing,
    model: Model,
    symbols: Mapping[tuple[str, str], str],
    copy: _Copy,
    name: str,
) -> None:
    """Write a `.hint` with name and shape of a copied constant, if its rows are consecutive."""
    source, target = copy.source, copy.target
    constant, columns = model.tensors[source.tensor].constant, model.tensors[source.tensor].shape[1]
    assert constant is not None
    rows_follow = source.stride == source.vectors and target.stride == target.vectors
    if rows_follow and source.vectors * constant.shape[1] >= columns:
        file, _ = copy.entries[0]
        address = symbols[target.tensor, file] + (f" + {target.first}" if target.first else "")
        out.put(f".hint tensor {name}, {file}, {address}, {source.count}, {columns}")


def _shared(model: Model, memory: Memory, name: str) -> bool:
    """Return whether another matrix uses the same entries of MatrixRf at another time."""
    low = memory.matrices[name]
    high = low + _tiles(model, name)
    return any(
        other != name and begin < high and low < begin + _tiles(model, other)
        for other, begin in memory.matrices.items()
    )


def _tiles(model: Model, name: str) -> int:
    return model.matrices[name].rows * model.matrices[name].columns


def _symbols(out: Listing, symbols: Sequence[tuple[str, str, int]]) -> None:
    """Write the symbols (name, memory, address) of each memory, ordered by address."""
    written: set[tuple[str, int]] = set()
    for memory in (*FILES, "MatrixRf", ops.DRAM):
        own = sorted((row for row in symbols if row[1] == memory), key=lambda row: row[2])
        own = [row for row in own if (row[0], row[2]) not in written]
        if own:
            out.comment()
            out.comment(f"Addresses in {memory}:")
        for symbol, _, address in own:
            written.add((symbol, address))
            out.put(f".equ {symbol}, {address}")


def _constants(writer: ChainWriter) -> None:
    """Write the chains that load the first group of matrices and each register file's constants."""
    memory, model = writer.memory, writer.model
    loads = memory.loads.get(START, ())
    if any(memory.constants.values()) or loads:
        writer.out.title("constants")
    for item in loads:
        writer.load(item)
    for file, names in memory.constants.items():
        count = sum(model.tensors[name].vectors for name in names)
        if count:
            writer.set({"cols": count})
            writer.put(f"v_rd Dram, {memory.constants_at[file]}", 1, ", ".join(names[:4]))
            writer.put(f"v_wr {file}, 0")


def _data(
    out: Listing, model: Model, memory: Memory, config: Configuration, name: str
) -> dict[str, NDArray[Any]]:
    """Write the data of external memory, and return the arrays of its files."""
    native, host = int(config["nnp.native"]), HOST[str(config["nnp.host_format"])]
    files: dict[str, NDArray[Any]] = {}
    if not memory.dram_vectors and not memory.matrix_dram:
        return files
    out.title("external memory: constants, values, matrices")
    out.put(".data")
    if memory.data_vectors:
        vectors = np.zeros((memory.data_vectors, native), host)
        for file, names in memory.constants.items():
            address = memory.constants_at[file]
            for tensor in (model.tensors[name] for name in names):
                assert tensor.constant is not None
                vectors[address : address + tensor.vectors] = tensor.constant
                address += tensor.vectors
        for key, address in memory.dram.items():
            constant = model.tensors[key].constant
            if constant is not None:
                vectors[address : address + len(constant)] = constant
        files[f"{name}.vectors.npy"] = vectors
        out.put(f'.npy "{name}.vectors.npy"', label="vectors")
    more = memory.dram_vectors - memory.data_vectors
    if more:
        out.put(f".zero {more * native * host.itemsize}", label="scratch")
    if memory.matrix_dram:
        values = []
        for key in memory.matrix_dram:
            matrix = model.matrices[key].values
            assert matrix is not None
            values.append(tiles_of(matrix, native))
        files[f"{name}.tiles.npy"] = np.concatenate(values)
        out.put(f'.npy "{name}.tiles.npy"', label="matrices")
    return files
