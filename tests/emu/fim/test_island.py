"""Islands by hand: cycles of words, waits of the host, buffers, the state between runs."""

from __future__ import annotations

import numpy as np
import pytest

import macaw
from macaw.asm.assembler import Source, assemble
from macaw.asm.disassembler import disassemble
from macaw.emu.device import Device
from macaw.emu.engines import ENGINES
from macaw.isa import config
from macaw.isa.fim import CORE
from tests.emu.fim.machine import Machine, fetch_times

pytestmark = pytest.mark.once


def test_a_block_by_hand():
    """A block's words come in the cycles calculated here (seed 004 ¶46-47).

    The row is opened in cycle 2. Column 0 is read in cycle 2 + 14, columns 16 to 19 every 4 cycles
    from 20 to 32. The last dot is complete 3 + 4 x 1 cycles after 32. Its column is written in
    cycle 39, and the data end in cycle 39 + 8 + 2; then `end` comes.
    """
    lines = [".block banks=0-3", "mmr op, mul", "mmr arrange, dot", "act 1", "rop <- iosa[0]",
             "rz <- rop * iosa[16:20]", "iosa[31] <- rz", "end"]  # fmt: skip
    machine = Machine(lines)
    seen = fetch_times(machine)
    machine.done()
    assert [seen[n] for n in range(1, 8)] == [0, 1, 2, 3, 17, 33, 49]
    assert machine.island.blocks[0].running is False
    counts = {name: n for name, n in machine.island.counters().items() if n}
    assert counts == {
        "instructions": 7, "operations": 24, "activations": 4, "column_reads": 20,
        "column_writes": 4, "cycles_alu": 6, "waits_t_ccd": 12, "waits_t_rcd": 13,
    }  # fmt: skip


def test_lanes_and_divider_by_hand():
    """Fewer lanes and a slow clock delay a dot (seed 004 ¶47).

    tiny's island 1 has 8 lanes, so 16 products take two of its cycles, and a dot takes 3 + 4 + 1
    cycles. With divider 2, each of these cycles is two device cycles. The last column is requested
    in cycle 22 + 2; tCCDL allows 26; it comes in 30, and the dot is complete in 46.
    """
    lines = [".block banks=0", "mmr op, mul", "mmr arrange, dot", "act 1", "rop <- iosa[0]",
             "rz <- rop * iosa[16:18]", "mmr rz_slot, 0", "gio <- rz", "end"]  # fmt: skip
    machine = Machine(lines, island=1)
    seen = fetch_times(machine)
    machine.done()
    # act at 4; column 0 at 18; the dots at 22 and 26; gio, asked for at 30, at 26 + 16.
    assert [seen[n] for n in range(1, 9)] == [0, 2, 4, 6, 20, 28, 30, 44]


def test_two_blocks_do_not_disturb_each_other():
    """Two blocks, each with its own bank, take the cycles of one block alone (seed 004 ¶46)."""
    body = ["mmr op, mul", "act 0", "rz <- rop * iosa[0:32]", "end"]
    alone = Machine([".block banks=0", *body])
    both = Machine([".block banks=0", *body, ".block banks=1", *body])
    seen = fetch_times(alone), fetch_times(both)
    alone.done(), both.done()
    assert max(seen[0].values()) == max(seen[1].values())


