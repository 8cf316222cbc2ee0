"""A message names each output that the program does not write, and no other output."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import macaw as api
from tests.macaw.conftest import Macaw

Source = Callable[[str], Path]
# Pages of their own for y and z; w is larger than what is held.
HEAD = ".output y, int32, 1024\n.output z, int32, 1024\n.output w, int32, 8192\n.core cp\n_start:\n"
SAID = "nothing was written to the output '{}'"


@pytest.mark.once
@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("", "yzw"),
        ("la t0, z\n sw zero, 0(t0)\n", "yw"),
        ("la t0, y\n sb zero, 15(t0)\n", "zw"),
        ("la t0, w\n sw zero, 0x100(t0)\n", "yz"),
        ("la t0, w\n li t1, 32764\n add t0, t0, t1\n sw t1, 0(t0)\n", "yz"),
    ],
)
def test_what_is_left(macaw: Macaw, source: Source, text: str, left: str) -> None:
    """An output that is written counts, even if only zeros are written (F20)."""
    source(f"{HEAD}{text} li a0, 0\n li a7, 93\n ecall\n")
    done = macaw("run", "p.s")
    assert done.returncode == 0
    for name in "yzw":
        assert (SAID.format(name) in done.stderr) == (name in left)
    found = json.loads(macaw("run", "p.s", "--json").stdout)
    assert found["unwritten"] == [name for name in "yzw" if name in left]


def test_an_output_that_only_one_item_writes_is_written(source: Source) -> None:
    path = source(
        ".input x, int32, 1\n.output y, int32, 1\n.core cp\n_start: la t0, x\n lw t1, 0(t0)\n"
        " beqz t1, 1f\n la t0, y\n sw t1, 0(t0)\n1: li a0, 0\n li a7, 93\n ecall\n"
    )
    zeros = np.zeros((2, 1), np.int32)
    assert api.run(path, x=zeros).unwritten == ("y",)
    assert api.run(path, x=np.array([[0], [1]], np.int32)).unwritten == ()


def test_the_layer_without_last_is_said_by_the_assembler(macaw: Macaw, layer: Path) -> None:
    layer.write_text(layer.read_text().replace("last, ", ""))
    done = macaw("run", "layer.s", "-i", "x=x.npy")
    assert done.returncode == 0
    assert "nothing in the program writes to the output 'y'" in done.stderr


def test_of_outputs_in_one_page_nothing_is_said_when_one_is_written(source: Source) -> None:
    text = ".output y, int32, 4\n.output z, int32, 4\n.core cp\n_start:{}li a0, 0\n li a7, 93\n ecall\n"
    path = source(text.format(" la t0, y\n sw zero, 0(t0)\n "))
    assert api.run(path).unwritten == ()
    assert api.run(source(text.format(" "))).unwritten == ("y", "z")


def test_outputs_after_one_in_a_queue_are_tracked(source: Source) -> None:
    """Of an output in a queue nothing is said; of the output in memory after it, only if it is due."""
    text = ".device tiny\n.output q, float16, 1, 4, at=netout\n.output y, int32, 4\n.core cp\n"
    text += "_start:{}li a0, 0\n li a7, 93\n ecall\n"
    assert api.run(source(text.format(" la t0, y\n sw zero, 0(t0)\n "))).unwritten == ()
    assert api.run(source(text.format(" "))).unwritten == ("y",)


@pytest.mark.parametrize("place", range(0, 1 << 14, 4096))
def test_each_page_of_an_output_of_several_is_tracked(source: Source, place: int) -> None:
    text = ".output y, int32, 4096\n.core cp\n_start: la t0, y\n li t1, {}\n add t0, t0, t1\n"
    text += " sw zero, {}(t0)\n li a0, 0\n li a7, 93\n ecall\n"
    assert api.run(source(text.format(place, 8))).unwritten == ()


def test_an_output_of_16_kibibytes_is_tracked_and_a_longer_one_is_not(source: Source) -> None:
    """A write to an input in the same page counts as a write to the longer output only."""
    text = (
        ".input x, int32, 1\n.output y, int32, {}\n.core cp\n_start: la t0, x\n"
        " sw zero, 0(t0)\n li a0, 0\n li a7, 93\n ecall\n"
    )
    x = np.ones(1, np.int32)
    assert api.run(source(text.format(4096)), x=x).unwritten == ("y",)
    assert api.run(source(text.format(4097)), x=x).unwritten == ()
