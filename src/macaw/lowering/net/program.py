"""Writes a network as a program: a main source that calls a subroutine for each layer.

Each subroutine has its own source. All packets and sequences stay in the memory units from the
start; the data of all layers share the rest of the units. Tensors between layers share an arena in
external memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from macaw.isa.config import Configuration, load, presets
from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.layer_source import Linkage, SourceFiles, layer_subroutine
from macaw.lowering.listing import Listing
from macaw.lowering.net.arena import Arena, lifetimes, place
from macaw.lowering.net.island_program import describe as describe_product
from macaw.lowering.net.island_program import island_subroutine
from macaw.lowering.net.layer_plan import LayerPlan
from macaw.lowering.net.layer_plans import MapAll, fitting_plans
from macaw.lowering.net.native_program import describe as describe_native
from macaw.lowering.net.native_program import native_subroutine
from macaw.lowering.net.network import (
    IslandLayer,
    NativeLayer,
    NetTensor,
    Network,
    ProductLayer,
    VectorLayer,
)
from macaw.lowering.net.symbols import MEMORY, tensor_symbols
from macaw.lowering.net.vector.source import VectorLinkage, describe, start_entry, vector_subroutine
from macaw.lowering.progress import PROGRESS
from macaw.lowering.shared_code import CodeLibrary, IncludeLibrary
from macaw.lowering.transfers import PONG, UNIT

MAIN = "main"
_GLOBALS = 8  # symbols on a line
END = "all_done"  # the label after the last call


@dataclass(frozen=True)
class NetworkProgram:
    """The program of a network, with the plans and the memory from which it was made.

    `sources` has each source and the files that it includes, by the source's file name, in the
    order of assembling. `symbols` has the symbol of each tensor, by the tensor's name in the model.
    """

    network: Network
    plans: tuple[LayerPlan, ...]
    arena: Arena
    symbols: dict[str, str]
    sources: dict[str, SourceFiles]


def network_program(
    network: Network, config: Configuration, map_all: MapAll | None = None
) -> NetworkProgram:
    """Return the program of a network on a device.

    `map_all` may run choices of plans in several processes (`plan_layers`). Raises `LowerError` if
    a layer cannot be computed, or if layers do not fit into the memory.
    """
    plans, memory = fitting_plans(network, config, map_all)
    arena = _arena(network, plans)
    names = tensor_symbols(network.tensors, [item.symbol for item in plans])
    sources = {f"{MAIN}.s": _main(network, plans, arena, names, config, memory)}
    includes = IncludeLibrary()
    library = CodeLibrary(includes)
    for item in plans:
        shared = library, includes
        sources[f"{item.symbol}.s"] = _layer_source(item, network, names, shared, config)
    for symbol, text in library.sources().items():
        sources[f"{symbol}.s"] = SourceFiles(text)
    sources[f"{MAIN}.s"].texts.update(includes.texts())
    return NetworkProgram(network, plans, arena, names, sources)


def _layer_source(
    item: LayerPlan,
    network: Network,
    names: Mapping[str, str],
    shared: tuple[CodeLibrary, IncludeLibrary],
    config: Configuration,
) -> SourceFiles:
    """Return the source of a layer's subroutine.

    `names` has the symbols of tensors. A layer of the array takes code that layers have in common
    from the libraries `shared`, and adds code that is missing there.
    """
    layer, inputs = item.layer, tuple(_home(network, names, name) for name in item.layer.inputs)
    result = _home(network, names, layer.output)
    if isinstance(layer, VectorLayer):
        limits = item.overlap.limits if item.overlap is not None else ()
        names_of_vc = VectorLinkage(item.symbol, inputs, result)
        return vector_subroutine(layer.operation, item.symbol, names_of_vc, limits)
    if isinstance(layer, NativeLayer):
        return native_subroutine(layer, item.symbol, inputs, result, config)
    if isinstance(layer, IslandLayer):
        return island_subroutine(layer, item.symbol, inputs, result, config)
    assert item.choice is not None
    plan, what = item.choice.selection.plan, _what(item)
    heading = [f"{item.symbol}.s - {what}.", item.choice.prediction()]
    x, other = (*inputs, "")[:2]
    weights, second = (other, "") if plan.product.reads_weights else ("", other)
    shapes = (item.operation.inputs[0], item.operation.result) if item.operation else None
    if layer.output in network.columns:
        shapes = plan.product.shapes[0], network.tensors[network.home(layer.output)].shape
    linkage = Linkage(item.symbol, x, result, MEMORY, weights, second, shapes)
    library, includes = shared
    return layer_subroutine(
        plan,
        item.symbol,
        linkage,
        library.code(plan, reports=item.reports_progress),
        includes,
        heading,
    )


def _home(network: Network, names: Mapping[str, str], name: str) -> str:
    """Return the symbol of the tensor that has the bytes of tensor `name`: itself or another."""
    return names[network.home(name)]


def _arena(network: Network, plans: Sequence[LayerPlan]) -> Arena:
    """Return the places of those tensors that are neither inputs nor outputs of the network.

    If a layer overlaps the previous layer, its result counts as written in the step of the previous
    layer.
    """
    home = network.home
    steps = [([home(name) for name in layer.inputs], list[str]()) for layer in network.layers]
    for number, item in enumerate(plans):
        steps[number - (item.overlap is not None)][1].append(home(item.layer.output))
    ends = {*network.inputs, *network.outputs, *network.constants}
    inner = {
        name: tensor.size
        for name, tensor in network.tensors.items()
        if name not in ends and home(name) == name
    }
    return place(lifetimes(inner, steps))


def _main(
    network: Network,
    plans: tuple[LayerPlan, ...],
    arena: Arena,
    names: Mapping[str, str],
    config: Configuration,
    memory: int,
) -> SourceFiles:
    """Return the source with the tensors, the memory of the units, and the calls of all layers.

    `names` has the symbols of tensors, `memory` the bytes of each unit for the layers' data.
    """
    out = Listing()
    texts: dict[str, str] = {}
    out.extend([f"{MAIN}.s - the network {network.name}. Written by macaw compile.", ""])
    device = config.name
    if device not in presets() or load(device) != config:
        device = '"device.toml"'
        texts["device.toml"] = config.to_toml()
    out.put(f".device {device}")
    # a tensor that is an input, too, is no output of the program: the host has its elements
    outputs = [name for name in network.outputs if name not in network.inputs]
    for direction, tensors in ((".input", network.inputs), (".output", outputs)):
        for name in tensors:
            out.put(f"{direction} {_typed(names[name], network.tensors[name])}", name)
    _put_tensors(out, network, arena, names)
    if any(item.overlap is not None for item in plans):
        out.put(".bss")
        out.put(".balign 64")
        out.put(".space 64", "iterations that the array has left", label=PROGRESS)
        out.put(f".global {PROGRESS}")
    out.title("the memory of each unit")
    out.put(".core pe, row=0")
    out.put(".list first", "packets of all layers follow")
    out.put(".endlist")
    out.put(f".global {MEMORY}")
    out.put(f".space {memory}", "tiles of the layer that runs", label=MEMORY)
    _put_calls(out, plans)
    out.put(".section .data.cp")
    out.put(".balign 4")
    out.comment("dst, src, row bytes, rows, dst stride, src stride")
    rows, image = int(config["pe.rows"]), f"load_address(first), {MEMORY} - first"
    for label, add in (("fill_ping", ""), ("fill_pong", f" + {PONG:#x}")):
        out.put(f".word first{add}, {image}, {rows}, {UNIT:#x}, 0", label=label)
    files = {f"{names[name]}.npy": array for name, array in network.constants.items()}
    return SourceFiles(out.text(), files, texts)


def _put_tensors(out: Listing, network: Network, arena: Arena, names: Mapping[str, str]) -> None:
    """Write the tensors between layers, at their places in the arena, and the constant tensors."""
    if arena.size:
        out.put(".bss")
        out.put(".balign 64")
        out.put(f".space {arena.size}", "tensors between layers, by their lifetimes", label="arena")
        for name, offset in arena.offsets.items():
            tensor = network.tensors[name]
            out.put(f".view {_typed(names[name], tensor)}, at=arena + {offset:#x}", name)
        _put_globals(out, [names[name] for name in arena.offsets])
    for name, (first, count) in network.columns.items():
        whole, what = network.home(name), f"{name}: columns {first} to {first + count - 1}"
        out.put(f".view {_typed(names[name], network.tensors[whole])}, at={names[whole]}", what)
    _put_globals(out, [names[name] for name in network.columns])
    if network.constants:
        out.put(".data")
    for name in network.constants:
        out.put(".balign 64")
        out.put(f'.npy "{names[name]}.npy"', name, label=names[name])
    _put_globals(out, [names[name] for name in network.constants])


def _put_calls(out: Listing, plans: Sequence[LayerPlan]) -> None:
    """Write the code that brings the packets to the units and calls each layer's subroutine."""
    out.title("the layers")
    out.put(".core cp")
    out.block(
        """
_start: la a0, fill_ping # packets and sequences to both halves of all units
        dma.copy s10, a0
        la a0, fill_pong
        dma.copy s10, a0 # layers wait for this ticket
        dma.wait zero
        """
    )
    for item, after in zip(plans, (*plans[1:], None), strict=True):
        if after is not None and after.overlap is not None:
            out.put(f"call {start_entry(after.symbol)}", "vc takes rows when they are stored")
        out.put(f"call {item.symbol}", f"{item.layer.name}: {_what(item)}")
    out.block(
        f"""
{END}: li a0, 0
        li a7, 93
        ecall
        """
    )


def _put_globals(out: Listing, symbols: Sequence[str]) -> None:
    """Write directives that make symbols visible to the other sources."""
    for first in range(0, len(symbols), _GLOBALS):
        out.put(f".global {', '.join(symbols[first : first + _GLOBALS])}")


def _typed(symbol: str, tensor: NetTensor) -> str:
    return f"{symbol}, {tensor.dtype}, {', '.join(map(str, tensor.shape))}"


def _what(item: LayerPlan) -> str:
    """Return a description of the operation of a planned layer."""
    if item.operation is not None:
        return describe(item.operation)
    if isinstance(item.layer, ProductLayer):
        return item.layer.product.describe()
    if isinstance(item.layer, NativeLayer):
        return describe_native(item.layer)
    if isinstance(item.layer, IslandLayer):
        return describe_product(item.layer)
    assert isinstance(item.layer, VectorLayer)
    return describe(item.layer.operation)