CP = """
        .device tiny
        .output cycles, uint32, 3
        .output values, uint16, 2
        .core   cp
_start: li      s0, 0x40000000
        li      t0, 0x4200              # 3.0
        sh      t0, 0(s0)
        li      a0, 8
        la      a1, blocks
        core.start a0, a1
        csrr    s1, cycle
        li      s2, 0x40010000
        lhu     t1, 0(s2)               # bank 1: nobody works there
        csrr    s3, cycle
        lhu     t2, 32(s0)              # bank 0: its block writes this column
        csrr    s4, cycle
        la      a2, cycles
        sw      s1, 0(a2)
        sw      s3, 4(a2)
        sw      s4, 8(a2)
        la      a2, values
        sh      t1, 0(a2)
        sh      t2, 2(a2)
        li      a0, 0
        li      a7, 93
        ecall
        .core   fim, island=0
blocks: .block  banks=0
          mmr   op, vssqr
          act   0
          loop  20
          rz <- vssqr(iosa[0])
          iosa[1] <- rz
          endloop
        end
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_the_host_waits_for_the_end_of_a_block_and_not_for_other_banks(engine):
    """cp waits for the end of a block only if it reads the block's bank (seed 004 ¶46)."""
    device = Device(config.load("tiny"), engine=engine)
    program = assemble(Source(CP, "host.s"))
    device.load(program)
    ends = []
    device.listen(lambda event: ends.append(event.time), ["fim[0]"])
    assert device.run(100_000).exit_code == 0
    cycles, values = (next(x for x in program.tensors if x.name == n) for n in ("cycles", "values"))
    started, other, own = np.frombuffer(device.memory.peek(cycles.address, 12), np.uint32)
    assert np.frombuffer(device.memory.peek(values.address, 4), np.float16).tolist() == [0.0, 9.0]
    # Bank 1: its row is opened (14), read (RL 20, burst 2); the loads themselves take a few cycles.
    assert started + 36 <= other < started + 50
    assert other < max(ends) <= own


DMA = """
        .device tiny
        .core   cp
_start: li      a0, 8
        la      a1, blocks
        core.start a0, a1
        la      a0, into
        dma.copy zero, a0
        la      a0, back
        dma.copy zero, a0
        dma.wait zero
        li      a0, 0
        li      a7, 93
        ecall
        .data
        .balign 4
into:   .word   0x40000000, from, 128, 1, 0, 0
back:   .word   to, 0x40000000, 128, 1, 0, 0
        .balign 32
from:   .fill   32, 4, 0x01020304
to:     .space  128
        .word   to
        .core   fim, island=0
blocks: .block  banks=0
          act   0
          gio <- iosa[0]
          loop  40
          iosa[0:4] <- gio
          endloop
        end
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_a_transfer_waits_for_the_end_of_a_block_and_loses_nothing(engine):
    """A transfer waits for the end of a block, and copies all results of it (seed 004 ¶46)."""
    device = Device(config.load("tiny"), engine=engine)
    program = assemble(Source(DMA, "dma.s"))
    device.load(program)
    assert device.run(100_000).exit_code == 0
    expected = (0x01020304).to_bytes(4, "little") * 32
    assert device.memory.peek(0x40000000, 128) == expected
    assert device.memory.peek(program.symbol("to").value, 128) == expected
    assert device.cores["fim[0]"].counters()["host_columns"] == 8


def test_a_buffer_where_a_block_works_closes_its_row():
    """A push into bank 2 closes the open row of the bank's block; the block opens it again."""
    lines = [".block banks=0", "mmr b0_low, 0x40020400", "mmr b0_high, 0x40020440", "act 0", "gio <- iosa[0]",
             "push gio", "push gio", "end",
             ".block banks=2", "mmr op, add", "act 0", "loop 40", "rop <- iosa[0]", "rz <- rop + gio",
             "iosa[1] <- rz", "endloop", "end"]  # fmt: skip
    machine = Machine(lines)
    machine.put(0, 0, 0, np.arange(16, dtype=np.float16))
    machine.put(2, 0, 0, np.full(16, 7, np.float16))
    machine.done()
    assert machine.get(2, 1, 0, 32).tolist() == [*range(16)] * 2
    assert machine.get(2, 0, 1, 16).tolist() == [7.0] * 16
    assert machine.island.counters()["reopened"] == 2  # once behind each push


