"""Watches of registers and queues stop at the right access, also in fast engines."""

from __future__ import annotations

import re

import pytest

from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.commands.text import hit_text
from macaw.debugger.places import Place
from macaw.debugger.point import PointError
from macaw.debugging import DebuggerFiles
from macaw.emu.engines import ENGINES
from tests.debugger.programs import of_source, session
from tests.debugger.running import all_stops, stops_until_exit
from tests.debugger.sources import STORE_LOOP
from tests.emu.cp_machine import translated_blocks

pytestmark = pytest.mark.once

OFTEN = STORE_LOOP.replace("s0, 40", "s0, 20000")


def on_both(make, kind, text, most=100, **more):
    """The hits of a watch as (cycle, turn, hit); asserts that they are equal on both engines."""
    seen = []
    for engine in ENGINES:
        debug = make(engine)
        debug.points.add(kind, text, **more)
        found = []
        for stop in stops_until_exit(debug, most):
            found += [(stop.cycle, stop.turn, hit) for hit in stop.hits]
        assert debug.points.all[1].hits == len(found)
        seen.append(
            [(*where, hit.by, hit.values, str(hit.old), str(hit.new)) for *where, hit in found]
        )
    assert seen[0] == seen[1]
    return found


def of_loop(engine):
    return of_source(STORE_LOOP, engine)


def test_reads_of_a_register():
    """Reads of s0 by `addi s0, s0, -1` and by `bnez s0, loop` are hits, 40 times each."""
    found = on_both(of_loop, "rwatch", "s0")
    at = of_loop("fast").program.symbol("loop").value
    assert [hit.values["address"] - at for *_, hit in found] == [12, 16] * 40
    assert [hit.new for *_, hit in found] == [x for n in range(39, -1, -1) for x in (n, n)]
    assert [cycle for cycle, *_ in found[:4]] == [6, 7, 12, 13]
    assert {hit.values["access"] for *_, hit in found} == {"read"}


def test_accesses_of_a_register():
    """An access watch of s1 stops at each instruction that reads or writes s1.

    `addi s1, s1, 3` reads and writes it; `andi s2, s1, 7` and `sw s1, 4(s3)` read it.
    """
    found = on_both(of_loop, "awatch", "cp.s1", condition="s1 <= 6")
    assert [(hit.values["access"], hit.old, hit.new) for *_, hit in found] == [
        ("read and write", 0, 3), ("read", None, 3), ("read", None, 3),
        ("read and write", 3, 6), ("read", None, 6), ("read", None, 6),
    ]  # fmt: skip


def test_a_write_of_the_same_value_is_an_access_and_no_change():
    source = STORE_LOOP.replace("addi s1, s1, 3", "li s1, 3")
    assert len(on_both(lambda engine: of_source(source, engine), "watch", "s1")) == 1
    found = on_both(lambda engine: of_source(source, engine), "awatch", "s1", condition="s0 == 20")
    assert [hit.values["access"] for *_, hit in found] == ["write", "read", "read"]


@pytest.mark.parametrize(
    ("kind", "text", "more", "hits"),
    [
        ("watch", "s2 == 9", {}, 0),
        ("watch", "s1", {"condition": "s1 % 30000 == 0"}, 2),
        ("watch", "s0 + mem[data]", {"condition": "s0 < 4"}, 4),  # memory that others may write
        ("rwatch", "s1", {"condition": "s1 == 30000"}, 3),
        ("watch", "s0", {"ignore": 19_998}, 4),
    ],
)
def test_watched_registers_leave_the_code_translated(kind, text, more, hits):
    debug = of_source(OFTEN)
    debug.points.add(kind, text, **more)
    found = [hit for stop in stops_until_exit(debug) for hit in stop.hits]
    assert len(found) == hits
    assert translated_blocks(debug.device)
    assert debug.core.next_address is None


def test_ways_of_a_run_over_a_watch():
    """Going back finds the last access; a deleted watch stops nothing."""
    debug = of_source(OFTEN)
    debug.points.add("rwatch", "s1", condition="s1 == 30000")
    first = [debug.cont() for _ in range(3)]
    assert debug.cont().reason == "exit"
    for stop in reversed(first):
        back = debug.cont_back()
        assert (back.cycle, back.turn, back.hits[0].values) == (
            stop.cycle, stop.turn, stop.hits[0].values)  # fmt: skip
    debug.points.clear()
    assert debug.cont().reason == "exit"


