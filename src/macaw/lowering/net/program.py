"""Write a network as a program: a main source with one call a layer, and one source a layer.

All packets and sequences stay in the memory units from the start; the data of all layers share the
rest of the units. Tensors between layers share an arena in external memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from macaw.isa import registry
from macaw.isa.config import Configuration, load, presets
from macaw.isa.pe import DATA_ALIGN
from macaw.lowering.choose import Choice, choose
from macaw.lowering.convolution import Convolution
from macaw.lowering.errors import LowerError
from macaw.lowering.layer_source import Linkage, SourceFiles, layer_subroutine
from macaw.lowering.listing import Listing
from macaw.lowering.net.arena import Arena, lifetimes, place
from macaw.lowering.net.network import Layer, NetTensor, Network, ProductLayer
from macaw.lowering.operation import Product
from macaw.lowering.row_program import program_bytes, unit_bytes
from macaw.lowering.transfers import PONG, UNIT

MEMORY = "unit_memory"  # the symbol of the memory in each unit that layers share
MAIN = "main"
END = "all_done"  # the label after the last call
_GRAIN = 1024  # bytes, of the size of a unit
# Labels of the main source, which no layer or tensor may have as its symbol, and labels of layers'
# sources, which no layer may have. (Those sources use tensors' symbols before they define labels.)
_MAIN_LABELS = frozenset(("_start", "all_done", "arena", "fill_ping", "fill_pong", "first", MEMORY))
_LAYER_LABELS = frozenset(
    """
    add_rows begin chain copies done final gathered hold input_offsets last last_again load merge
    more more_again next not_PARTIAL not_RESULTS partial partial_sums ping pong raw result row setup
    start start_sums step store tile w w_tile weight_table x x_copy x_tile y
    """.split()
)
_LABEL_OF_NUMBER = re.compile(r"(product|(last|more)_product|(ping|pong)_[a-z])\d*")


@dataclass(frozen=True)
class LayerPlan:
    """A layer with its symbol in the sources, and the plan that was chosen for it."""

    layer: ProductLayer
    symbol: str
    choice: Choice


@dataclass(frozen=True)
class NetworkProgram:
    """The program of a network: sources by file name in the order of assembling, and their files.

    `symbols` has the symbol of each tensor by its name in the model.
    """

    network: Network
    plans: tuple[LayerPlan, ...]
    arena: Arena
    symbols: dict[str, str]
    sources: dict[str, SourceFiles]


def plan_layers(network: Network, config: Configuration) -> tuple[LayerPlan, ...]:
    """Return the plans of a network's layers. Raises `LowerError` that names the layer."""
    names = layer_symbols(layer.name for layer in network.layers)
    plans = []
    for layer in network.layers:
        if not isinstance(layer, ProductLayer):
            raise LowerError(f"layer {layer.name}: no core computes a {type(layer).__name__}")
        try:
            choice = choose(layer.product.validated(config), config, operation=_name(layer.product))
        except LowerError as error:
            raise LowerError(f"layer {layer.name}: {error}", error.hint) from None
        plans.append(LayerPlan(layer, names[layer.name], choice))
    return tuple(plans)


def network_program(network: Network, config: Configuration) -> NetworkProgram:
    """Return the program of a network on a device.

    Raises `LowerError` if a layer cannot be computed, or if layers do not fit the memory.
    """
    plans, memory = _fitting_plans(network, config)
    arena = _arena(network)
    names = tensor_symbols(network.tensors, [item.symbol for item in plans])
    sources = {f"{MAIN}.s": _main(network, plans, arena, names, config, memory)}
    for item in plans:
        plan = item.choice.selection.plan
        (x,) = item.layer.inputs
        linkage = Linkage(item.symbol, _home(network, names, x),
                          _home(network, names, item.layer.output), MEMORY)  # fmt: skip
        sources[f"{item.symbol}.s"] = layer_subroutine(
            plan, item.symbol, linkage, item.choice.reasons()
        )
    return NetworkProgram(network, plans, arena, names, sources)


def _fitting_plans(network: Network, config: Configuration) -> tuple[tuple[LayerPlan, ...], int]:
    """Return plans whose packets and tiles fit a unit together, and the bytes of the largest tiles.

    Raises `LowerError` if there are none.
    """
    half = int(config["mem.unit_half_bytes"])
    packets = 0  # of all layers, in the plans before
    for _ in range(3):
        room = (half - packets) // _GRAIN * _GRAIN
        if room <= 0:
            break
        plans = plan_layers(network, config.changed({"mem.unit_half_bytes": room}))
        chosen = [item.choice.selection.plan for item in plans]
        tiles = max(unit_bytes(plan) - program_bytes(plan) for plan in chosen)
        packets = sum(program_bytes(plan) for plan in chosen) + DATA_ALIGN
        if packets + tiles <= half:
            return plans, tiles
    raise LowerError(
        f"the packets of all layers, {packets:,} bytes, and the largest tile do not fit half of a"
        f" unit, {half:,} bytes",
        "a larger mem.unit_half_bytes",
    )


