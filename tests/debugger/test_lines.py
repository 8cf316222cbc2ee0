"""Steps by lines, over calls, out of functions; forward and back."""

from __future__ import annotations

import pytest

from macaw.debugger.call_stack import call_addresses, call_stack
from macaw.debugger.source_code import SourceCode
from macaw.debugger.stops import SessionError
from macaw.emu.engines import ENGINES
from tests.debugger.programs import of_source
from tests.debugger.running import place_of
from tests.debugger.sources import CALLS, FEW_CALLS, line_of_calls

pytestmark = pytest.mark.once


def on(core):
    """A session of the program on cp, or on a vc that cp has started."""
    if core == "cp":
        return of_source(CALLS)
    source = CALLS.replace(".core cp", ".core vc").replace("_start:", "vstart:")
    source = source.replace("li   a7, 93\n", "li   a7, 93\n        li   a0, 0\n")
    debug = of_source(source)
    debug.set_focus("vc")
    debug.advance("vstart")
    return debug


CALL, LAST = line_of_calls("call double"), line_of_calls("ecall")


def lines(debug, act, most):
    """The lines at which an action stops, repeated up to `most` times."""
    found = []
    for _ in range(most):
        stop = act()
        found.append(stop.where.line)
        if stop.reason != "step":
            break
    return found


@pytest.mark.parametrize("engine", ENGINES)
def test_step_goes_into_calls_and_next_over_them(engine):
    debug = of_source(CALLS, engine)
    assert lines(debug, debug.step, 6) == [CALL, *(line_of_calls("double:") + n for n in (0, 1)),
                                           line_of_calls("twice a0"), line_of_calls("call deep"), line_of_calls("deep:")]  # fmt: skip
    debug = of_source(CALLS, engine)
    over = lines(debug, lambda: debug.step(over=True), 5)
    assert over == [CALL, CALL + 1, CALL + 2, CALL + 3, CALL + 4]
    assert debug.read("a0") == 3 * 2 * 4 * 2 * 2
    assert debug.core.retired > 15


def test_a_line_that_jumps_to_itself_is_a_step_each_time():
    debug = of_source(".core cp\n_start: addi a0, a0, 1\nhere: j here\n")
    assert lines(debug, debug.step, 4) == [3, 3, 3, 3]
    assert debug.core.retired == 4


def test_finish_goes_out_of_the_function_it_is_in():
    debug = of_source(CALLS)
    debug.advance("deep+8")
    stop = debug.finish()
    assert stop.reason == "arrived"
    assert place_of(stop).line == CALL + 3
    debug = of_source(CALLS)
    debug.advance("double")
    assert place_of(debug.finish()).line == CALL + 1
    debug.advance("double")  # the one that deep calls
    assert place_of(debug.finish()).line == line_of_calls("addi t0")
    assert place_of(debug.finish()).line == CALL + 3
    assert debug.finish().reason == "exit"


def test_advance_stops_at_points_on_its_way():
    debug = of_source(CALLS)
    debug.points.add("break", "double")
    assert debug.advance("again").reason == "breakpoint"
    assert debug.advance("double").reason == "breakpoint"  # both: the point is named
    assert debug.advance(str(LAST)).reason == "breakpoint"
    debug.points.clear()
    stop = debug.advance(str(LAST))
    assert (stop.reason, place_of(stop).line) == ("arrived", LAST)


@pytest.mark.few(2)  # each engine, and each of the two steps
@pytest.mark.parametrize("over", [False, True])
@pytest.mark.parametrize("engine", ENGINES)
def test_lines_back_are_the_lines_forth(engine, over):
    debug = of_source(FEW_CALLS, engine)
    states = [debug.device.hash()]
    while debug.step(over=over).reason == "step":
        states.append(debug.device.hash())
    stop = debug.last_stop
    while states:
        stop = debug.back(over=True) if over else debug.back()
        assert debug.device.hash() == states.pop()
    assert stop.at_start
    assert debug.back(over=over).at_start


def test_what_is_done_is_stepped_no_more():
    debug = of_source(CALLS)
    debug.run()
    assert debug.step().reason == "exit"
    debug.set_focus("vc")
    debug.restart_program()
    with pytest.raises(SessionError, match="vc: nothing runs"):
        debug.step()


NESTED = """
        .core cp
_start: li   a0, 3
        call outer
        ebreak
outer:  addi sp, sp, -16
        sw   ra, 12(sp)
        li   t0, 5
        jal  middle
        lw   ra, 12(sp)
        addi sp, sp, 16
        ret
middle: addi sp, sp, -16
        sw   ra, 8(sp)
        jal  inner
        lw   ra, 8(sp)
        addi sp, sp, 16
        ret
inner:  addi a0, a0, -1
        bnez a0, again_
        ret
again_: addi sp, sp, -16
        sw   ra, 4(sp)
        jal  inner
        lw   ra, 4(sp)
        addi sp, sp, 16
        ret
"""


# A function before its caller.
BEFORE = """
        .core cp
early:  addi sp, sp, -16
        sw   ra, 12(sp)
        addi sp, sp, 16
        ret
_start: call early
        ebreak
"""


