"""Cycles of nnp by hand, on tiny (N 4, rate 2, 2 cycles a pass, one engine): docs/timing-nnp.md."""

from __future__ import annotations

import struct

import pytest

from macaw.emu.device import Device
from macaw.emu.engines import ENGINES
from macaw.emu.nnp.schedules.chain import Chain
from macaw.emu.nnp.schedules.timing import Timing
from macaw.isa import config, nnp
from macaw.isa.codec import decode
from macaw.isa.memory_map import EXTERNAL
from tests.emu.nnp.machine import (
    ACTIVATE,
    ADD,
    CROSSBAR,
    ENTRY,
    EXTERNAL_LATENCY,
    MFU_CROSSBARS,
    MULTIPLY,
    PRODUCT,
    READ,
    SOFTMAX,
    WRITE,
    nnp_device,
    processor_of,
)


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def ready(device: Device, file: str, entry: int) -> int:
    """The first cycle in which an entry can be read."""
    return int(getattr(processor_of(device).state, f"ready_{file}")[entry])


def test_a_copy(engine: str) -> None:
    # v_rd issues at 0, v_wr at 1, which begins the chain: read at 1, then every 2.
    device = nnp_device("SetCols(3)\nv_rd AddSubVrf0, 0\nv_wr MulVrf, 4\nend_chain\n", engine)
    stop = device.run(1000)
    first = 2 + READ + MFU_CROSSBARS + WRITE + 2  # s_wr 0, v_rd 1, v_wr 2
    assert [ready(device, "mul_vrf", k) for k in (4, 5, 6)] == [first, first + 2, first + 4]
    # end_chain at 3: the core ends with the last write; the toy goes on in the cycle after.
    assert stop.reason == "exit"
    assert stop.cycle == first + 4 + 3  # join one later, then exit, which ends in the next cycle


def test_a_product(engine: str) -> None:
    # 2 x 3 tiles, 1 engine: 6 passes of 2. Rows leave with passes 2 and 5.
    source = "SetRowsCols(2, 3)\nv_rd InitialVrf, 0\nmv_mul 0\nv_wr MulVrf, 0\nend_chain\n"
    device = nnp_device(source, engine)
    device.run(1000)
    read = 4  # two s_wr at 0 and 1, v_rd 2, mv_mul 3, v_wr 4
    begin = read + READ  # vectors 1 and 2 come 2 and 4 later, for passes 1 and 2
    behind = PRODUCT + MFU_CROSSBARS + WRITE + 2
    assert ready(device, "mul_vrf", 0) == begin + 2 * 2 + behind
    assert ready(device, "mul_vrf", 1) == begin + 5 * 2 + behind
    # The page's rule: the sum of the depths and the slowest unit, the multiplier's 12.
    assert ready(device, "mul_vrf", 1) == read + READ + PRODUCT + MFU_CROSSBARS + WRITE + 6 * 2


def test_engines_share_the_tiles(engine: str) -> None:
    """Four tile engines share the tiles of a product in two passes (seed 003 ¶46)."""
    # 4 engines: 2 passes; pass 0 has columns 0 to 2, so it waits for the last vector.
    source = "SetRowsCols(2, 3)\nv_rd InitialVrf, 0\nmv_mul 0\nv_wr MulVrf, 0\nend_chain\n"
    device = nnp_device(source, engine, nnp__engines=4)
    device.run(1000)
    begin = 4 + READ + 2 * 2
    behind = PRODUCT + MFU_CROSSBARS + WRITE + 2
    assert ready(device, "mul_vrf", 0) == begin + behind  # tiles 0 to 2: pass 0
    assert ready(device, "mul_vrf", 1) == begin + 2 + behind


