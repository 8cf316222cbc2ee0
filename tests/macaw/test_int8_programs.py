"""Programs with int8 circuits: tensors, tiles, the debugger's registers, and `why`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import macaw
from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.session import Session
from macaw.debugging import DebuggerFiles

pytestmark = pytest.mark.once
DEVICE = macaw.configuration("tiny").changed(
    {"fim.island.0.formats": "int8", "fim.island.0.rz_slices": 16}
)
SOURCE = """
        .device "int8.toml"
        .input  a, int8, 32, at=island0
        .output y, int8, 32, at=island0
        .core   fim, island=0
        .block  banks=0
          mmr   format, int8
          mmr   op, mul
          mmr   rz_shift, 5
          act   0
          rop <- iosa[0]
          rz  <- rop * iosa[0]
          iosa[1] <- rz
          mmr   op, add
        end
"""
X = np.random.default_rng(5).integers(-128, 128, 32).astype(np.int8)
SQUARES = X.astype(int) ** 2
RESULTS = np.minimum(np.rint(SQUARES / 32), 127).astype(np.int8)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "int8.toml").write_text(DEVICE.to_toml())
    (tmp_path / "p.s").write_text(SOURCE)
    return tmp_path / "p.s"


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_numbers_that_are_limited_cause_no_warning(source: Path, engine: str) -> None:
    run = macaw.run(macaw.assemble(source), a=X, engine=engine)
    np.testing.assert_array_equal(run.outputs["y"], RESULTS)
    assert run.outputs["y"].dtype == np.int8
    assert run.cautions == ()
    assert run.counters["fim[0]"]["overflows"] == np.count_nonzero(np.rint(SQUARES / 32) > 127)


@pytest.mark.parametrize("layout", ["dot", "elementwise"])
@pytest.mark.parametrize("side", ["a", "b", "c"])
def test_tiles_are_turned_back(layout: str, side: str) -> None:
    matrix = np.random.default_rng(3).integers(-128, 128, (20, 40)).astype(np.int8)
    tiles = macaw.tiled(matrix, layout=layout, side=side)
    assert tiles.dtype == np.int8
    assert tiles.shape[1] == 32
    np.testing.assert_array_equal(macaw.untiled(tiles, (20, 40), layout=layout, side=side), matrix)
    if (layout, side) == ("dot", "c"):  # 32 numbers, as 32 dots leave them in Rz
        assert tiles[0].tolist() == matrix[:4, :8].reshape(-1).tolist()


@pytest.mark.parametrize(
    ("layout", "formats"), [("outer", "fp16 or fp32 or bf16"), ("tensor", "fp16 or bf16")]
)
def test_layouts_without_tiles_of_int8(layout: str, formats: str, tmp_path: Path) -> None:
    matrix = np.zeros((4, 4), np.int8)
    with pytest.raises(macaw.InputError) as caught:
        macaw.tiled(matrix, layout=layout, side="a")
    assert caught.value.message == f"the layout {layout} takes {formats}, not int8"
    assert not caught.value.hint
    np.save(tmp_path / "m.npy", matrix)
    (tmp_path / "p.s").write_text(f'.core cp\n.data\n.tiles "m.npy", layout={layout}, side=a\n')
    with pytest.raises(macaw.AssemblyError, match=f"the array holds int8; tiles of {layout} take"):
        macaw.load(tmp_path / "p.s")


def test_the_debugger_shows_numbers_and_sums(source: Path) -> None:
    session = Session(macaw.load(source), DEVICE, {"a": X})
    run = Interpreter(session, DebuggerFiles())
    run.execute("continue")
    assert session.read("y").tolist() == RESULTS.tolist()
    assert run.execute("x/4i8 y").rows[0][1:] == tuple(RESULTS[:4].tolist())
    registers = {row[1]: row[4] for row in run.execute("info registers fim[0].0").rows}
    assert registers["rop"] == X.tolist()
    assert registers["rz"][:33] == [*SQUARES.tolist(), 0]
    assert session.read("fim[0].rz.i32[0,0:4]").tolist() == SQUARES[:4].tolist()


def test_origins_of_a_number(source: Path) -> None:
    """`why` names the sum that became the number, and the word that set the shift."""
    session = Session(macaw.load(source), DEVICE, {"a": X})
    run = Interpreter(session, DebuggerFiles())
    run.execute("continue")
    lines = run.execute("why y[2]").lines
    assert lines[0].startswith(f"y[2] = {RESULTS[2]}: fim[0] iosa[1] <- rz at cycle")
    assert any(
        line.startswith("  with rz_shift = 5: fim[0] mmr rz_shift, 5 at cycle") for line in lines
    )
    assert any(
        line.startswith(f"  rz fim[0,0].rz.i32[2] = {SQUARES[2]}: fim[0] rz <- rop * iosa[0]")
        for line in lines
    )
    assert lines[-1] == f"    iosa a[2] = {X[2]}: an input"
    several = run.execute("why y[2:4]").lines
    assert sum(line.startswith("y[2:4] y[") for line in several) == 2
    sums = run.execute("why fim[0].rz.i32[0,3]").lines
    assert f"fim[0,0].rz.i32[3] = {SQUARES[3]}: fim[0] rz <- rop * iosa[0]" in sums[0]


BUFFER = """          mmr   b0_low, y
          mmr   b0_high, y + 32