def test_registers_begin_at_0_and_what_circuits_hold_stays():
    """A block starts with all `mmr` registers at 0; Rop, Rz and GIO keep values (seed 004 ¶47)."""
    machine = Machine(
        [".block banks=0", "mmr op, mul", "mmr rz_slot, 3", "act 0", "rop <- iosa[0]", "end"]
    )
    machine.put(0, 0, 0, np.arange(16, dtype=np.float16))
    machine.done()
    assert machine.island.blocks[0].registers[:6] == [2, 0, 0, 0, 0, 3]
    machine.island.start(machine.program.section(".fim.0").address, machine.device.cycle + 1)
    assert machine.island.blocks[0].registers == [0] * 8
    assert machine.island.state.rop[0].view(np.float16).tolist() == list(range(16))


def test_all_of_a_block_get_one_column():
    lines = [".block banks=0", "mmr b0_low, 0x40030000", "mmr b0_high, 0x40030060", "act 0",
             "gio <- iosa[1]", "push gio", "gio <- iosa[2]", "push gio", "gio <- iosa[3]", "push gio", "end",
             ".block banks=1-2", "pull rop, all", "pull gio", "end"]  # fmt: skip
    machine = Machine(lines)
    for column in range(4):
        machine.put(0, 0, column, np.full(16, column, np.float16))
    machine.done()
    state = machine.island.state
    assert state.rop[1:3].view(np.float16)[:, 0].tolist() == [1, 1]
    assert state.gio[1:3].view(np.float16)[:, 0].tolist() == [2, 3]


TENSORS = """
        .device tiny
        .input  rows, float16, 32, 16, at=island0     # row 0 of bank 0
        .output c, float16, 16, at=island0            # column 0 of row 1
        .core   fim, island=0
        .block  banks=0
          mmr   op, mul
          mmr   arrange, dot
          act   0
          rop <- iosa[0]
          rz <- rop * iosa[16:32]
          act   1
          iosa[0] <- rz
        end
"""


def test_tensors_in_an_island():
    """A program's tensors are in the island's memory; the host accesses them (seed 004 ¶46)."""
    program = macaw.assemble(macaw.Source(TENSORS, "tensors.s"))
    assert [item.address for item in program.tensors] == [0x40000000, 0x40000400]
    rows = np.random.default_rng(3).integers(-4, 5, (32, 16)).astype(np.float16)
    found = macaw.run(program, rows=rows).outputs["c"]
    assert found.tolist() == (rows[16:].astype(int) @ rows[0].astype(int)).tolist()
    text = disassemble(program)
    again = assemble(Source(text, "again.s"))
    assert again.tensors == program.tensors
    assert [x.data for x in again.sections] == [x.data for x in program.sections]


def test_the_host_sees_the_pointers_of_a_buffer():
    """The host reads start and end pointers of a buffer (seed 004 ¶40)."""
    lines = [".block banks=0", "mmr b2_low, 0x40030000", "mmr b2_high, 0x40030060", "push gio, 2",
             "push gio, 2", "pull rop, 2", "end"]  # fmt: skip
    machine = Machine(lines)
    machine.done()
    rows = {row.name: row.address for row in CORE.registers}
    found = [
        machine.device.memory.registers.read(
            0x20008000 + rows[f"b2_{part}"], 4, machine.device.cycle
        )
        for part in ("low", "high", "start", "end")
    ]
    assert found == [0x40030000, 0x40030060, 0x40030020, 0x40030040]


COPIES = {0: ("gio", "iosa"), 1: ("iosa", "gio"), 2: ("rop", "iosa"), 3: ("rop", "gio"),
          4: ("iosa", "rz"), 5: ("gio", "rz"), 9: ("rop", "rz")}  # fmt: skip