@pytest.mark.parametrize(
    ("mapping", "passes", "waits"),
    [("rows", (2, 2, 5), 0), ("columns", (1, 3, 5), 2), ("tiles", (1, 2, 4), 2)],
)
def test_engines_take_tiles_by_their_row_or_column(
    mapping: str, passes: tuple[int, ...], waits: int, engine: str
) -> None:
    """Two tile engines multiply 3 x 3 tiles (seed 003 ¶46; which engine takes a tile is ours).

    By rows engine 0 has rows 0 and 2, engine 1 has row 1: rows 0 and 1 leave with pass 2, row 2
    with pass 5. By columns engine 0 has columns 0 and 2: a row takes two passes. By tiles, tile k
    is in pass k // 2. Vectors come 2 cycles apart, as passes do. So if pass 0 has two columns, it
    waits for the second vector.
    """
    source = "SetRowsCols(3, 3)\nv_rd InitialVrf, 0\nmv_mul 0\nv_wr MulVrf, 0\nend_chain\n"
    device = nnp_device(source, engine, nnp__engines=2, nnp__mapping=mapping)
    device.run(1000)
    behind = PRODUCT + MFU_CROSSBARS + WRITE + 2
    begin, free = 4 + READ + waits, 0
    for row, number in enumerate(passes):
        leaves = max(begin + 2 * number, free)
        free = leaves + 2
        assert ready(device, "mul_vrf", row) == leaves + behind


def test_the_input_half_hides_behind_the_tail(engine: str) -> None:
    """A product that needs an earlier result waits, and so do the products after it.

    An independent product before it does not wait (seed 003 ¶34).
    """
    source = """
        v_rd InitialVrf, 0
        mv_mul 0
        v_wr InitialVrf, 1
        v_rd InitialVrf, 2
        mv_mul 1
        v_wr MulVrf, 0
        v_rd InitialVrf, 1
        mv_mul 2
        v_wr MulVrf, 1
        end_chain
    """
    device = nnp_device(source, engine)
    device.run(1000)
    whole = READ + PRODUCT + MFU_CROSSBARS + WRITE + 2
    assert ready(device, "initial", 1) == 2 + whole
    assert ready(device, "mul_vrf", 0) == 5 + whole  # three instructions later
    assert ready(device, "mul_vrf", 1) == 2 + whole + whole  # read when it is there


def test_blocks_add_their_depths(engine: str) -> None:
    source = """
        v_rd MulVrf, 0
        v_sigm
        vv_mul 4
        vv_add AddSubVrf0, 0
        vv_max AddSubVrf1, 0
        v_tanh
        v_wr MulVrf, 9
        end_chain
    """
    device = nnp_device(source, engine)
    device.run(1000)
    mfu0 = CROSSBAR + ACTIVATE + MULTIPLY + ADD
    mfu1 = CROSSBAR + ADD + ACTIVATE
    assert ready(device, "mul_vrf", 9) == 6 + READ + mfu0 + mfu1 + WRITE + 2


def test_an_operand_is_waited_for(engine: str) -> None:
    source = """
        v_rd InitialVrf, 0
        mv_mul 0
        v_wr AddSubVrf1, 0
        v_rd MulVrf, 0
        vv_add AddSubVrf1, 0
        v_wr MulVrf, 1
        end_chain
    """
    device = nnp_device(source, engine)
    device.run(1000)
    operand = 2 + READ + PRODUCT + MFU_CROSSBARS + WRITE + 2
    assert ready(device, "add_sub_vrf1", 0) == operand
    assert ready(device, "mul_vrf", 1) == operand + CROSSBAR + ADD + WRITE + 2


def test_softmax_waits_for_all_vectors(engine: str) -> None:
    source = "SetCols(3)\nSetValid(9)\nv_rd MulVrf, 0\nv_softmax\nv_wr MulVrf, 9\nend_chain\n"
    device = nnp_device(source, engine)
    device.run(1000)
    last = 4 + 2 * 2 + READ  # the third vector comes to MFU0
    done = last + CROSSBAR + SOFTMAX + CROSSBAR + WRITE + 2
    assert [ready(device, "mul_vrf", k) for k in (9, 10, 11)] == [done, done + 2, done + 4]


def test_iterations_follow_one_another(engine: str) -> None:
    """Iterations follow one another at the multiplier's rate (seed 003 ¶53-55)."""
    # Three products of 4 passes: the multiplier takes 8 cycles each, reading 4.
    source = """
        SetRowsCols(2, 2)
        SetIterations(3)
        v_rd_inc InitialVrf, 0, 2
        mv_mul 0
        v_wr_inc MulVrf, 0, 2
        end_chain
    """
    device = nnp_device(source, engine)
    stop = device.run(1000)
    begin = 5 + READ
    behind = PRODUCT + MFU_CROSSBARS + WRITE + 2
    ends = [ready(device, "mul_vrf", 2 * k + 1) for k in range(3)]
    assert ends == [begin + 3 * 2 + behind + 8 * k for k in range(3)]
    assert stop.cycle == ends[-1] + 3
    assert device.counters()["nnp"]["tiles"] == 12


