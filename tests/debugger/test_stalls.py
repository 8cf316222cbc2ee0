"""`why-stalled`: trees of cores that wait for each other, on programs with known causes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from macaw.debugger.causes.stalls import rows
from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.commands.text import answer_text
from macaw.debugger.frame_builder import FrameBuilder
from macaw.debugging import DebuggerFiles
from tests.debugger.programs import of_source, session
from tests.debugger.running import place_of, printed

pytestmark = pytest.mark.once

PULLS_MORE = (Path(__file__).parent / "transcripts/stuck.s").read_text()
KEEPS_THE_LOCK = """
        .device tiny
        .core   fim, island=0
        .block  banks=0
          lock
        end
        .block  banks=1
          lock
          unlock
        end
"""
# The mask of the array's rows in place of that of its cores: bit 0 is cp itself.
WRONG_MASK = """
        .core   pe, row=0
        .seq    s
          st    base=0
        .endseq
        .list   work
        config  ib=0, s
        .endlist
        .core   cp
_start: la      a0, load
        dma.copy zero, a0
        dma.wait zero
        li      a1, 1
        mem.swap a1
        la      a2, work
        dispatch a1, a2
        li      a0, 1 << 0 | 1 << 16
wait:   core.wait a0
        .section .data.cp
        .balign 4
load:   .word   0x10000000, load_address(work), 128, 1, 0, 0
"""


def stalled(source, engine="fast"):
    run = of_source(source, engine)
    stop = run.cont()
    assert stop.reason == "deadlock"
    return run, run.why_stalled()


def line_of(source, text, after=""):
    lines = source.splitlines()
    start = next(n for n, line in enumerate(lines) if after in line)
    return next(n for n, line in enumerate(lines, 1) if text in line and n > start)


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_a_consumer_pulls_more_than_is_pushed(engine):
    run, found = stalled(PULLS_MORE, engine)
    (cp,) = found.trees
    (island,) = cp.causes
    (consumer,) = island.causes
    (producer,) = consumer.causes
    assert (cp.who, cp.state, island.who, consumer.who, producer.who) == (
        "cp", "waits", "fim[0]", "fim[0] block 1", "fim[0] block 0",
    )  # fmt: skip
    assert (consumer.on, consumer.note) == ("a column in buffer 0", "0 are there")
    assert consumer.where.line == 14, "its third pull"
    assert 0 < consumer.since <= run.device.cycle
    assert (producer.state, producer.where.line, producer.by.line) == ("ended", 10, 9)
    (cause,) = found.causes
    assert cause.startswith("fim[0] block 0 has ended at ")
    assert "test.s:10, and gives no more (it would come from " in cause
    assert "test.s:9): fim[0] block 1 waits for a column in buffer 0" in cause


def test_a_lock_that_is_never_given_back():
    _, found = stalled(KEEPS_THE_LOCK)
    (owner,) = found.trees[0].causes[0].causes[0].causes
    assert (owner.who, owner.state, owner.where.line) == ("fim[0] block 0", "ended", 6)
    assert found.causes == (
        "fim[0] block 0 has ended at 0x30800008 test.s:6, and gives no more: fim[0] block 1 waits for"
        " the lock of buffer 0, block 0 has it",
    )


def test_of_several_that_want_a_lock_the_owner_is_the_cause():
    third = KEEPS_THE_LOCK[KEEPS_THE_LOCK.rindex("        .block") :].replace("=1", "=2")
    _, found = stalled(KEEPS_THE_LOCK + third)
    waiting = found.trees[0].causes[0].causes
    assert [item.who for item in waiting] == ["fim[0] block 1", "fim[0] block 2"]
    assert [[x.who for x in item.causes] for item in waiting] == [["fim[0] block 0"]] * 2


def test_a_buffer_that_nobody_fills():
    source = PULLS_MORE.replace("          push  rop\n", "")
    _, found = stalled(source)
    assert found.causes == (
        "no core could end that: fim[0] block 1 waits for a column in buffer 0",
    )


def test_cp_waits_for_itself_beside_the_array():
    """With a wrong mask, cp waits for itself and for the array.

    The mask of core.wait has bit 0, the number of the row in the array. But bit 0 stands for core
    0, which is cp.
    """
    run = of_source(WRONG_MASK)
    run.cont((40, 0))
    (cp,) = run.why_stalled().trees
    assert [item.who for item in cp.causes] == ["cp", "pe[0]"], "the array is still at work"
    stop = run.cont()
    assert stop.reason == "deadlock"
    found = run.why_stalled()
    (cp,) = found.trees
    assert (cp.on, place_of(cp).line) == ("core.wait 0x10001", line_of(WRONG_MASK, "core.wait"))
    assert [(item.who, item.state) for item in cp.causes] == [("cp", "circle")]
    assert found.causes == ("cp waits for itself, by core.wait 0x10001",)


MORE_LOADS = """
        .core   pe, row=0