"""
HOST = """
        .device "int8.toml"
        .input  a, int8, 32, at=island0
        .output y, int8, 32, at=island0
        .output seen, int32, 2
        .core   cp
        la      s0, a
        la      s2, y
        li      t1, 0x20008180          # the mode registers of island 0
        li      t0, 2
        sw      t0, 0(t1)               # op: mul
        li      t0, 1
        sw      t0, 4(t1)               # arrange: dot
        li      t0, 3
        sw      t0, 16(t1)              # format: int8
        li      t0, SHIFT
        sw      t0, 28(t1)              # rz_shift
        fim.send 2, s0, zero            # rop <- iosa[0]
        li      s3, 20
dots:   fim.send 6, s0, zero            # rz <- rop * iosa[0]
        addi    s3, s3, -1
        bnez    s3, dots
        la      t2, seen
        lw      t0, 20(t1)              # rz_slot
        sw      t0, 0(t2)
        lw      t0, 28(t1)
        sw      t0, 4(t2)
        sw      zero, 20(t1)
        fim.send 4, s2, zero            # iosa[1] <- rz
        li      a0, 0
        li      a7, 93
        ecall
"""


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_the_host_computes_in_int8(source: Path, engine: str) -> None:
    """fim.send with the mode registers that the host stores; rz_slot advances past 15."""
    host = source.with_name("host.s")
    host.write_text(HOST.replace("SHIFT", "12"))
    run = macaw.run(macaw.assemble(host), a=X, engine=engine)
    number = round(int(SQUARES.sum()) / 2**12)
    assert 0 < number < 127
    assert run.outputs["y"].tolist() == [number] * 20 + [0] * 12
    assert run.outputs["seen"].tolist() == [20, 12]
    assert run.counters["fim[0]"]["overflows"] == 0
    host.write_text(HOST.replace("SHIFT", "32"))
    with pytest.raises(
        macaw.RunError, match=r"the register rz_shift of fim\[0\] takes 0 to 31, not 32"
    ):
        macaw.run(macaw.assemble(host), a=X, engine=engine)


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_push_moves_numbers_of_int8(source: Path, engine: str) -> None:
    """A push scales, rounds and limits the sums of the slice, as operation 4 does."""
    pushed = SOURCE.replace("iosa[1] <- rz", "push rz")
    pushed = pushed.replace("          act   0", BUFFER + "          act   0")
    source.write_text(pushed)
    run = macaw.run(macaw.assemble(source), a=X, engine=engine)
    np.testing.assert_array_equal(run.outputs["y"], RESULTS)
    assert run.counters["fim[0]"]["overflows"] == np.count_nonzero(np.rint(SQUARES / 32) > 127)