def test_a_slow_reader_and_a_slow_writer(engine: str) -> None:
    """Chains wait for a slow source and a slow target in external memory (seed 003 ¶47)."""
    # fp32 vectors of 16 bytes over a width of 4: 4 beats, 1 channel: 4 cycles a vector.
    source = "SetCols(2)\nv_rd Dram, 0\nv_wr MulVrf, 0\nv_rd MulVrf, 0\nv_wr Dram, 8\nend_chain\n"
    changes = {"mem__external_width": 4, "nnp__host_format": "fp32"}
    device = nnp_device(source, engine, **changes)
    device.run(1000)
    # Reading is slower by 2 than MFU0: its vector begins there 2 later.
    first = 2 + READ + EXTERNAL_LATENCY + (4 - 2) + MFU_CROSSBARS + WRITE + 2
    assert [ready(device, "mul_vrf", k) for k in (0, 1)] == [first, first + 4]
    # The second chain reads at `first` and `first` + 4; it writes for 4 cycles each.
    last = first + 4 + READ + MFU_CROSSBARS + WRITE + 4
    assert processor_of(device).state.stored == last + EXTERNAL_LATENCY
    counters = device.counters()["nnp"]
    assert (counters["external_reads"], counters["external_writes"]) == (8, 8)
    # Two channels take two beats a cycle.
    device = nnp_device(source, engine, nnp__vector_channels=2, **changes)
    device.run(1000)
    assert (
        ready(device, "mul_vrf", 1) == 2 + READ + EXTERNAL_LATENCY + MFU_CROSSBARS + WRITE + 2 + 2
    )


def test_dram_is_read_when_earlier_chains_have_written(engine: str) -> None:
    source = "v_rd MulVrf, 0\nv_wr Dram, 8\nv_rd Dram, 0\nv_wr MulVrf, 1\nend_chain\n"
    device = nnp_device(source, engine)
    device.run(1000)
    stored = 1 + READ + MFU_CROSSBARS + WRITE + 2 + EXTERNAL_LATENCY
    assert processor_of(device).state.stored == stored
    assert (
        ready(device, "mul_vrf", 1) == stored + READ + EXTERNAL_LATENCY + MFU_CROSSBARS + WRITE + 2
    )


def test_tiles(engine: str) -> None:
    """A tile moves every `rate` cycles; a product waits for its first tile (seed 003 ¶47)."""
    # A tile is 32 bytes: one beat, so the rate of 2; two of them. The product waits for the first.
    source = """
        SetCols(2)
        m_rd Dram, 0
        m_wr MatrixRf, 0
        v_rd InitialVrf, 0
        mv_mul 0
        v_wr MulVrf, 0
        m_rd Dram, 0
        m_wr MatrixRf, 1
        end_chain
    """
    device = nnp_device(source, engine)
    device.run(1000)
    first = 2 + READ + EXTERNAL_LATENCY + WRITE + 2  # s_wr 0, m_rd 1, m_wr 2
    # pass 0 at `first`, pass 1 with tile 1 at `first` + 2, which is there by then
    assert ready(device, "mul_vrf", 0) == first + 2 + PRODUCT + MFU_CROSSBARS + WRITE + 2
    assert int(processor_of(device).state.used_matrix[1]) == first + 4
    # Tiles 1 and 2 are written again when the product is through with tile 1.
    assert ready(device, "matrix", 1) == first + 4 - READ + READ + EXTERNAL_LATENCY + WRITE + 2


def test_a_divider(engine: str) -> None:
    device = nnp_device("v_rd MulVrf, 0\nv_wr MulVrf, 1\nend_chain\n", engine, nnp__divider=3)
    device.run(1000)
    assert ready(device, "mul_vrf", 1) == 3 * (1 + READ + MFU_CROSSBARS + WRITE + 2)


PUSH = tuple(("store", 0x3038_0000 + 4 * k, 4, 0x3C00_3C00) for k in range(2))