def called(debug):
    """The labels of the frames, innermost first."""
    symbols = [one.symbol for one in call_stack(debug, debug.core)]
    return [symbol and symbol.split("+")[0] for symbol in symbols]


def test_who_has_called():
    debug = of_source(NESTED)
    assert called(debug) == ["_start"]
    debug.advance("inner")
    assert called(debug) == ["inner", "middle", "outer", "_start"]
    debug.advance("inner")
    debug.advance("inner")
    assert called(debug) == ["inner", "again_", "again_", "middle", "outer", "_start"]
    debug.finish()
    assert called(debug) == ["again_", "again_", "middle", "outer", "_start"]
    debug = of_source(NESTED)
    debug.advance("middle+8")  # the link is saved by now, and still in its register
    assert called(debug) == ["middle", "outer", "_start"]
    debug.set_focus("vc")
    assert called(debug) == []
    debug = of_source(BEFORE)
    debug.advance("early+8")
    assert called(debug) == ["early", "_start"]


@pytest.mark.parametrize("offset", range(0, 24, 4))
def test_the_caller_is_known_at_each_instruction_of_a_function(offset):
    """The link register has its address before it is stored and after it is loaded again."""
    debug = of_source(NESTED)
    debug.advance(f"middle+{offset}")
    assert called(debug) == ["middle", "outer", "_start"]


# The recursive function returns from code after its return, on a path that stores no link.
EARLY = """
        .core cp
_start: li   a0, 2
        call down
        ebreak
down:   beqz a0, 1f
        addi sp, sp, -16
        sw   ra, 12(sp)
        addi a0, a0, -1
        jal  down
        lw   ra, 12(sp)
        addi sp, sp, 16
        ret
1:      li   a0, 5
        ret
"""


@pytest.mark.parametrize("line", [14, 15])
def test_the_caller_is_known_where_the_link_was_never_stored(line):
    debug = of_source(EARLY)
    debug.advance(f"test.s:{line}")
    assert called(debug) == ["down", "down", "down", "_start"]


# Frames have stale return addresses: of calls that have returned, above and below the places where
# the functions store theirs.
STALE = """
        .core cp
_start: li   a0, 4
        call g
        call f
        call f
        li   a0, 3
        call fib
        call spin
        call leaf
        ebreak
leaf:   addi sp, sp, -32
        sw   a0, 4(sp)
        lw   a0, 4(sp)
        addi sp, sp, 32
        ret
g:      addi sp, sp, -16
        sw   ra, 12(sp)
        call leaf
        call leaf
        lw   ra, 12(sp)
        addi sp, sp, 16
        ret
f:      addi sp, sp, -32
        sw   s0, 24(sp)
        sw   ra, 28(sp)
        call g
        call g
        call leaf
        lw   s0, 24(sp)
        lw   ra, 28(sp)
        addi sp, sp, 32
        ret
fib:    li   t0, 2
        bge  a0, t0, 1f
        ret
1:      addi sp, sp, -16
        sw   s0, 4(sp)
        sw   ra, 8(sp)
        mv   s0, a0
        addi a0, a0, -1
        call fib
        addi a0, s0, -2
        call fib
        lw   ra, 8(sp)
        lw   s0, 4(sp)
        addi sp, sp, 16
        ret
spin:   addi sp, sp, -32
        sw   ra, 16(sp)
        li   s0, 2
2:      beqz s0, 3f
        call leaf
        addi s0, s0, -1
        j    2b
3:      lw   ra, 16(sp)
        addi sp, sp, 32
        ret
"""


# As gcc -Os: a function jumps to another one before it, in place of a call and a return. And a
# function calls itself by a register.
TAILS = """
        .core cp
        j    _start
leaf:   mv   a1, a0
        ret
other:  addi sp, sp, -16
        sw   ra, 12(sp)
        call leaf
        lw   ra, 12(sp)
        addi sp, sp, 16
        ret
        .global _start
_start: call outer
        call again
        li   a0, 1
        call again
        ebreak
outer:  addi sp, sp, -16
        sw   ra, 12(sp)
        call to_leaf
        lw   ra, 12(sp)
        addi sp, sp, 16
        j    other
to_leaf: addi a0, a0, 1
        j    leaf
again:  addi sp, sp, -16
        sw   ra, 12(sp)
        addi a0, a0, -1
        bltz a0, 1f
        la   t0, again
        jalr t0
1:      lw   ra, 12(sp)
        addi sp, sp, 16
        ret
"""


@pytest.mark.parametrize(("source", "least"), [(STALE, 200), (TAILS, 60)])
def test_calls_agree_with_a_stack_of_the_executed_calls(source, least):
    debug = of_source(source)
    core, code = debug.core, SourceCode(debug._debuggee, debug.core)
    calls: list[int] = []
    steps = 0
    while debug.last_stop.reason in ("start", "step"):
        here = core.next_address
        assert here is not None
        assert call_addresses(debug._debuggee, core) == [here, *reversed(calls)], hex(here)
        calls += [here + 4] if code.calls(here) else []
        is_return = code.returns(here)
        debug.stepi()
        if is_return:
            assert core.next_address == calls.pop()
        steps += 1
    assert steps > least
