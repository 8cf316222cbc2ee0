"""The boxes of seed 000's Fig. 5a and 5b in the debugger; queues, printed from their heads."""

from __future__ import annotations

import numpy as np
import pytest

from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.commands.operands import display_value
from macaw.debugger.commands.text import answer_text
from macaw.debugger.expressions import ExpressionError
from macaw.debugging import DebuggerFiles
from macaw.emu.engines import ENGINES
from tests.debugger.programs import session

pytestmark = pytest.mark.once

# The numbers that seed 000 ¶89, ¶95 and ¶98 give to the parts of a PE.
NUMBERS = (
    "501 502 503 504 505 506 5063 5066 508 509 510 511 513 514 515 516 517 518 519 520".split()
)


@pytest.fixture(params=ENGINES)
def at_work(request):
    """An interpreter at a moment when PE 0 of the first cluster has loads in both queues."""
    debug = session("layer", request.param)
    debug.set_focus("pe[0,0].0")
    debug.points.add("watch", "q1.level && q2.level")
    while debug.cont() and not debug.read("q1.level > 1"):
        pass
    return Interpreter(debug, DebuggerFiles())


def test_each_box_of_a_pe_is_in_a_table(at_work):
    """`info boxes` has each box of a PE by its number (seed 000 ¶89, ¶95, ¶96, ¶98)."""
    answer = at_work.execute("info boxes pe[0,0].1")
    assert [row[1] for row in answer.rows] == NUMBERS
    assert {row[0] for row in answer.rows} == {"pe[0,0].1"}
    of_focus = at_work.execute("info boxes").rows
    assert {row[0] for row in of_focus} == {"pe[0,0].0"}
    of_cluster = at_work.execute("info boxes pe[1,0]").rows
    pes = at_work.session.device.config["pe.pes"]
    assert len(of_cluster) == pes * len(NUMBERS)
    assert [row[0] for row in of_cluster[:: len(NUMBERS)]] == [f"pe[1,0].{n}" for n in range(pes)]


def test_a_core_without_boxes_says_where_there_are_some(at_work):
    answer = at_work.execute("info boxes cp")
    assert (answer.kind, answer.message) == ("error", "no figure shows boxes of cp")
    assert answer.hint == "there are of pe[0,0].0, pe[1,0].0"


def ring(debug, name, pe=0):
    """The entries of a ring buffer, first to last, read from the declared state as a witness."""
    row = debug.device.cores["pe[0]"]
    row.sync()
    held = getattr(row.state, name)[0, pe]
    short = name.split("_")[0]
    head = int(getattr(row.state, f"{short}_head")[0, pe])
    count = int(getattr(row.state, f"{short}_count")[0, pe])
    return np.roll(held, -head)[:count].tolist()


def test_queues_are_printed_from_their_head_on(at_work):
    """Queues are printed from their heads.

    Weights with their indices are in a ring (seed 000 ¶91, ¶92), loads in two queues (¶99, ¶100).
    """
    debug = at_work.session
    for name, number in (("q1", "518"), ("q2", "519")):
        loads = at_work.execute(f"print pe[0,0].0.{name}").rows[0][1]
        words = ring(debug, name)
        assert loads
        assert [(x["place"] << 16 | x["index"], x["given"]) for x in loads] == [
            (word & 0xFFFFFFFF, bool(word >> 32)) for word in words
        ]
        assert at_work.execute(f"print box{number}").rows[0] == (f"box{number}.loads", loads)
    weights = at_work.execute("print weights").rows[0][1]
    assert [x["index"] for x in weights] == ring(debug, "weight_index")
    assert [x["value"] for x in weights] == ring(debug, "weight_value")
    assert at_work.execute("print weights.level").rows[0][1] == len(weights)
    # The load at the head of 519 names a weight of 503 and an activation of 504.
    load = at_work.execute("print q2").rows[0][1][0]
    weight = debug.device.cores["pe[0]"].state.weight_value[0, 0, load["place"]]
    activation = debug.read(f"box504.activations[{load['index']}]")
    assert debug.read("box5066.product") == int(weight) * int(activation) != 0


def test_a_box_has_a_number_and_a_name_and_its_parts_are_values(at_work):
    """A box has a number, a name and values; box 505 adds the base to weight indices.

    See seed 000 ¶94.
    """
    debug = at_work.session
    found = at_work.execute("print pe[0,0].0.index_comparator")
    assert [name for name, _ in found.rows] == [
        f"pe[0,0].0.index_comparator.{part}" for part in ("left", "next", "base", "limit")
    ]
    assert found.rows == tuple(
        (name, debug.read(name.replace("index_comparator", "box505"))) for name, _ in found.rows
    )
    assert debug.read("box505.limit - box505.base") > 0
    assert debug.read("box518.loads[1].index") == debug.read("load_queue_1.loads[1].index")
    assert (
        answer_text(at_work.execute("print pe_controller.at_work_on"))
        == "pe_controller.at_work_on = mac"
    )
    for text in ("box505.right", "box507", "pe[0,0].box505"):
        with pytest.raises(ExpressionError):
            debug.read(text)
    assert "box505" in at_work.complete("print ")
    assert at_work.complete("print pe[1,0].2.box51") == [
        f"pe[1,0].2.box{number}" for number in NUMBERS if number.startswith("51")
    ]


def test_a_watch_of_a_box_stops_where_it_changes(at_work):
    debug = at_work.session
    debug.points.clear()
    debug.points.add("watch", "box505.left")
    stop = debug.cont()
    assert stop.reason == "watch"
    assert stop.hits[0].new < stop.hits[0].old


def test_a_display_shows_a_queue_from_its_head_on(at_work):
    at_work.execute("display q1")
    at_work.session.points.clear()
    at_work.execute("stepc")
    (answer,) = at_work.execute("display").answers
    assert answer.rows[0][2] == at_work.execute("print q1").rows[0][1]


def test_queues_are_those_of_the_present_cycle():
    """Both engines print the same items in each cycle in which a run stops."""
    runs = [session("layer", engine) for engine in ENGINES]
    for debug in runs:
        debug.set_focus("pe[0,0].0")
    for _ in range(15):
        for debug in runs:
            debug.stepc(13)
        for name in ("q1", "q2", "weights", "input", "output"):
            items = [str(display_value(debug, debug.expression(name))) for debug in runs]
            assert items[0] == items[1], name


def test_each_name_of_a_box_that_is_offered_is_one(at_work):
    """Each completed name of a box is valid, though the name of box 520 has an apostrophe."""
    offered = at_work.complete("print selector_")
    assert "selector_of_the_neighbour_s_sum" in offered
    for name in offered:
        assert at_work.execute(f"print {name}").kind == "table"