def test_queues(engine: str) -> None:
    # The toy starts nnp at 0, works from 1 to 50 and stores two words at 51 and 52.
    source = "v_rd NetInQ\nv_wr NetOutQ\nend_chain\n"
    script = (("work", 50), *PUSH, ("load", 0x303C_0000, 4), ("load", 0x303C_0004, 4))
    device = nnp_device(source, engine, script)
    log = device.cores["toy0"].state.log
    stop = device.run(1000)
    assert stop.reason == "exit", stop
    stores = [time for time, result in log if isinstance(result, tuple) and result[0] == "stored"]
    assert stores == [51, 52]
    there = 53 + READ + MFU_CROSSBARS + WRITE + 2  # popped in the cycle after the push
    assert device.counters()["nnp"]["cycles_waiting"] == 53 - 1
    loads = [result for _, result in log if isinstance(result, tuple) and result[0] != "stored"]
    assert loads[0] == (0x3C00_3C00, there + 2)  # mem.onchip_latency


def test_a_full_queue_holds_up_an_iteration(engine: str) -> None:
    source = "SetIterations(3)\nv_rd MulVrf, 0\nv_wr NetOutQ\nend_chain\n"
    script = (("work", 200), ("load", 0x303C_0000, 4), ("load", 0x303C_0004, 4))
    device = nnp_device(source, engine, script, nnp__net_out=2)
    device.run(202)
    state = processor_of(device).state
    processor_of(device).sync()
    assert (state.iteration, len(state.net_out)) == (2, 2)
    assert state.waiting[0] == "room in NetOutQ"
    device.run(1000)
    # Loads at 201 and at 203, which frees a vector; the third begins at 204.
    assert state.net_out[-1][0] == 204 + READ + MFU_CROSSBARS + WRITE + 2
    assert device.counters()["nnp"]["cycles_waiting"] == 204 - (2 + 4)


BIG = """SetCols(4)
v_rd MulVrf, 0
v_wr NetOutQ
SetCols(1)
v_rd MulVrf, 0
v_wr MulVrf, 9
end_chain
"""


def test_an_iteration_larger_than_the_queue(engine: str) -> None:
    """An iteration with four vectors for a queue of two waits for room (seed 003 ¶43)."""
    loads = tuple(("load", 0x303C_0000 + 4 * (k % 2), 4) for k in range(8))
    device = nnp_device(BIG, engine, (("work", 200), *loads), nnp__net_out=2)
    state = processor_of(device).state

    def vectors(until: int) -> tuple[list[int], list[int]]:
        """Run to a cycle; return the cycles in which vectors are ready.

        The first list is of vectors in NetOutQ, the second of vectors for which it has no room.
        """
        device.run(until=until)
        return [time for time, _ in state.net_out], [time for time, _ in state.unsent]

    # Read at 2, 4, 6, 8, and there as in a queue that has room for them.
    first = 2 + READ + MFU_CROSSBARS + WRITE + 2
    assert vectors(200) == ([first, first + 2], [first + 4, first + 6])
    assert state.launched
    processor_of(device).sync()
    assert state.waiting[0] == "room in NetOutQ for 2 of the iteration's 4 vectors"
    # Loads at 201 and 203 take the first vector; nnp sees the room at 204, and writes for 2 cycles.
    assert vectors(206) == ([first + 2, 206], [first + 6])
    # The same of those at 205 and 207: the last one is there at 210, and the core goes on at 209.
    assert vectors(209) == ([206, 210], [])
    assert device.run(1000).reason == "exit"
    assert (
        ready(device, "mul_vrf", 9) == 211 + READ + MFU_CROSSBARS + WRITE + 2
    )  # s_wr 209, v_rd, v_wr
    assert device.counters()["nnp"]["cycles_waiting"] == 208 - 2


def test_an_iteration_larger_than_the_queue_that_nobody_empties(engine: str) -> None:
    """If no core empties NetOutQ, the run ends as a deadlock (seed 003 ¶43).

    The report names the instruction's address, and says that nnp waits for room in NetOutQ.
    """
    message = nnp_device(BIG, engine, nnp__net_out=3).run(1000).message
    assert message.startswith("deadlock: ")
    place = "nnp at 0x30300008 waits for room in NetOutQ for 1 of the iteration's 4 vectors"
    assert place in message


