"""Runs a layer's program in the emulator and reads the layer's outputs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw import execution
from macaw.concordance.layer_tensors import Arrays, LayerTensors
from macaw.emu.core import Listener
from macaw.emu.device import Device
from macaw.errors import InputError
from macaw.lowering.concord.graph import Tensor


def emulate(
    layer: LayerTensors, data: Arrays, listener: Listener | None = None
) -> dict[str, NDArray[Any]]:
    """Run the layer's program on the inputs `data`; return the layer's outputs by name.

    `listener` receives the events of the nnp core. Raises `InputError` for tensors that do not fit
    and `RunError` for a program that does not exit.
    """
    tensors = layer.select(data)
    inputs = layer.program_inputs(data, tensors)
    layer.check_overlaps(tensors)

    def prepare(_index: int, device: Device) -> None:
        for name, tensor in layer.inputs.items():
            if tensor.memory == "Dram":
                values = layer.stored_form(name, tensors)
                device.memory.poke(layer.address(tensor), values.tobytes())
        if listener is not None:
            device.cores["nnp"].listeners.append(listener)

    run = execution.run(layer.program, inputs, device=layer.config, on_start=prepare)
    queue_outputs = [
        run.outputs[item.name].ravel() for item in layer.program.outputs if item.at == "netout"
    ]
    stream = np.concatenate(queue_outputs) if queue_outputs else np.zeros(0, layer.dtype)
    outputs = {}
    for name, tensor in layer.outputs.items():
        values = _stored_output(layer, name, tensor, run.device, stream)
        unpadded = values.reshape(tensor.rows, -1)[:, : tensor.columns]
        outputs[name] = unpadded.reshape(tensor.shape)
    return outputs


def _stored_output(
    layer: LayerTensors, name: str, tensor: Tensor, device: Device, stream: NDArray[Any]
) -> NDArray[Any]:
    """Return the padded elements of the output `tensor`, from external memory or from `stream`.

    `stream` has the elements that nnp has written to NetOutQ.
    """
    count = tensor.rows * layer.padded_columns(tensor)
    if tensor.memory == "Dram":
        data = device.memory.peek(layer.address(tensor), count * layer.dtype.itemsize)
        return np.frombuffer(data, layer.dtype)
    start = tensor.address * layer.native
    values = stream[start : start + count].astype(layer.dtype)
    if len(values) < count:
        raise InputError(
            f"the program's outputs at netout hold {len(stream) // layer.native} native"
            f" vectors; {name} needs {start // layer.native + count // layer.native}",
            ".output NAME, dtype, vectors, elements, at=netout",
        )
    return values