@pytest.mark.parametrize("number", COPIES)
@pytest.mark.parametrize("engine", ENGINES)
def test_operations_that_copy(number, engine):
    """An operation of Fig. 1C that copies changes only its target (seed 004 ¶47)."""
    lines = [".block banks=0", "mmr op, mul", "act 0", "gio <- iosa[1]", "rop <- iosa[2]",
             "rz <- iosa[3] * gio", f"fim {number}{', 5' if 'iosa' in COPIES[number] else ''}", "end"]  # fmt: skip
    machine = Machine(lines, engine=engine)
    row = np.arange(512, dtype=np.float16).reshape(32, 16)
    machine.put(0, 0, 0, row)
    machine.done()
    held = {"gio": row[1], "rop": row[2], "rz": row[3] * row[1], "iosa": row[5]}
    to, source = COPIES[number]
    held[to] = held[source]
    state = machine.island.state
    for name in ("gio", "rop", "rz"):
        found = getattr(state, name)[0].view(np.float16)[:16]
        np.testing.assert_array_equal(found, held[name])
    np.testing.assert_array_equal(machine.get(0, 0, 5, 16), held["iosa"])


@pytest.mark.parametrize("engine", ENGINES)
def test_a_dot_is_one_number(engine):
    """A dot gives one number and takes one slot of Rz (seed 004 ¶40, ¶42, ¶56)."""
    lines = [".block banks=0", "mmr op, mul", "mmr arrange, dot", "act 0", "rop <- iosa[0]",
             "rz <- rop * iosa[16]", "end"]  # fmt: skip
    machine = Machine(lines, engine=engine)
    row = np.arange(512, dtype=np.float16).reshape(32, 16) % 5
    machine.put(0, 0, 0, row)
    machine.done()
    rz = machine.island.state.rz[0].view(np.float16)
    assert rz[0] == float(row[0] @ row[16])
    assert not rz[1:].any()


