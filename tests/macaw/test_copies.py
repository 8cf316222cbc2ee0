"""Copies by `pickle` and `copy`, as pools of processes and clusters make them."""

import copy
import multiprocessing
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import macaw as api
from macaw.networks.nnp_network import NnpRun
from tests.macaw.conftest import ROOT

COPIES: tuple[Callable[[Any], Any], ...] = (
    lambda item: pickle.loads(pickle.dumps(item)),
    copy.copy,
    copy.deepcopy,
)
each_copy = pytest.mark.parametrize("copied", COPIES, ids=("pickle", "copy", "deepcopy"))
LAYER = ROOT / "programs/layer/layer.s"
X = np.arange(64, dtype=np.int8)
FAULT = ".core cp\n lw a0, 2(zero)\n"


@each_copy
def test_a_copy_of_a_run(copied: Callable[[Any], Any]) -> None:
    run = api.run(LAYER, x=X)
    other = copied(run)
    np.testing.assert_array_equal(other.outputs["y"], run.outputs["y"])
    assert (other.cycles, other.counters) == (run.cycles, run.counters)
    assert other.device is not run.device or copied is copy.copy
    assert other.device.hash() == run.device.hash()
    np.testing.assert_array_equal(other.device.read_tensor("y"), run.outputs["y"])


@each_copy
@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_a_copy_of_a_device_continues_alone(copied: Callable[[Any], Any], engine: str) -> None:
    program = api.load(LAYER)
    device = api.Device(api.configuration("tiny"), engine=engine, jitter=3)
    device.load(program)
    device.write_tensor("x", X)
    device.run(max_cycles=100)
    other, state = copied(device), device.hash()
    assert (other.engine, other.jitter, other.cycle) == (engine, 3, 100)
    stop = other.run()
    assert device.hash() == state
    assert (device.run(), device.hash()) == (stop, other.hash())


@each_copy
def test_a_copy_of_a_device_without_a_program(copied: Callable[[Any], Any]) -> None:
    device = api.Device(api.configuration("tiny"))
    assert repr(copied(device)) == repr(device)
    assert copied(device).hash() == device.hash()


@each_copy
def test_a_copy_of_an_error_of_a_run(copied: Callable[[Any], Any]) -> None:
    with pytest.raises(api.RunError) as caught:
        api.run(api.assemble(api.Source(FAULT, "a.s")))
    error = copied(caught.value)
    assert (str(error), error.item, error.hint) == (str(caught.value), None, "")
    assert error.stop.fault.kind == "misaligned access"
    assert error.device.stopped.message == error.stop.message


@each_copy
def test_a_copy_of_an_error_about_inputs(copied: Callable[[Any], Any]) -> None:
    with pytest.raises(api.InputError) as caught:
        api.run(LAYER)
    error = copied(caught.value)
    assert (str(error), error.hint) == (
        "1 input not given: x (int8, 64)",
        "x=ARRAY, or a mapping of arrays by name",
    )


def fails(text: str) -> object:
    return api.run(api.assemble(api.Source(text, "a.s")))


@each_copy
def test_a_session_cannot_be_copied(copied: Callable[[Any], Any]) -> None:
    session = api.debug(LAYER, x=X)
    with pytest.raises(TypeError, match=r"^a session cannot be copied; session\.device can$"):
        copied(session)
    session.goto(100)
    assert copied(session.device).hash() == session.device.hash()


def test_another_process_runs_a_program() -> None:
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as pool:
        run = pool.submit(api.run, LAYER, {"x": X}).result()
        np.testing.assert_array_equal(run.outputs["y"], api.run(LAYER, x=X).outputs["y"])
        with pytest.raises(api.RunError, match=r"a\.s:2:2: cp: misaligned access"):
            pool.submit(fails, FAULT).result()


def test_equal_runs() -> None:
    """Runs are equal if they have the same results; a NaN equals itself."""
    first, again, other = (api.run(LAYER, x=x) for x in (X, X, X + 1))
    assert first == again
    assert first != other
    assert first != "y"
    numbers = [np.array([np.nan, zero], np.float32) for zero in (0.0, 0.0, -0.0)]
    runs = [replace(first, outputs={"y": array}) for array in numbers]
    assert runs[0] == runs[1] != runs[2]
    model = ROOT / "programs/network/digits_int8.onnx"
    network = api.compile(model)
    images = {edge.name: np.zeros(edge.shape, edge.dtype) for edge in network.assignment.inputs}
    assert network.run(images) == network.run(images)
    run = NnpRun({"y": numbers[0]}, 12345, {})
    assert run == NnpRun({"y": numbers[1]}, 12345, {}) != NnpRun({"y": numbers[2]}, 12345, {})
    assert repr(run) == "<run: 12,345 cycles; y float32 2>"