def test_vector_registers():
    """A read watch of vr3 stops at 36 reads, as counted by hand.

    `pmac` with acc reads vr3 16 times, `vsum` and `vext` once each; all of this twice.
    """
    found = on_both(lambda engine: session("vector_dot", engine), "rwatch", "vc.vr3")
    assert len(found) == 36
    found = on_both(lambda engine: session("vector_dot", engine), "watch", "vc.vr3.i32[0]")
    assert found[-1][-1].new == session_of("vector_dot")["y"][1]


def session_of(folder):
    debug = session(folder)
    debug.run()
    return {tensor.name: debug.device.read_tensor(tensor.name) for tensor in debug.program.outputs}


def test_the_stack_pointer_that_a_start_sets():
    found = on_both(lambda engine: session("vector_dot", engine), "watch", "vc.sp")
    assert [(hit.by, hit.old) for *_, hit in found] == [("cp", 0)]


@pytest.mark.parametrize(
    ("folder", "place", "count"),
    [
        ("layer", "pe[0,0].3.q2", "sum(pe[0,0].3.macs)"),  # each product leaves it
        ("layer", "pe[0,1].2.q1.level", "sum(pe[0,1].2.macs)"),  # nothing balances here
        ("layer", "dma.transfers.level", "dma.transfers"),
        ("nnp_softmax", "nnp.NetInQ", ""),
    ],
)
def test_what_leaves_a_queue_is_what_came(folder, place, count):
    popped = on_both(lambda engine: session(folder, engine), "rwatch", place, 3000)
    moved = on_both(lambda engine: session(folder, engine), "awatch", place, 3000)
    assert {hit.values["access"] for *_, hit in popped} == {"pop"}
    assert sum(hit.values.get("push", 0) for *_, hit in moved) == sum(
        hit.values["pop"] for *_, hit in popped
    )
    if count:
        debug = session(folder)
        debug.run()
        assert sum(hit.values["pop"] for *_, hit in popped) == debug.read(count)
    levels = [hit for *_, hit in moved]
    assert all(
        hit.new == hit.old + hit.values.get("push", 0) - hit.values.get("pop", 0) for hit in levels
    )


def test_items_of_a_queue_without_a_head():
    """The queue `output` has a level but no head: a level that falls is a pop, one that rises a push."""
    moved = on_both(lambda engine: session("digits_mlp", engine), "awatch", "pe[0,0].0.output", 7)
    hits = [hit for *_, hit in moved]
    assert {hit.values["access"] for hit in hits} == {"pop", "push"}
    for hit in hits:
        delta = hit.new - hit.old
        assert (hit.values.get("push", 0), hit.values.get("pop", 0)) == (
            max(delta, 0),
            max(-delta, 0),
        )


def test_a_watched_queue_of_one_core_hides_no_other() -> None:
    """A watch of a queue has the same hits with a watch before it, of an idle core's queue."""
    found = []
    for places in (["pe[0,0].3.q2"], ["pe[1,0].3.q2", "pe[0,0].3.q2"]):
        debug = session("layer")
        for place in places:
            debug.points.add("awatch", place)
        hits = [hit for stop in all_stops(debug) for hit in stop.hits]
        assert {hit.number for hit in hits} == {len(places)}
        found.append([(hit.old, hit.new, dict(hit.values)) for hit in hits])
    assert found[0] == found[1]


def test_a_watch_after_one_of_accesses_by_another_core() -> None:
    """A write by cp is no hit of the watch of accesses by dma, but of the watch after it."""
    debug = of_source(STORE_LOOP)
    debug.points.add("awatch", "mem[data + 4]", by="dma")
    debug.points.add("watch", "mem[data + 4]")
    assert [(hit.number, hit.by) for hit in debug.cont().hits] == [(2, "cp")]


def test_who_fills_a_queue():
    debug = session("nnp_mlp")
    debug.points.add("awatch", "nnp.NetInQ", by="nnp")
    assert {hit.by for stop in all_stops(debug, 30) for hit in stop.hits} == {"nnp"}
    debug = session("nnp_mlp")
    debug.points.add("awatch", "nnp.NetInQ", by="dma")
    found = [hit for stop in all_stops(debug, 30) for hit in stop.hits]
    assert {(hit.by, hit.values["access"]) for hit in found} == {("dma", "push")}


