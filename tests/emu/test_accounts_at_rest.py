"""A run without accountants calls no function of an accountant, and announces nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import numpy as np
import pytest

import macaw
import macaw.emu
from macaw.emu import accounting
from macaw.emu.device import Device
from macaw.execution import configuration_of
from macaw.golden_description import read_description

pytestmark = pytest.mark.once

PROGRAMS = Path(__file__).parents[2] / "programs"
EMU = Path(macaw.emu.__file__).parent.resolve()
FILES = {"accountant.py", "accounting.py", "charges.py", "critical_path.py", "chain_order.py"}


def device_of(sample: str) -> Device:
    made = read_description(PROGRAMS / sample)
    program = macaw.assemble(*made.sources)
    device = Device(configuration_of(program, None))
    device.load(program)
    for name, path in made.inputs.items():
        device.write_tensor(name, np.load(path))
    return device


def called(action: Callable[[], object]) -> set[tuple[str, str]]:
    """The functions that an action calls, by file of `emu` and name."""
    codes = set()

    def note(frame: FrameType, event: str, arg: object) -> None:
        if event == "call":
            codes.add(frame.f_code)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(before)
    paths = {code: Path(code.co_filename).resolve() for code in codes}
    return {
        (paths[code].relative_to(EMU).as_posix(), code.co_name)
        for code in codes
        if paths[code].is_relative_to(EMU)
    }


def of_accounts(functions: set[tuple[str, str]]) -> set[tuple[str, str]]:
    return {
        (file, name) for file, name in functions if Path(file).name in FILES or name == "announce"
    }


@pytest.mark.parametrize(
    "sample", ["six_cores", "fim_host", "nnp_lstm", "layer", "matvec", "sparse_by_cp"]
)
def test_a_run_calls_no_function_of_accounts(sample: str) -> None:
    device = device_of(sample)
    functions = called(lambda: device.run(max_cycles=3000))
    assert len(functions) > 50
    assert of_accounts(functions) == set()


def test_the_files_and_names_are_those_of_accounts() -> None:
    device = device_of("six_cores")
    found = of_accounts(called(lambda: accounting.run(device, 3000)))
    assert {Path(file).name for file, _ in found} >= FILES - {"critical_path.py"}
    assert "announce" in {name for _, name in found}
    assert {path.name for path in EMU.rglob("*.py")} >= FILES