x:      .array  int8, 1, 16
h:      .array  int32, 1, 16
        .seq    s
          ld    activations, base=0
          ld    activations, base=1
        .endseq
        .list   work
        config  ib=0, s
        exe     ib=0, last, data=(x[0]), out=(h, pes=4)
        .endlist
""" + WRONG_MASK[WRONG_MASK.index("        .core   cp") :].replace("1 << 0 | ", "")


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_who_has_faulted_is_the_cause_of_those_who_wait_for_it(engine):
    run = of_source(MORE_LOADS, engine)
    stop = run.cont()
    assert (stop.reason, place_of(stop).core) == ("fault", "pe[0]")
    found = run.why_stalled()
    (cp,) = found.trees
    (row,) = cp.causes
    assert (cp.state, row.who, row.state) == ("waits", "pe[0]", "faulted")
    assert place_of(row).line == line_of(MORE_LOADS, "base=1")
    address = place_of(row).address
    assert address is not None
    place = f"{address:#010x} <s+{address - run.program.symbol('s').value}>"
    assert stop.fault is not None
    said = f"{stop.fault['kind']}: {stop.fault['message']}"
    assert found.causes == (
        f"pe[0] has faulted at {place} test.s:{place_of(row).line} ({said}): cp waits for {cp.on}",
    )
    run.stepc_back()
    assert run.why_stalled().trees[0].causes[0].state != "faulted"


def test_what_never_ends_is_said_before_what_is_busy():
    run = of_source(MORE_LOADS[: MORE_LOADS.index("        .core   cp")])
    assert run.cont().reason == "fault"
    found = run.why_stalled()
    assert [(tree.who, tree.state) for tree in found.trees] == [
        ("cp", "busy"),
        ("pe[0]", "faulted"),
    ]
    assert found.causes[0].startswith("pe[0] has faulted at ")
    assert found.causes[1].startswith("cp is busy")


def test_the_array_at_work_is_no_deadlock():
    run = session("digits_mlp")
    run.goto(1500)
    found = run.why_stalled()
    cp = found.trees[0]
    assert (cp.who, cp.on, cp.since) == ("cp", "core.wait 0xf0000", 1062)
    assert [item.who for item in cp.causes] == ["pe[0]", "pe[1]", "pe[2]", "pe[3]"]
    for row in cp.causes:
        assert row.state == "busy"
        assert {item.who.removeprefix(f"{row.who} ") for item in row.causes} == {
            "bus",
            "ib=0",
            "ib=2",
        }
        bus = row.causes[0]
        assert not any(item.state == "circle" for item in bus.causes)
    assert not any(
        word in cause for cause in found.causes for word in ("circle", "ended", "nobody")
    )


def test_a_transfer_is_waited_for():
    run = session("layer")
    run.goto(60)
    (cp,) = run.why_stalled().trees
    (dma,) = cp.causes
    assert (cp.on, dma.who, dma.state) == ("all transfers of the dma", "dma", "busy")
    assert dma.note == "transfer 2, 64 bytes"
    assert run.why_stalled([run.device.cores["dma"]]).trees == (dma,)
    run.cont()
    assert run.why_stalled().trees == ()


def test_two_cores_wait_for_each_other():
    """cp waits for nnp, and nnp waits for a vector that no core will store."""
    _, found = stalled(
        """
        .device tiny
        .core   nnp
        v_rd    NetInQ
        v_wr    NetOutQ
        end_chain