def test_deadlocks(engine: str) -> None:
    device = nnp_device("v_rd NetInQ\nv_wr MulVrf, 0\nend_chain\n", engine)
    message = device.run(1000).message
    assert message.startswith("deadlock: toy0")
    assert "nnp at 0x30300004 waits for a vector in NetInQ since cycle 1" in message
    device = nnp_device(
        "SetIterations(2)\nv_rd MulVrf, 0\nv_wr NetOutQ\nend_chain\n", engine, nnp__net_out=1
    )
    assert "nnp at 0x30300008 waits for room in NetOutQ since cycle 4" in device.run(1000).message


COPY = (0x0201_0000, 0x0501_0001)  # v_rd MulVrf, 0; v_wr MulVrf, 1
END = 0xFF00_0000


@pytest.mark.parametrize(
    ("words", "kind", "message", "at"),
    [
        (COPY, "illegal instruction", "a program ends with end_chain", 2),
        ((*COPY, END + 1), "reserved bit set", "bits 0x1 of end_chain must be zero", 2),
        ((0x1000_0000, END), "broken chain", "v_rd_inc writes nothing: v_wr is missing", 1),
        ((0x0000_0001, END), "illegal instruction", "no register has the number 0", 0),
        ((0x0001_0000, END), "broken chain", "rows is at least 1, not 0", 0),
        ((0x0201_0000, END), "broken chain", "writes nothing: v_wr is missing", 1),
        ((0x0201_0000, 0x0501_0000, END), "broken chain", "entry 0 of MulVrf, which v_rd", 1),
        (
            (0x0201_00FF, 0x0500_0000, 0x0201_0100, 0x0500_0000),
            "broken chain",
            "needs entry 256 of MulVrf",
            2,
        ),
        ((0x0201_0000, 0x0500_FFFF, END), "out-of-range access", "Dram 65535 from base", 1),
        ((0x0200_FFFF, 0x0501_0000, END), "out-of-range access", "read of 8 bytes at", 0),
        ((0x0300_FFFF, 0x0604_0000, END), "out-of-range access", "read of 32 bytes at", 0),
        ((0x0304_0000, 0x0600_FFFF, END), "out-of-range access", "write of 32 bytes at", 1),
    ],
)
def test_faults(engine: str, words: tuple[int, ...], kind: str, message: str, at: int) -> None:
    device = nnp_device("end_chain\n", engine, mem__external_bytes=1 << 20)
    device.memory.poke(ENTRY, struct.pack(f"<{len(words)}I", *words))
    processor_of(device).state.base = EXTERNAL + (1 << 20) - 8 * 1024
    stop = device.run(1000)
    assert stop.fault is not None, stop
    assert stop.fault.kind == kind
    assert message in stop.message
    if "missing" not in message:
        assert stop.fault.address == ENTRY + 4 * at


def test_a_start_outside_of_the_instruction_memory() -> None:
    device = nnp_device("end_chain\n", script=[("join", 8), ("start", 3, EXTERNAL)])
    assert "instructions of nnp begin at 0x30300000" in device.run(1000).message


def test_base_is_a_register_of_the_memory_map(engine: str) -> None:
    script = (("store", 0x2000_3100, 4, EXTERNAL + 64),)
    device = nnp_device("v_rd Dram, 0\nv_wr MulVrf, 0\nend_chain\n", engine, script)
    device.memory.poke(EXTERNAL + 64, bytes(range(8)))
    assert device.run(1000).reason == "exit"
    # The chain begins at 1, and so does the store, whose core comes first.
    assert processor_of(device).state.mul_vrf[0].tobytes() == bytes(range(8))
    script = (("store", 0x2000_3100, 4, EXTERNAL + 62),)
    stop = nnp_device("end_chain\n", engine, script).run(1000)
    assert "the base of nnp is a multiple of 4, not 0x8000003e" in stop.message


def test_the_published_product() -> None:
    """A GRU of 2816 on bw_s10 takes 660 cycles: 6 products of 8 x 8 tiles.

    Each product takes 11 passes of 10 cycles.
    """
    timing = Timing(config.load("bw_s10"))
    scalars = dict(nnp.RESET) | {"rows": 8, "cols": 8}
    rows = [decode(nnp.CORE, word, 32) for word in (0x0205_0000, 0x0700_0000, 0x0501_0000)]
    chain = Chain(rows, scalars)
    assert timing.pass_cycles == 10
    assert 6 * timing.product(chain) == 660
    assert timing.passes(chain).tolist() == [1, 2, 3, 5, 6, 7, 9, 10]