@pytest.mark.parametrize("engine", ENGINES)
def test_several_products_of_one_open_row(engine):
    """AB, A'B and AB' of the same tiles need one open row and no copy (seed 004 ¶13, ¶58, ¶47)."""
    lines = [".block banks=0", "mmr op, mul", "mmr arrange, tensor", "mmr rz_step, 1", "act 0",
             "rop <- iosa[0]", "rz <- rop * iosa[16]", "mmr transpose, a", "rz <- rop * iosa[16]",
             "mmr transpose, b", "rz <- rop * iosa[16]", "end"]  # fmt: skip
    changes: dict[str, int | str] = {
        "fim.island.0.arrangements": "tensor transposed",
        "fim.island.0.rz_slices": 4,
    }
    machine = Machine(lines, config.load("tiny").changed(changes), engine)
    a, b = np.random.default_rng(4).integers(-4, 5, (2, 4, 4)).astype(np.float16)
    machine.put(0, 0, 0, a)
    machine.put(0, 0, 16, b)
    machine.done()
    rz = machine.island.state.rz[0].view(np.float16)[:48].reshape(3, 4, 4)
    for found, expected in zip(rz, (a @ b, a.T @ b, a @ b.T), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert machine.island.counters()["activations"] == 1


@pytest.mark.parametrize("engine", ENGINES)
def test_tiles_of_a_row_and_of_a_column_by_fig_3a(engine):
    """The tiles of C = A B are the sums of Fig. 3A's products of tiles (seed 004 ¶55).

    Tile A00 is multiplied by tiles B00 to B03, A01 by B10 to B13, and so on.
    """
    lines = [".block banks=0", "mmr op, mul", "mmr arrange, tensor", "act 0"]
    for i in range(4):
        for k in range(4):
            lines += [f"mmr accumulate, {int(k > 0)}", "mmr rz_step, 1", "mmr rz_slot, 0",
                      f"rop <- iosa[{4 * i + k}]", f"rz <- rop * iosa[{16 + 4 * k}:{20 + 4 * k}]"]  # fmt: skip
        lines += [
            "mmr rz_slot, 0",
            "act 1",
            f"iosa[{4 * i}:{4 * i + 4}] <- rz",
            "mmr rz_slot, 0",
            "act 0",
        ]
    changes: dict[str, int | str] = {
        "fim.island.0.arrangements": "tensor",
        "fim.island.0.rz_slices": 4,
    }
    machine = Machine([*lines, "end"], config.load("tiny").changed(changes), engine)
    a, b = np.random.default_rng(5).integers(-4, 5, (2, 16, 16)).astype(np.float16)

    def tiles(matrix):
        return np.ascontiguousarray(matrix.reshape(4, 4, 4, 4).swapaxes(1, 2))

    machine.put(0, 0, 0, tiles(a))
    machine.put(0, 0, 16, tiles(b))
    machine.done()
    found = machine.get(0, 1, 0, 256).reshape(4, 4, 4, 4).swapaxes(1, 2).reshape(16, 16)
    np.testing.assert_array_equal(found, a @ b)


def test_the_adder_tree_of_tensor_products_is_smaller():
    """A dot has four levels of adders, a product of 4 x 4 matrices two, an outer product none.

    With a lane for each product, an operation takes its function's cycles and one for each level
    (seed 004 ¶57-58).
    """
    changes: dict[str, int | str] = {"fim.island.0.arrangements": "dot outer tensor", "fim.island.0.lanes": 256,
               "fim.island.0.rz_slices": 16}  # fmt: skip
    found = {}
    for name in ("dot", "outer", "tensor"):
        lines = [".block banks=0", "mmr op, mul", f"mmr arrange, {name}", "act 0",
                 "rz <- rop * gio", "gio <- rz", "end"]  # fmt: skip
        machine = Machine(lines, config.load("tiny").changed(changes))
        seen = fetch_times(machine)
        machine.done()
        found[name] = seen[6] - seen[4] - 1  # `end` follows `gio <- rz`, which waits for Rz
    assert found == {"dot": 3 + 4, "outer": 3, "tensor": 3 + 2}


COLUMN_LATENCY = config.load("tiny").changed({"fim.t_column": 9})


@pytest.mark.parametrize("engine", ENGINES)
def test_the_way_of_a_column_by_hand(engine):
    """If columns take 9 cycles to the circuit, results come later, but commands in the same cycles.

    The program is that of `test_a_block_by_hand`: commands in cycles 16 and 20 to 32. The last dot
    begins in cycle 32 + 9 and is complete 7 cycles later, in 48. Its column is written then, and
    the data end in cycle 48 + 8 + 2.
    """
    lines = [".block banks=0-3", "mmr op, mul", "mmr arrange, dot", "act 1", "rop <- iosa[0]",
             "rz <- rop * iosa[16:20]", "iosa[31] <- rz", "end"]  # fmt: skip
    machine = Machine(lines, COLUMN_LATENCY, engine)
    seen = fetch_times(machine)
    machine.done()
    assert [seen[n] for n in range(1, 8)] == [0, 1, 2, 3, 17, 33, 58]


@pytest.mark.parametrize("engine", ENGINES)
def test_an_operation_without_column_waits_for_columns_on_their_way(engine):
    """An operation without a column waits until columns read before have reached the circuit.

    Column 0 is read in cycle 15 and reaches the circuit in cycle 24. So the product of rop comes in
    cycle 25, not in 16, and is complete in 28. The second column is read in cycle 29, so the push
    of gio begins in 39.
    """
    lines = [".block banks=0", "mmr op, mul", "act 1", "rop <- iosa[0]", "rz <- rop * gio",
             "rop <- rz", "gio <- iosa[1]", "mmr b0_low, 0x40010000", "mmr b0_high, 0x40010400",
             "push gio", "end"]  # fmt: skip
    machine = Machine(lines, COLUMN_LATENCY, engine)
    seen = fetch_times(machine)
    machine.done()
    assert [seen[n] for n in range(1, 8)] == [0, 1, 2, 16, 26, 29, 30]
    assert seen[9] == 39
    assert machine.island.counters()["waits_t_column"] == (25 - 16) + (39 - 32)
