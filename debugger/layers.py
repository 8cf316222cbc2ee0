"""Records in which cycles a program starts the layers of its network."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from macaw.debugger.call_stack import call_addresses
from macaw.emu.breaks import Break, Breakable

if TYPE_CHECKING:
    from macaw.asm.network import ProgramLayer, ProgramNetwork
    from macaw.asm.program import Program, Tensor
    from macaw.debugger.debuggee import Debuggee


@dataclass(frozen=True)
class LayerState:
    """A layer of the network at the present moment.

    `state` is "done", "running", "to come" or "not seen". "not seen" means that the session has
    jumped over the start of the layer. `begin` is the cycle in which the layer began. `cycles` is
    the number of cycles from `begin` to the start of the next layer, or to now. It is None if the
    layer has not begun, or if the session has jumped over one of the two starts.
    """

    number: int
    layer: ProgramLayer
    state: str
    begin: int | None
    cycles: int | None


def layer_breaks(debuggee: Debuggee, breaks: Mapping[int, Break]) -> dict[int, Break]:
    """Return `breaks` with additional breaks that record the start of each layer and do not stop.

    The additional breaks are for the first core, which calls the layers. The given breaks stop as
    before.
    """
    entries = debuggee.program.layer_entries
    return {
        **breaks,
        **{
            address: Break(partial(_begin, debuggee, number, breaks.get(address)))
            for address, number in entries.items()
        },
    }


def _begin(debuggee: Debuggee, number: int, other: Break | None) -> bool:
    """Record the start of layer `number`. Return whether `other` stops the core.

    `other` is another break at the same address, or None.
    """
    debuggee.layer_starts[number] = debuggee.device.cycle
    test: Callable[[], bool] | None = None if other is None else other.test
    return other is not None and (test is None or test())


def present_layer(debuggee: Debuggee) -> int | None:
    """Return the number of the layer that the first core is executing now, or None."""
    program = debuggee.program
    if program.network is None:
        return None
    core = debuggee.device.order[0]
    addresses = call_addresses(debuggee, core) if isinstance(core, Breakable) else []
    numbers = (program.layer_number_at(address) for address in addresses)
    return next((number for number in numbers if number is not None), None)


def layer_states(debuggee: Debuggee) -> list[LayerState]:
    """Return the present states of the network's layers, in the order of execution."""
    network, now = debuggee.program.network, debuggee.device.cycle
    starts = {number: cycle for number, cycle in debuggee.layer_starts.items() if cycle <= now}
    present = present_layer(debuggee)
    last = max((*starts, present if present is not None else -1))  # the last layer that has started
    states = []
    for number, layer in enumerate(network.layers if network is not None else ()):
        begin, end = starts.get(number), starts.get(number + 1)
        if end is None and number >= last - 1:
            end = now
        state = "to come" if number > last else "done" if begin is not None else "not seen"
        if number == present:
            state, begin = "running", now if begin is None else begin  # right before its first act
        cycles = None if begin is None or end is None else end - begin
        states.append(LayerState(number, layer, state, begin, cycles))
    return states


@dataclass(frozen=True)
class TensorState:
    """A tensor of the network at the present moment; `layer` is the layer that makes it.

    `state` says what the tensor's bytes contain now. It is "input", "to come" (not computed yet),
    "in work" (partly computed), "there" (complete), "not seen" (the layer that makes the tensor is
    "not seen"), or "overwritten by" and the name of a layer.
    """

    name: str
    tensor: Tensor
    layer: ProgramLayer | None  # that makes it
    state: str


def tensor_states(debuggee: Debuggee) -> list[TensorState]:
    """Return the present states of the network's tensors, in the order in which they are made."""
    program = debuggee.program
    if program.network is None:
        return []
    layers = layer_states(debuggee)
    # Layers have arrays of their own, whose names may be those of tensors of the network. The first
    # arrays of the program are the network's.
    places = {item.name: item for item in reversed((*program.tensors, *program.arrays))}
    makers = {item.layer.output: item for item in layers}
    wholes = _last_writers(program.network, layers)
    states = []
    for name, symbol in program.network.tensors.items():
        maker = makers.get(name, wholes.get(symbol))
        if symbol in places and (maker is not None or not _is_alias(program, name, makers)):
            tensor = places[symbol]
            state = "input" if maker is None else _STATES[maker.state]
            number = -1 if maker is None else maker.number
            for later in layers[number + 1 :]:
                other = places.get(program.network.tensors[later.layer.output])
                if later.state != "to come" and other and _overlap(program, tensor, other):
                    state = f"overwritten by {later.layer.name}"
                    break
            layer = None if maker is None else maker.layer
            columns = program.network.columns.get(symbol)
            if columns is not None:
                tensor = replace(tensor, shape=(*tensor.shape[:-1], columns.length))
            states.append((number, TensorState(name, tensor, layer, state)))
    return [state for _, state in sorted(states, key=lambda item: item[0])]


def _last_writers(network: ProgramNetwork, layers: Sequence[LayerState]) -> dict[str, LayerState]:
    """Return the last layer that writes to each tensor which several layers make together.

    Each of these layers makes some columns (a range of the last axis). The keys are the symbols of
    the whole tensors.
    """
    symbols = [(network.tensors[item.layer.output], item) for item in layers]
    return {network.columns[x].tensor: item for x, item in symbols if x in network.columns}


_STATES = {"done": "there", "running": "in work", "to come": "to come", "not seen": "not seen"}


def _is_alias(program: Program, name: str, makers: Mapping[str, LayerState]) -> bool:
    """Return whether the tensor `name` has the same bytes as another tensor that a layer makes."""
    assert program.network is not None
    symbols = program.network.tensors
    return any(symbols.get(other) == symbols[name] for other in makers)


def _overlap(program: Program, one: Tensor, other: Tensor) -> bool:
    """Return whether two tensors of a network have bytes in common.

    Two tensors that are parts of one larger tensor have none: each of them has its own columns
    (ranges of the last axis).
    """
    parts = {} if program.network is None else program.network.columns
    if one.name in parts and other.name in parts and parts[one.name][0] == parts[other.name][0]:
        return False
    return one.address < other.address + other.size and other.address < one.address + one.size