def layer_symbols(names: Iterable[str]) -> dict[str, str]:
    """Return a symbol of the assembly language for each name of a layer; all are different."""
    return _symbols(names, _LAYER_LABELS)


def tensor_symbols(names: Iterable[str], layers: Iterable[str]) -> dict[str, str]:
    """Return a symbol for each name of a tensor: all are different, and none is in `layers`."""
    return _symbols(names, layers)


def _symbols(names: Iterable[str], taken_symbols: Iterable[str]) -> dict[str, str]:
    result: dict[str, str] = {}
    taken = {*taken_symbols, *_MAIN_LABELS}
    for file in registry.core("cp").files:
        taken.update(*file.names)
    for name in names:
        word = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_") or "_"
        word = f"_{word}" if word[0].isdigit() or word.isupper() else word
        symbol, number = word, 2
        while symbol in taken or _LABEL_OF_NUMBER.fullmatch(symbol):
            symbol, number = f"{word}_{number}", number + 1
        taken.add(symbol)
        result[name] = symbol
    return result


def _name(product: Product) -> str:
    """Return the name of a product's operation, as `macaw lower` calls it."""
    if isinstance(product, Convolution):
        return "depthwise" if product.depthwise else "conv2d"
    return "spmv" if product.vector else "spmm"


def _home(network: Network, names: Mapping[str, str], name: str) -> str:
    """Return the symbol of the tensor whose bytes a tensor has."""
    return names[network.home(name)]


def _arena(network: Network) -> Arena:
    """Return the places of the tensors that are neither inputs nor outputs of the network."""
    home = network.home
    steps = [
        ([home(name) for name in layer.inputs], [home(layer.output)]) for layer in network.layers
    ]
    ends = {*network.inputs, *network.outputs}
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
    """Return the source with the tensors, the memory of the units, and the calls of all layers."""
    out = Listing()
    texts: dict[str, str] = {}
    out.extend([f"{MAIN}.s - the network {network.name}. Written by macaw compile.", ""])
    device = config.name
    if device not in presets() or load(device) != config:
        device = '"device.toml"'
        texts["device.toml"] = config.to_toml()
    out.put(f".device {device}")
    for direction, tensors in ((".input", network.inputs), (".output", network.outputs)):
        for name in tensors:
            out.put(f"{direction} {_typed(names[name], network.tensors[name])}", name)
    if arena.size:
        out.put(".bss")
        out.put(".balign 64")
        out.put(f".space {arena.size}", "tensors between layers, by their lifetimes", label="arena")
        for name, offset in arena.offsets.items():
            tensor = network.tensors[name]
            out.put(f".view {_typed(names[name], tensor)}, at=arena + {offset:#x}", name)
            out.put(f".global {names[name]}")
    out.title("the memory of each unit")
    out.put(".core pe, row=0")
    out.put(".list first", "packets of all layers follow")
    out.put(".endlist")
    out.put(f".global {MEMORY}")
    out.put(f".space {memory}", "tiles of the layer that runs", label=MEMORY)
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
    for item in plans:
        out.put(f"call {item.symbol}", _describe(item.layer))
    out.block(
        f"""
{END}: li a0, 0
        li a7, 93
        ecall
        """
    )
    out.put(".section .data.cp")
    out.put(".balign 4")
    out.comment("dst, src, row bytes, rows, dst stride, src stride")
    rows, image = int(config["pe.rows"]), f"load_address(first), {MEMORY} - first"
    for label, add in (("fill_ping", ""), ("fill_pong", f" + {PONG:#x}")):
        out.put(f".word first{add}, {image}, {rows}, {UNIT:#x}, 0", label=label)
    return SourceFiles(out.text(), {}, texts)


def _typed(symbol: str, tensor: NetTensor) -> str:
    return f"{symbol}, {tensor.dtype}, {', '.join(map(str, tensor.shape))}"


def _describe(layer: Layer) -> str:
    what = layer.product.describe() if isinstance(layer, ProductLayer) else ""
    return f"{layer.name}: {what}"
