"""Loads the digits network into a device of each engine."""

import numpy as np

from macaw import api, execution
from macaw.emu.device import Device
from macaw.emu.engines import ENGINES
from tests.macaw.conftest import ROOT

MLP = ROOT / "programs" / "digits_mlp"


def digits_devices() -> list[Device]:
    """The digits network with its images, in a device of each engine, the fast one first."""
    program = api.load(str(MLP / "digits_mlp.s"))
    images = np.load(MLP / "images.npy")
    made = []
    for engine in ENGINES:
        device = Device(execution.configuration_of(program), engine=engine)
        device.load(program)
        for tensor in program.inputs:
            device.write_tensor(tensor.name, images.reshape(-1, *tensor.shape)[0])
        made.append(device)
    return made
