"""`catch` stops at each event of each core at the same core, place and cycle on both engines."""

from __future__ import annotations

import numpy as np
import pytest

from macaw import api
from macaw.asm.source import Source
from macaw.debugger.commands.text import hit_text
from macaw.debugger.session import Session
from macaw.emu.engines import ENGINES
from macaw.execution import configuration_of
from tests.debugger.programs import loaded, of_source, session
from tests.debugger.running import place_of, stops_until_exit

pytestmark = pytest.mark.once


def changed(folder, engine, **settings):
    """A session of a program on a device with other settings."""
    program, inputs = loaded(folder)
    config = dict(configuration_of(program))
    config |= {name.replace("__", "."): value for name, value in settings.items()}
    return Session(program, config, inputs, engine)


def caught(make, event, place="", most=6):
    """The stops at the first events and their texts, equal on both engines."""
    seen = []
    for engine in ENGINES:
        debug = make(engine)
        debug.points.add("catch", event, place=place)
        found = []
        for stop in stops_until_exit(debug, most):
            found += [(stop.cycle, stop.turn, stop.reason, hit) for hit in stop.hits]
        seen.append([(*where, hit_text(hit)) for *where, hit in found])
        assert debug.points.all[1].hits == len(found)
    assert seen[0] == seen[1]
    assert seen[0], "it was never caught"
    assert {reason for _, _, reason, _ in seen[0]} == {"event"}
    return [(cycle, text) for cycle, _, _, text in seen[0]]


@pytest.mark.parametrize(
    ("folder", "event", "place", "text"),
    [
        ("layer", "queue-empty", "pe[0,0].1", "queue-empty: q1 of pe[0,0].1 by pe[0]"),
        ("layer", "queue-empty", "dma", "queue-empty: beats of dma by dma"),
        ("nnp_softmax", "queue-empty", "nnp", "queue-empty: NetInQ of nnp by nnp"),
        ("layer", "stall", "cp", "stall: cp for all transfers of the dma by cp"),
        ("layer", "stall", "pe[0]", "stall: pe[0] bus for ib=0 of cluster 0, which is at work"),
        ("nnp_softmax", "stall", "nnp", "stall: nnp for a vector in NetInQ by nnp"),
        ("fim_gru", "stall", "fim[1]", "stall: fim[1] block 1 for a column in buffer 0 by fim[1]"),
        ("layer", "dma-done", "", "dma-done: ticket 1 by dma"),
        ("layer", "swap", "", "swap: mask 1 by cp"),
        ("layer", "exe", "pe[0,1]", "exe: cluster 1, buffer 0, order 1 by pe[0]"),
        ("digits_mlp", "sfu-done", "pe[0,0]", "sfu-done: cluster 0, "),
    ],
)
def test_each_event_says_who_and_where(folder, event, place, text):
    found = caught(lambda engine: session(folder, engine), event, place, 2)
    assert found[0][1].startswith(f"catch 1: {text}")


@pytest.mark.parametrize(
    ("folder", "settings", "place", "text"),
    [
        ("layer", {"pe__load_queue_1": 2}, "pe[0]", "queue-full: q1 of pe[0,0].0 by pe[0]"),
        ("layer", {"dma__queue": 1}, "dma", "queue-full: transfers of dma by cp"),
        ("nnp_softmax", {"nnp__net_in": 1}, "nnp", "queue-full: NetInQ of nnp by dma"),
    ],
)
def test_full_queues_and_who_filled_them(folder, settings, place, text):
    found = caught(lambda engine: changed(folder, engine, **settings), "queue-full", place, 2)
    assert found[0][1] == f"catch 1: {text}"


VECTOR = """
        .core vc
        la   t0, numbers
        vld  vr0, (t0)
        vld  vr1, 16(t0)
        vsub.f32 vr2, vr0, vr1
        vadd.w vr3, vr2, vr2
        vsub.f32 vr2, vr0, vr0
        li   a0, 0
        li   a7, 93
        ecall
        .data
        .balign 16
numbers: .word 0x7f800000, 0x3f800000, 0, 0, 0x7f800000, 0, 0, 0
"""