"""
    )
    (cp,) = found.trees
    (nnp,) = cp.causes
    assert (nnp.who, nnp.on) == ("nnp", "a vector in NetInQ")
    assert found.causes == ("a circle: cp -> nnp -> cp",)


def test_the_command():
    run = Interpreter(of_source(PULLS_MORE), DebuggerFiles())
    run.execute("continue")
    answer = run.execute("why-stalled")
    text = answer_text(answer)
    assert "    fim[0] block 1 waits for a column in buffer 0 (0 are there) since cycle" in text
    assert text.splitlines()[-1].startswith("cause: fim[0] block 0 has ended at 0x")
    record = json.loads(json.dumps(answer.json()))["data"]
    assert record["trees"][0]["who"] == "cp"
    assert record["trees"][0]["causes"][0]["causes"][0]["where"]["line"] == 14
    assert run.execute("why-stalled dma").lines == (
        "dma was never started",
        "cause: dma was never started",
    )
    assert run.execute("why-stalled x").kind == "error"


def test_the_panel_shows_the_tree_and_the_true_cause():
    run = Interpreter(of_source(PULLS_MORE), DebuggerFiles())
    run.execute("continue")
    found = tuple(rows(run.session.why_stalled(), run.session.device.cycle))
    cycle = run.session.device.cycle
    assert [(who, depth, never) for who, _, depth, never in found] == [
        ("cp", 0, False), ("fim[0]", 1, False), ("fim[0] block 1", 2, False),
        ("fim[0] block 0", 3, True), ("", 0, True),
    ]  # fmt: skip
    assert found[2][1].startswith("waits for a column in buffer 0, ")
    assert found[2][1].endswith(" cycles, test.s:14")
    assert int(found[2][1].split(", ")[1].split()[0]) <= cycle
    assert found[3][1] == "has ended, test.s:10"
    assert found[4][1].startswith("fim[0] block 0 has ended at ")
    builder = FrameBuilder(run, run.arrangement)
    assert [(x.who, x.text, x.depth, x.final) for x in builder.stalls()] == list(found)


@pytest.mark.parametrize(
    ("source", "texts"),
    [
        (WRONG_MASK, ["waits for core.wait 0x10001, ", "itself"]),
        (PULLS_MORE.replace("          push  rop\n", ""), ["no core could end that"]),
    ],
)
def test_the_panel_has_few_words_for_each_end(source, texts):
    run, found = stalled(source)
    text = [x for _, x, _, _ in rows(found, run.device.cycle)]
    assert all(any(x.startswith(wanted) for x in text) for wanted in texts)
    assert tuple(rows(session("hello").why_stalled(), 0)) == (
        ("cp", "is busy, hello.s:4", 0, False),
    )


def test_who_goes_on_in_the_next_cycle_has_no_cause():
    """A core that goes on in the next cycle waits for no core.

    The row has ended and woken cp, whose turn has not come.
    """
    run = session("layer")
    while run.device.cores["pe[0]"].running or not run.device.cores["pe[0]"].start_count:
        run.stepc(1)
    cp = run.device.cores["cp"]
    assert cp.waiting is not None
    found = run.why_stalled()
    (tree,) = found.trees
    assert (tree.state, tree.until, tree.causes) == ("waits", cp.time, ())
    assert found.causes == (f"cp continues at cycle {cp.time:,}",)


def test_a_core_that_continues_in_this_cycle_is_busy_until_no_cycle():
    run = of_source(".core cp\n_start: div a0, a1, a2\nebreak\n")
    assert printed(run, "why-stalled").splitlines() == [
        "cp is busy at 0x00010000 <_start> test.s:2", "cause: cp is busy",
    ]  # fmt: skip
