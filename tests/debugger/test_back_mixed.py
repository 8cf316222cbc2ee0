"""Going forward and back in any mixture: a position has one state, however it was reached.

The witness is a device of the other engine that runs from the start to each position, without a
session, points or checkpoints.
"""

from __future__ import annotations

import contextlib
from functools import cache, partial
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macaw.debugger.session import Session
from macaw.debugger.stops import SessionError
from macaw.emu.device import Device
from macaw.emu.engines import ENGINES
from macaw.execution import configuration_of
from tests.debugger.programs import of_source
from tests.debugger.sources import CALLS
from tests.debugger.transcripts import program_and_inputs
from tests.fuzzing import tries

pytestmark = pytest.mark.once

# By core: its program, the cycle from which it works, a watched place, and points that it meets.
CORES = {
    "cp": ("calls.s", 10, "cp", [
        ("break", "loop", {"condition": "s0 % 3 == 1"}), ("watch", "y[0, 1:]", {}),
    ]),
    "dma": ("fim_dot", 0, "dma", [
        ("catch", "dma-done", {"condition": "dma.transfers.level == 0"}),
        ("watch", "dma.bytes / 512 % 2", {}),
    ]),
    "vc": ("vector_dot", 30, "vc", [
        ("break", "dot.s:41", {"condition": "t1 % 5 == 1"}), ("watch", "y[0]", {}),
    ]),
    "nnp": ("nnp_softmax", 100, "nnp", [
        ("break", "nnp_softmax.s:24", {"condition": "nnp.chain.iteration == 0"}),
        ("watch", "nnp.chain.iteration == 2", {}),
    ]),
    "fim": ("fim_dot", 400, "fim[0]", [
        ("break", "dot.s:42", {"condition": "fim[0].instructions % 4 == 1"}),
        ("watch", "fim[0].bank[0].rz.f16[0]", {}),
    ]),
    "pe": ("layer", 60, "pe[0,1].2", [
        ("break", "layer.s:11", {"condition": "pe[0,1].2.macs >= 0"}),
        ("watch", "pe[0,1].2.acc0", {}),
    ]),
}  # fmt: skip


def begun(name, engine):
    """A session of the program `name` of `CORES`, with its points, at the cycle given there."""
    folder, cycle, focus, points = CORES[name]
    loads, inputs = program_and_inputs(folder)
    debug = Session(loads, configuration_of(loads), inputs, engine)
    debug.set_focus(focus)
    for kind, text, more in points:
        debug.points.add(kind, text, **more)
    debug.goto(cycle)
    return debug


@cache
def truth(folder, engine):
    """The states of a program by position, filled by `states` when a test needs them."""
    return {}


def states(folder, engine, positions):
    """The states at positions, from a device that only runs forward."""
    known = truth(folder, engine)
    asked = sorted(set(positions) - set(known))
    if asked:
        loads, inputs = program_and_inputs(folder)
        device = Device(configuration_of(loads), engine=engine)
        device.load(loads)
        for name, array in inputs.items():
            device.write_tensor(name, array)
        for cycle, turn in asked:
            if device.position < (cycle, turn):
                device.run(until=cycle, turn=turn)
            known[cycle, turn] = device.hash()
    return [known[position] for position in positions]


FORTH = {
    "stepi": lambda debug, n: debug.stepi(n),
    "stepc": lambda debug, n: debug.stepc(n * n),
    "step": lambda debug, n: debug.step(n),
    "next": lambda debug, n: debug.step(n, over=True),
    "finish": lambda debug, n: debug.finish(),
    "stepx": lambda debug, n: debug.stepx(),
    "continue": lambda debug, n: debug.cont(),
}
BACK = {
    "reverse-stepi": lambda debug, n: debug.stepi_back(n),
    "reverse-stepc": lambda debug, n: debug.stepc_back(n * n),
    "reverse-step": lambda debug, n: debug.back(n),
    "reverse-next": lambda debug, n: debug.back(n, over=True),
    "reverse-stepx": lambda debug, n: debug.stepx_back(),
    "reverse-continue": lambda debug, n: debug.cont_back(),
    "goto": lambda debug, n: debug.goto(37 * n),
}
EXAMPLES = {"nnp": 3}  # its state is large
moves = st.lists(st.tuples(st.sampled_from([*FORTH, *BACK]), st.integers(1, 6)), min_size=3, max_size=10)  # fmt: skip