@pytest.mark.parametrize("names", [("pe[0,0]", "pe[0,1]"), ("pe[0,1]", "pe[0,0]")])
def test_catches_at_two_places_hide_no_event_of_each_other(names):
    def hits(*places):
        debug = session("layer")
        points = [debug.points.add("catch", "exe", place=place) for place in places]
        for _ in stops_until_exit(debug, 99):
            pass
        return [point.hits for point in points]

    assert hits(*names) == [*hits(names[0]), *hits(names[1])]
    assert all(hits(*names))


def test_a_vector_register_that_is_no_number():
    """If vc writes NaN to vr2 twice and no number between, only the first write is caught."""
    found = caught(lambda engine: of_source(VECTOR, engine), "nan", "vc")
    assert [text for _, text in found] == ["catch 1: nan: vr of vc [2] by vc"]


# A mask, integers and an infinity, none of which is a NaN of its own type, then one that is.
RESULTS = """
        .core vc
        la   t0, numbers
        vld  vr0, (t0)
        vld  vr1, 16(t0)
        vclt.f32 vr2, vr0, vr1
        vcvt.w.f32 vr3, vr0
        vcvt.f32.f16 vr4, vr1, 1
        vcvt.f16.f32 vr5, vr0, vr0
        li   a0, 0
        li   a7, 93
        ecall
        .data
        .balign 16
numbers: .word 0xbf800000, 0x7fc00000, 0, 0, 0x3f800000, 0, 0, 0x7c00
"""


def test_a_register_is_judged_by_what_its_result_is():
    """The type of a result decides whether it is NaN: all ones from a comparison are not."""
    found = caught(lambda engine: of_source(RESULTS, engine), "nan", "vc")
    assert [text for _, text in found] == ["catch 1: nan: vr of vc [5] by vc"]


# Row 3 of w takes inf - inf.
FLOATS = """
        .device tiny
        .output y, float32, 8
        .core   pe, row=0
        .seq    s
          ld    activations, base=0
          ld    weights
          mac   base=0, acc=0
          spu   nonsf, src=0, dst=0
          st    base=0
        .endseq
        config  ib=0, s
        exe     ib=0, last, data=(activations x, weights w sliced compress), out=y
x:      .float16 inf, inf, 1, 1
w:      .float16 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, 1, 1
        .float16 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1
"""


def test_an_accumulator_that_is_no_number():
    config = api.configuration("tiny").changed({"pe.element": "fp16"})
    program = api.assemble(Source(FLOATS, "test.s"), device=config)
    found = caught(lambda engine: Session(program, config, {}, engine), "nan", "pe[0]")
    assert [text for _, text in found] == ["catch 1: nan: accumulators of pe[0,0].3 [0] by pe[0]"]


def test_a_bank_that_is_no_number():
    """NaN in an island's banks is caught when a block uses the numbers.

    The test writes NaN in cycle 640; the block begins about cycle 652.
    """

    def make(engine):
        debug = session("fim_gru", engine)
        debug.goto(640)
        core = debug.device.cores["fim[1]"]
        place = core.table.memories[1].start(1)
        debug.device.memory.poke(place, np.full(1 << 13, np.nan, "<f2").tobytes())
        debug.note_edit()
        return debug

    found = caught(make, "nan", "fim[1]", 3)
    assert found[0][1].startswith("catch 1: nan: rop of fim[1,0]")


def test_a_fault_stops_every_run():
    debug = of_source("        .core cp\n_start: lw a0, 2(zero)\n        .word 0\n")
    debug.points.add("catch", "fault")
    stop = debug.cont()
    assert stop.reason == "fault"
    assert place_of(stop).core == "cp"
    assert place_of(stop).line == 2


def test_accumulators_at_the_end_of_their_range():
    """`catch saturate` stops at each saturation, although the PEs saturate in different cycles.

    All accumulators start just below the end of their range, and each PE's products lift its sum.
    """

    def make(engine):
        debug = changed("layer", engine, pe__overflow="saturate")
        debug.points.add("catch", "exe")
        debug.cont()
        debug.points.delete(1)
        for number in range(4):
            debug.set(f"pe[0,*].*.acc{number}", 2**31 - 2)
        debug.points._last_number = 0
        return debug

    found = caught(make, "saturate", "pe[0]", 3)
    assert found[0] == (150, "catch 1: saturate: accumulators of pe[0,0].0 [0] by pe[0]")