@pytest.mark.parametrize(
    ("folder", "text", "words", "others"),
    [
        ("nnp_mlp", "nnp.cols", {"v_rd", "mv_mul"}, {"vv_add", "s_wr", "end_chain"}),
        ("fim_gru", "fim[1].bank[2].rz", {"push", "rop", "iosa", "gio"}, {"act", "mmr", "pull"}),
        ("layer", "pe[0,1].2.acc0", {"mac", "spu"}, {"ld", "st"}),
    ],
)
def test_registers_of_other_cores_are_read_by_words_of_the_table(folder, text, words, others):
    """A read watch of a register stops at the words that read it according to the core's table.

    In moves such as `gio <- rz`, the text begins with the register that is written.
    """
    found = on_both(lambda engine: session(folder, engine), "rwatch", text, 150)
    debug = session(folder)
    run = Interpreter(debug, DebuggerFiles())
    run.execute(f"focus {found[0][-1].by}")
    seen = set()
    for *_, hit in found:
        row = debug.program.section_at(hit.values["address"])
        assert row is None or row.core == text.partition("[")[0].partition(".")[0]
        if "banks" in hit.values:
            assert hit.values["banks"] >> 2 & 1
        seen.add(hit.values["address"])
    read = {re.findall(r"^\w+", run.execute(f"x/i {at:#x}").rows[0][2])[0] for at in seen}
    assert words <= read
    assert not others & read


@pytest.mark.parametrize("kind", ["rwatch", "awatch"])
@pytest.mark.parametrize("text", ["cp.instructions", "device.cycle", "pe[0,0].1.macs"])
def test_what_has_no_accesses_is_refused(kind, text):
    debug = session("layer")
    with pytest.raises(PointError, match=f"{kind} is of memory, registers and queues, and "):
        debug.points.add(kind, text)


def test_hits_as_text():
    debug = of_source(STORE_LOOP)
    debug.points.add("awatch", "s1")
    debug.points.add("rwatch", "mem[data]")
    assert hit_text(debug.cont().hits[0]) == "awatch 1: s1: 0 -> 3, read and write by cp"
    assert hit_text(debug.cont().hits[0]) == "awatch 1: s1: 3, read by cp"
    debug = session("layer")
    debug.points.add("rwatch", "pe[0,0].3.q1")
    assert hit_text(debug.cont().hits[0]) == "rwatch 1: pe[0,0].3.q1: 2 -> 3, pop by pe[0]"
    debug = session("vector_dot")
    debug.points.add("watch", "vc.vr0")
    text = hit_text(debug.cont().hits[0])
    assert text.startswith("watch 1: vc.vr0: ")
    assert " elements, first [0]: 0 -> " in text


def test_names_of_a_watch_are_those_of_the_focus_in_which_it_was_made():
    debug = session("vector_dot")
    debug.points.add("watch", "sp")
    debug.points.add("watch", "sum(y)", condition="sp == 0")
    debug.points.add("watch", "vc.t1")
    assert [point.focus for point in debug.points] == [(Place("cp"),), (Place("cp"),), ()]
    debug.set_focus("vc")
    own = Place("vc")
    debug.points.add("watch", "t1", condition="t1 == 7")
    assert debug.points.all[4].focus == (own,)
    kept = debug.points.plain()
    assert [one.get("focus") for one in kept] == [["cp"], ["cp"], None, ["vc"]]
    assert [one.focus for one in session("vector_dot").points.load(kept)][3] == (own,)
    debug.points.delete(3)
    debug.set_focus("pe[0]")  # which has none of these names
    found = [(hit.number, hit.by, hit.new) for stop in all_stops(debug) for hit in stop.hits]
    assert found == [(4, "vc", 7)] * 2


def test_a_focus_that_is_not_there():
    debug = of_source(STORE_LOOP)
    with pytest.raises(PointError, match="no core is called"):
        debug.points.load([{"kind": "watch", "text": "s1", "focus": ["vx"]}])


WATCHES = (
    ("watch", "s11"), ("rwatch", "s0"), ("awatch", "s1"), ("watch", "s0"), ("rwatch", "mem[data+4]"),
    ("awatch", "mem[data+4]"), ("watch", "mem[data+4]"),
)  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("turn", [1, -1])
def test_watches_hide_no_hit_of_each_other(engine, turn):
    """Several watches, in any order, have the hits that each has alone."""

    def hits(*watches):
        debug = of_source(STORE_LOOP.replace("s0, 40", "s0, 5"), engine)
        numbers = {debug.points.add(*each).number: each for each in watches}
        found: dict[tuple[str, str], list[tuple[object, ...]]] = {each: [] for each in watches}
        for stop in stops_until_exit(debug, 200):
            for hit in stop.hits:
                found[numbers[hit.number]].append((stop.cycle, hit.by, hit.values, hit.new))
        return found

    alone = {each: hits(each)[each] for each in WATCHES}
    assert [len(each) for each in alone.values()].count(0) == 2
    assert hits(*WATCHES[::turn]) == alone