@pytest.mark.few(8)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", CORES)
def test_a_position_is_one_state(name, engine):
    folder = CORES[name][0]
    other = next(x for x in ENGINES if x != engine)
    debug = begun(name, engine)

    @settings(max_examples=tries(EXAMPLES.get(name, 5)))
    @given(moves)
    def goes(chosen):
        debug.restart_program()
        debug.goto(CORES[name][1])
        seen = []
        for move, count in chosen:
            try:
                ({**FORTH, **BACK})[move](debug, count)
            except SessionError:
                continue  # nothing runs there
            seen.append((debug.device.position, debug.device.hash()))
        assert [x for _, x in seen] == states(folder, other, [at for at, _ in seen])

    goes()


EDITS = {"cp": "s0", "vc": "t1", "fim": "fim[0].bank[0].rz.f16[0]", "pe": "pe[0,1].2.acc0"}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", EDITS)
def test_behind_an_edit_a_position_is_one_state_too(name, engine):
    """After an edit, a position has the same state however the session reached it.

    The witness is a session of the other engine that makes the edit and runs on from there.
    """
    other = next(x for x in ENGINES if x != engine)
    debug, witness = begun(name, engine), begun(name, other)

    @settings(max_examples=tries(4))
    @given(st.integers(0, 60), st.integers(1, 9), moves)
    def goes(later, value, chosen):
        for one in (debug, witness):
            one.restart_program()
            one.goto(CORES[name][1] + later)
            one.set(EDITS[name], value)
        here = debug.device.position
        seen = {here: debug.device.hash()}
        for move, count in chosen:
            with contextlib.suppress(SessionError):
                ({**FORTH, **BACK})[move](debug, count)
            if debug.device.position < here:
                break  # before it, it is not
            known = seen.setdefault(debug.device.position, debug.device.hash())
            assert known == debug.device.hash()
        witness._monitor.disarm()
        for (cycle, turn), state in sorted(seen.items()):
            if witness.device.position < (cycle, turn):
                witness.device.run(until=cycle, turn=turn)
            assert witness.device.hash() == state

    goes()


INVERSE = {"stepi": "reverse-stepi", "stepc": "reverse-stepc", "stepx": "reverse-stepx"}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", CORES)
def test_as_many_back_as_forth(name, engine):
    """Steps back undo steps forward; the same steps forward again give the same states."""
    debug = begun(name, engine)
    debug.points.clear()

    @settings(max_examples=tries(EXAMPLES.get(name, 5)))
    @given(
        st.lists(st.tuples(st.sampled_from([*INVERSE]), st.integers(1, 5)), min_size=1, max_size=6)
    )
    def goes(chosen):
        debug.restart_program()
        debug.goto(CORES[name][1])
        while not debug.core.running:
            debug.goto(debug.device.cycle + 20)
        places = []
        for move, count in chosen:
            here = debug.device.position, debug.device.hash()
            if not debug.core.running or FORTH[move](debug, count).reason != "step":
                debug.goto(*here[0])
                break
            places.append((move, count, here))
        for move, count, here in reversed(places):
            BACK[INVERSE[move]](debug, count)
            assert (debug.device.position, debug.device.hash()) == here
        for (move, count, _), (_, _, there) in pairwise(places):
            FORTH[move](debug, count)
            assert (debug.device.position, debug.device.hash()) == there

    goes()


@pytest.mark.parametrize("name", CORES)
def test_runs_back_meet_conditions_and_watches_that_runs_forth_have_met(name):
    said = []
    for engine in ENGINES:
        debug = begun(name, engine)
        debug.goto(0)
        forth, back = [], []
        while debug.cont().reason != "exit":
            forth.append(_met(debug))
        while not debug.cont_back().at_start:
            back.append(_met(debug))
        assert back == forth[::-1]
        said.append(forth)
    assert said[0] == said[1]
    assert {hit["number"] for stop, _ in said[0] for hit in stop["hits"]} == {1, 2}


def _met(debug):
    """The record of a stop without counts of hits (they differ after going back), and the hash."""
    stop = {key: value for key, value in debug.last_stop.json().items() if key != "message"}
    stop["hits"] = [{**hit, "hits": None} for hit in stop["hits"]]
    return stop, debug.device.hash()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("over", [False, True])
def test_lines_back_as_lines_forth(engine, over):
    debug = of_source(CALLS, engine)
    step, back = partial(debug.step, over=over), partial(debug.back, over=over)

    @settings(max_examples=10)
    @given(st.lists(st.integers(1, 3), min_size=1, max_size=5))
    def goes(counts):
        debug.restart_program()
        places = []
        for count in counts:
            here = debug.device.position, debug.device.hash()
            if step(count).reason != "step":
                debug.goto(*here[0])
                break
            places.append((count, here))
        for count, here in reversed(places):
            back(count)
            assert (debug.device.position, debug.device.hash()) == here

    goes()
