"""Tensors with a place in a memory unit: the caller writes them there, no program copies them."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import macaw
from macaw.asm.program import Program
from macaw.emu.device import Device
from macaw.emu.faults import DeviceError
from macaw.isa import config
from macaw.isa.memory_map import HALF_SHIFT, UNIT_SHIFT, UNITS

Source = Callable[[str], Path]

HEAD = """
        .device tiny
        .input  x, int8, 64{x}
        .output y, int32, 8{y}
        .core   pe, row={row}
w:      .sparse "weights.npy"[0:8]
        .seq    layer
          ld    activations
          ld    weights
          mac   base=0, acc=0
          st    base=0
        .endseq
        .list   packets
        config  ib=0, layer
        exe     ib=0, last, data=(x, w[0]), out=y
        .endlist
"""
# The image of row 0 into both halves; then the list, as often as is asked for.
OWN = """
        .core   cp
_start: li      s0, {rounds}
        la      a0, image
        dma.copy zero, a0
        la      a0, other
        dma.copy zero, a0
        dma.wait zero
again:  li      a1, 1
        mem.swap a1
        la      a2, packets
        dispatch a1, a2
        li      a3, 1 << 16
        core.wait a3
        addi    s0, s0, -1
        bnez    s0, again
        li      a0, 0
        li      a7, 93
        ecall
        .section .data.cp
        .balign 4
image:  .word   packets, load_address(packets), w + sizeof(w) - packets, 1, 0, 0
other:  .word   packets + (1 << 19), load_address(packets), w + sizeof(w) - packets, 1, 0, 0
"""


@pytest.fixture
def weights(tmp_path: Path) -> np.ndarray:
    values = np.random.default_rng(1).integers(-9, 10, (8, 64)).astype(np.int8)
    values[np.random.default_rng(2).random(values.shape) < 0.6] = 0
    np.save(tmp_path / "weights.npy", values)
    return values


def image(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(-128, 128, 64).astype(np.int8)


@pytest.mark.once
@pytest.mark.parametrize("row", [0, 1])
@pytest.mark.parametrize("x", ["", ", at=unit0", ", at=unit1"])
@pytest.mark.parametrize("y", ["", ", at=unit0", ", at=unit1"])
def test_the_same_results_wherever_they_lie(
    source: Source, weights: np.ndarray, row: int, x: str, y: str
) -> None:
    run = macaw.run(source(HEAD.format(x=x, y=y, row=row)), x=image(3))
    np.testing.assert_array_equal(run.outputs["y"], weights.astype(np.int32) @ image(3))


def test_what_lies_in_its_unit_is_not_copied(source: Source, weights: np.ndarray) -> None:
    """An input in its unit is not copied: the dma moves less, external memory is accessed less."""
    here, outside = (
        macaw.run(source(HEAD.format(x=at, y=at, row=0)), x=image(3)) for at in (", at=unit0", "")
    )
    np.testing.assert_array_equal(here.outputs["y"], outside.outputs["y"])
    size = (
        macaw.assemble(source(HEAD.format(x=", at=unit0", y=", at=unit0", row=0)))
        .section(".pe.0")
        .size
    )
    beats = int(config.load("tiny")["dma.width"])
    assert here.counters["dma"]["external_reads"] == -(-size // beats)
    assert here.counters["dma"]["external_writes"] == 0
    assert outside.counters["dma"]["external_writes"] == 1  # y has 32 bytes
    assert here.cycles < outside.cycles


def test_a_batch_is_a_run_an_item(source: Source, weights: np.ndarray) -> None:
    path = source(HEAD.format(x=", at=unit0", y=", at=unit0", row=0))
    batch = np.stack([image(seed) for seed in range(3)])
    run = macaw.run(path, x=batch)
    np.testing.assert_array_equal(run.outputs["y"], batch.astype(np.int32) @ weights.T)


def own(source: Source, rounds: int) -> Program:
    text = HEAD.format(x=", at=unit0", y=", at=unit0", row=0) + OWN.format(rounds=rounds)
    return macaw.assemble(source(text))


def test_a_cp_part_of_ones_own_finds_them_in_half_0(source: Source, weights: np.ndarray) -> None:
    program = own(source, 1)
    run = macaw.run(program, x=image(5))
    np.testing.assert_array_equal(run.outputs["y"], weights.astype(np.int32) @ image(5))
    # The image as it is copied ends before them.
    assert program.section(".pe.0").end <= program.tensor("x").address


def test_the_second_round_of_ones_own_uses_half_1(source: Source, weights: np.ndarray) -> None:
    """The second round of a user's program uses half 1 of the unit, for which the caller gave no x.

    The caller writes and reads only half 0.
    """
    run = macaw.run(own(source, 2), x=image(5))
    np.testing.assert_array_equal(run.outputs["y"], weights.astype(np.int32) @ image(5))
    y = run.device.program.tensor("y") if run.device.program else None
    assert y is not None
    assert run.device.memory.peek(y.address + (1 << HALF_SHIFT), y.size) == bytes(y.size)


def test_host_writes_and_reads_the_unit_itself(source: Source, weights: np.ndarray) -> None:
    program = own(source, 1)
    device = Device(config.load("tiny"))
    device.load(program)
    device.write_tensor("x", image(7))
    address = program.tensor("x").address
    assert address >> UNIT_SHIFT == UNITS >> UNIT_SHIFT
    assert address >> HALF_SHIFT & 1 == 0
    assert device.memory.peek(address, 64) == image(7).tobytes()
    assert device.run().reason == "exit"
    found = device.memory.peek(program.tensor("y").address, 32)
    assert np.frombuffer(found, "<i4").tolist() == (weights.astype(int) @ image(7)).tolist()


def test_a_device_with_smaller_units_is_refused(source: Source, weights: np.ndarray) -> None:
    text = HEAD.format(x="", y="", row=0) + ".output z, int8, 1024, at=unit0"
    program = macaw.assemble(source(text))
    small = config.parse("[pe]\nrows = 2\nclusters = 2\npes = 4\n[mem]\nunit_half_bytes = 1024")
    with pytest.raises(DeviceError, match="does not fit this device"):
        macaw.run(program, x=image(5), device=small)
