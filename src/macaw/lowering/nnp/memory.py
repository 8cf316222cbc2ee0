"""Allocates nnp's memories: register files for values, MatrixRf for matrices, Dram for the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from macaw.isa.config import Configuration
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.nnp_layouts import BY_NAME, LAST_ADDRESS
from macaw.lowering.errors import LowerError
from macaw.lowering.nnp import operations as ops
from macaw.lowering.nnp.chains import MFU0, Chain, ChainPhase
from macaw.lowering.nnp.operations import Matrix, Model, Place
from macaw.lowering.onnx.model_file import message_name

INITIAL, MULTIPLY, ADD0, ADD1 = "InitialVrf", "MulVrf", "AddSubVrf0", "AddSubVrf1"
FILES = {name: BY_NAME[name].setting for name in (INITIAL, MULTIPLY, ADD0, ADD1)}
# Files from which a chain without a product may read its source, the first choice first.
_HEADS = (MULTIPLY, ADD1, ADD0)


@dataclass(frozen=True)
class Load:
    """Tiles that the program copies from Dram to MatrixRf before a chain.

    `source` and `target` are addresses, counted in tiles.
    """

    source: int
    target: int
    tiles: int


@dataclass(frozen=True)
class Memory:
    """The addresses of all tensors and matrices. Addresses count native vectors, or tiles.

    `files` has, for each tensor, the first address in each register file that stores it. `dram` has
    the addresses of constants and of tensors in Dram. `matrices` has the addresses of matrices in
    MatrixRf, and `matrix_dram` those of constant matrices in Dram.

    `loads` has the loads before a chain, by (phase, chain); loads before a time loop belong to the
    loop's first chain. `constants` are the tensors that the program loads into each file, starting
    at Dram address `constants_at[file]`. In Dram, `data_vectors` vectors of constants come first,
    then values; the matrices begin after `dram_vectors` vectors.
    """

    files: Mapping[str, Mapping[str, int]]
    dram: Mapping[str, int]
    matrices: Mapping[str, int]
    matrix_dram: Mapping[str, int]
    loads: Mapping[tuple[int, int], Sequence[Load]]
    constants: Mapping[str, Sequence[str]]
    constants_at: Mapping[str, int]
    dram_vectors: int
    data_vectors: int

    def source_file(self, place: Place) -> str:
        """Return the memory from which a chain reads a tensor: a register file, or Dram."""
        homes = self.files.get(place.tensor, {})
        return next((file for file in (INITIAL, *_HEADS) if file in homes), ops.DRAM)


@dataclass
class _Use:
    """How chains use a tensor.

    `files` has the register files from which chains read the tensor as an operand. `heads` counts
    the chains that read the tensor as their source; `products` counts how many of these chains
    multiply by a matrix. `first` and `last` are the numbers of the first and last chain that need
    the tensor.
    """

    files: set[str] = field(default_factory=set)
    products: int = 0
    heads: int = 0
    first: int = -1
    last: int = -1

    def at(self, first: int, last: int) -> None:
        """Extend the lifetime so that it includes the chains from `first` to `last`."""
        self.first = first if self.first < 0 else min(self.first, first)
        self.last = max(self.last, last)


def allocate(model: Model, phases: Sequence[ChainPhase], config: Configuration) -> Memory:
    """Return the addresses of all tensors and matrices for the chains of `phases`.

    Raises `LowerError` if something does not fit.
    """
    native = int(config["nnp.native"])
    used = _uses(model, phases)
    constants: dict[str, list[str]] = {file: [] for file in FILES}
    others = []
    for name, use in used.items():
        if model.tensors[name].constant is not None:
            for file in use.files:
                constants[file].append(name)
            if use.heads:
                others.append(name)
    sizes = {name: model.tensors[name].vectors * model.tensors[name].slots for name in used}
    files: dict[str, dict[str, int]] = {}
    dram, constants_at, top = {}, {}, 0
    for file, names in constants.items():
        constants_at[file], address = top, 0
        for name in names:
            files.setdefault(name, {})[file] = address
            dram[name] = top
            address += sizes[name]
            top += sizes[name]
    for name in others:
        if name not in dram:
            dram[name] = top
            top += sizes[name]
    data = top
    spilled = _register_files(model, used, sizes, config, files, constants)
    top = -(-top // native) * native
    for name in spilled:
        dram[name] = top
        top += -(-sizes[name] // native) * native
    if top - 1 > LAST_ADDRESS:
        raise LowerError(
            f"constants and values take {top:,} native vectors of Dram; addresses end at"
            f" {LAST_ADDRESS + 1:,}",
            "nnp.native",
        )
    matrices, matrix_dram, loads = _matrices(model, phases, config, top // native)
    return Memory(files, dram, matrices, matrix_dram, loads, constants, constants_at, top, data)


def _uses(model: Model, phases: Sequence[ChainPhase]) -> dict[str, _Use]:
    """Return how the chains of `phases` use each tensor, by name in the order of first use."""
    used: dict[str, _Use] = {}
    position = 0
    spans: list[tuple[int, int]] = []
    inside: dict[str, set[int]] = {}
    for number, phase in enumerate(phases):
        begin = position
        for chain in phase.chains:
            for place in _places(chain):
                if model.tensors[place.tensor].memory in (ops.NET_IN, ops.NET_OUT):
                    continue
                used.setdefault(place.tensor, _Use()).at(position, position)
                inside.setdefault(place.tensor, set()).add(number)
            source = used.get(chain.source.tensor)
            if source is not None:
                source.heads += 1
                source.products += bool(chain.product)
            for function in chain.functions:
                if function.operand is not None:
                    used[function.operand.tensor].files.add(
                        _operand_file(function.kind, function.unit)
                    )
            position += 1
        spans.append((begin, max(begin, position - 1)))
    for name, use in used.items():
        several = len(inside[name]) > 1 or model.tensors[name].slots > 1
        for number in inside[name]:
            if phases[number].steps > 1 and several:
                use.at(*spans[number])
    return used


def _places(chain: Chain) -> list[Place]:
    operands = [item.operand for item in chain.functions if item.operand is not None]
    return [chain.source, *operands, *chain.writes]


def _operand_file(kind: str, unit: int) -> str:
    if kind == ops.MULTIPLY:
        return MULTIPLY
    return ADD0 if unit == MFU0 else ADD1


def _register_files(
    model: Model,
    used: Mapping[str, _Use],
    sizes: Mapping[str, int],
    config: Configuration,
    files: dict[str, dict[str, int]],
    constants: Mapping[str, Sequence[str]],
) -> list[str]:
    """Add each value's addresses to `files`, and return the tensors that are in Dram instead.

    `used` says how chains use each tensor, `sizes` has the native vectors of each, and `constants`
    the constants of each file. Values whose lifetimes do not overlap may have the same addresses.
    """
    room = {file: int(config[setting]) for file, setting in FILES.items()}
    blocks: dict[str, list[tuple[int, int, _Use]]] = {file: [] for file in FILES}
    end = _Use(first=0, last=1 << 60)
    for file, names in constants.items():
        size = sum(sizes[name] for name in names)
        if size > room[file]:
            raise LowerError(
                f"the constants take {size:,} native vectors of {file}, which has {room[file]:,}",
                f"{FILES[file]} = {size}",
            )
        if size:
            blocks[file].append((0, size, end))
    spilled = []
    for name, use in sorted(used.items(), key=lambda item: item[1].first):
        tensor = model.tensors[name]
        if tensor.constant is not None:
            continue
        if tensor.memory == ops.DRAM:
            spilled.append(name)
            continue
        for file in sorted(use.files):
            address = _fit(blocks[file], sizes[name], room[file], use)
            if address is None:
                raise _full(file, room[file], name, sizes[name])
            blocks[file].append((address, sizes[name], use))
            files.setdefault(name, {})[file] = address
        if use.files or not use.heads:
            continue  # chains read it as their source from a file that has it as an operand
        choices = (INITIAL, *_HEADS) if use.products == use.heads else _HEADS
        for file in choices:
            address = _fit(blocks[file], sizes[name], room[file], use)
            if address is not None:
                blocks[file].append((address, sizes[name], use))
                files.setdefault(name, {})[file] = address
                break
        else:
            spilled.append(name)
    return spilled


def _fit(blocks: Iterable[tuple[int, int, _Use]], size: int, room: int, use: _Use) -> int | None:
    """Return the first address at which `size` vectors fit; None if there is no room.

    `blocks` has the address, size and use of the tensors in a file of `room` vectors. `use` says
    when the vectors are needed. Only tensors that are needed at the same time occupy room.
    """
    address = 0
    for begin, length, other in sorted(blocks, key=lambda block: block[0]):
        together = use.first <= other.last and other.first <= use.last
        if together and begin < address + size:
            address = max(address, begin + length)
    return address if address + size <= room else None


def _full(file: str, room: int, name: str, size: int) -> LowerError:
    return LowerError(
        f"the value {name} takes {size:,} native vectors of {file}, which has {room:,} and holds"
        " other values at the same time",
        FILES[file],
    )


# --- matrices ---


def _matrices(
    model: Model, phases: Sequence[ChainPhase], config: Configuration, base: int
) -> tuple[dict[str, int], dict[str, int], dict[tuple[int, int], list[Load]]]:
    """Return the addresses of matrices in MatrixRf and in Dram, and the loads before chains.

    `base` is the first address in Dram for matrices, in tiles. If all matrices fit into MatrixRf,
    they are one group, whose constants are loaded before the first chain. Otherwise there are
    several groups that fit. Each is loaded before the first chain that needs it.
    """
    room = int(config["nnp.matrix_rf"])
    groups: list[tuple[tuple[int, int], list[str]]] = []
    size = 0
    for number, phase in enumerate(phases):
        units = [list(phase.chains)] if phase.steps > 1 else [[chain] for chain in phase.chains]
        for at, unit in enumerate(units):
            names = dict.fromkeys(
                filter(None, (name for c in unit for name in (c.matrix, c.product)))
            )
            needed = sum(_tiles(model.matrices[name]) for name in names)
            if needed > room:
                layer = message_name(unit[0].layer)
                raise LowerError(
                    f"layer {layer} needs {needed:,} native tiles at once; MatrixRf has {room:,}",
                    f"nnp.matrix_rf = {needed}",
                )
            there = groups[-1][1] if groups else []
            new = [name for name in names if name not in there]
            more = sum(_tiles(model.matrices[name]) for name in new)
            if not groups or size + more > room:
                lost = [n for n in names if n in there and model.matrices[n].values is None]
                if lost:
                    layer = message_name(unit[0].layer)
                    raise LowerError(
                        f"layer {layer} needs a computed matrix beside others:"
                        f" {size + more:,} native tiles; MatrixRf has {room:,}",
                        f"nnp.matrix_rf = {size + more}",
                    )
                groups.append(((number, at), list(names)))
                size = needed
            else:
                there.extend(new)
                size += more
    addresses: dict[str, int] = {}
    dram: dict[str, int] = {}
    loads: dict[tuple[int, int], list[Load]] = {}
    return _place_groups(model.matrices, groups, base, addresses, dram, loads)


def _tiles(matrix: Matrix) -> int:
    return matrix.rows * matrix.columns


def _place_groups(
    matrices: Mapping[str, Matrix],
    groups: Sequence[tuple[tuple[int, int], list[str]]],
    base: int,
    addresses: dict[str, int],
    dram: dict[str, int],
    loads: dict[tuple[int, int], list[Load]],
) -> tuple[dict[str, int], dict[str, int], dict[tuple[int, int], list[Load]]]:
    """Give the matrices of each group their addresses, constants first.

    A group has the (phase, chain) before which it is loaded, and its matrices. `base` is the first
    address in Dram for matrices, in tiles. The function extends `addresses`, `dram` and `loads`,
    and returns them.
    """
    top = base
    for where, names in groups:
        free = 0
        for name in sorted(names, key=lambda name: matrices[name].values is None):
            tiles = _tiles(matrices[name])
            if addresses.get(name, free) != free:
                raise LowerError(
                    f"the matrix {name} is needed in two groups of matrices that do not fit"
                    " together into MatrixRf",
                    "nnp.matrix_rf",
                )
            addresses[name] = free
            if matrices[name].values is not None:
                if name not in dram:
                    dram[name] = top
                    top += tiles
                before = loads.setdefault(where, [])
                last = before[-1] if before else None
                if (
                    last
                    and last.source + last.tiles == dram[name]
                    and last.target + last.tiles == free
                ):
                    before[-1] = Load(last.source, last.target, last.tiles + tiles)
                else:
                    before.append(Load(dram[name], free, tiles))
            free += tiles
    if top - 1 > LAST_ADDRESS:
        raise LowerError(
            f"the matrices end at native tile {top:,} of Dram; addresses end at"
            f" {LAST_ADDRESS + 1:,}",
            "nnp.native",
        )
    return addresses, dram, loads
