"""The requests of an editor about a loaded program, without a connection: bounds, defaults, errors."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.dap import inspection, target, threads
from macaw.debugger.dap.arguments import MOST, MOST_ITEMS
from macaw.debugger.dap.breakpoints import Breakpoints, break_spec, ignore_of, parse_log_message
from macaw.debugger.dap.connection import RequestError
from macaw.debugger.dap.launch import read_launch
from macaw.debugger.dap.target import Target
from macaw.debugger.session import Session
from macaw.debugging import DebuggerFiles
from tests.debugger.programs import of_source
from tests.debugger.programs import session as session_of
from tests.debugger.running import place_of
from tests.debugger.sources import CALLS, STORE_LOOP

Sent = list[tuple[str, Mapping[str, Any]]]


def target_of(session: Session) -> tuple[Target, Sent]:
    """The target of a session, and the list of the events that it sends."""
    sent: Sent = []
    points = Breakpoints()
    points.connect(session)
    interpreter = Interpreter(session, DebuggerFiles())
    return Target(interpreter, points, lambda name, body: sent.append((name, body))), sent


@pytest.fixture
def calls() -> Target:
    return target_of(of_source(CALLS))[0]


@pytest.fixture(scope="module")
def matvec() -> Target:
    """A target at its first instruction: no test of it runs the program."""
    return target_of(session_of("matvec"))[0]


def refusal(act: Callable[..., object], *arguments: Any) -> str:
    with pytest.raises(RequestError) as error:
        act(*arguments)
    return str(error.value)


def value_of(target: Target, expression: str, **more: Any) -> str:
    body = target.answer("evaluate", {"expression": expression, **more})
    assert body is not None
    return str(body["result"])


def planned(target: Target) -> target.Run:
    """The run that the last request has planned."""
    run, target.run = target.run, None
    assert run is not None
    return run


# Breakpoints


def test_breakpoints_by_the_old_list_of_lines(calls):
    """`lines` is the list of older editors; `breakpoints` goes before it."""
    source = {"source": {"path": "test.s"}}
    rows = calls.answer("setBreakpoints", {**source, "lines": [7, 9]})["breakpoints"]
    assert [(x["id"], x["verified"], x["line"]) for x in rows] == [(1, True, 7), (2, True, 9)]
    rows = calls.answer("setBreakpoints", {**source, "lines": [7], "breakpoints": [{"line": 9}]})
    assert [(x["id"], x["line"]) for x in rows["breakpoints"]] == [(2, 9)]
    assert [x.text for x in calls.session.points.all.values()] == ["test.s:9"]


def test_breakpoints_of_two_files_are_two_groups(calls):
    for path in ("/no/b.s", "/no/c.s"):
        wanted = {"source": {"path": path}, "breakpoints": [{"line": 1}]}
        (row,) = calls.answer("setBreakpoints", wanted)["breakpoints"]
        assert row["message"] == f"the program has no lines of {path}"
    assert [point.id for point in calls.breakpoints] == [1, 2]
    calls.answer("setBreakpoints", {"source": {"path": "/no/b.s"}})
    assert [point.id for point in calls.breakpoints] == [2]


@pytest.mark.parametrize(("offset", "line"), [(None, 8), (0, 8), (-4, 7), (8, 9)])
def test_an_instruction_breakpoint_has_an_offset(calls, offset, line):
    wanted = {"instructionReference": "0x10004"}
    if offset is not None:
        wanted["offset"] = offset
    (row,) = calls.answer("setInstructionBreakpoints", {"breakpoints": [wanted]})["breakpoints"]
    # `li` in line 7 is one instruction, `call` in line 8 two, then comes `twice`
    assert row["line"] == line
    assert int(row["instructionReference"], 16) == 0x10004 + (offset or 0)


def test_a_filter_may_have_a_condition(calls):
    rows = calls.answer(
        "setExceptionBreakpoints",
        {"filters": ["stall"], "filterOptions": [
            {"filterId": "fault"}, {"filterId": "fault", "condition": "a0 == 1"}]},
    )["breakpoints"]  # fmt: skip
    assert [row["verified"] for row in rows] == [True] * 3
    found = [(x.kind, x.text, x.condition) for x in calls.session.points.all.values()]
    assert found == [
        ("catch", "stall", ""), ("catch", "fault", ""), ("catch", "fault", "a0 == 1")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("hits", "ignored"),
    [("", 0), ("  ", 0), ("0", 0), ("1", 0), ("2", 1), (">= 1", 0), (">=5", 4), ("> 0", 0),
     (" > 5 ", 5), ("999999999", 999_999_998)],
)  # fmt: skip
def test_how_many_hits_a_condition_ignores(hits, ignored):
    assert ignore_of(hits) == ignored
    assert break_spec("f", "c", hits) == ("break", "f", "c", ignored, "", (), "", "")


@pytest.mark.parametrize("hits", ["1234567890", "-1", "= 3", "%2", "x" * 41])
def test_a_hit_condition_that_is_none(hits):
    message = f"a hit count is N, >= N or > N, not '{hits[:40]}'"
    assert refusal(ignore_of, hits) == message
    assert break_spec("f", "c", hits) == ("break", "f", "c", 0, "", (), "", message)


def test_a_message_is_a_dprintf():
    assert break_spec("f", "c", "1", "a {x} {b }%") == (
        "dprintf", "f", "c", 0, "a %s %s%%", ("x", "b"), "", ""
    )  # fmt: skip
    assert parse_log_message("{a[1]}{ b}% {{c}") == ("%s%s%% {%s", ("a[1]", "b", "c"))
    problem = "a message has no hit count; a condition can count"
    assert break_spec("f", "c", "2", "x") == ("dprintf", "f", "c", 0, "", (), "", problem)


def test_what_can_be_watched(calls):
    """A register can be watched for each kind of access, a counter only for a change."""
    assert calls.answer("dataBreakpointInfo", {"name": "s0"}) == {
        "dataId": "cp|s0", "description": "s0", "accessTypes": ["write", "read", "readWrite"],
        "canPersist": True,
    }  # fmt: skip
    info = calls.answer("dataBreakpointInfo", {"name": "cp.instructions"})
    assert info["accessTypes"] == ["write"]
    info = calls.answer("dataBreakpointInfo", {"name": "nobody"})
    assert info.keys() == {"dataId", "description"}
    assert info["dataId"] is None
    assert "nobody" in info["description"]


def test_a_watch_of_an_address_has_4_bytes_by_default(calls):
    at = {"name": "0x80000000", "asAddress": True}
    for size, shown in ((None, 4), (1, 1), (1 << 16, 1 << 16)):
        more = {} if size is None else {"bytes": size}
        info = calls.answer("dataBreakpointInfo", {**at, **more})
        assert info["dataId"] == f"cp|mem[0x80000000].u8[0:{shown}]"
    for size in (0, (1 << 16) + 1):
        message = refusal(calls.answer, "dataBreakpointInfo", {**at, "bytes": size})
        assert message == f"bytes is 1 to 65,536, not {size:,}"


def test_watches_of_the_editor(calls):
    wanted = [
        {"dataId": "cp|s0"}, {"dataId": "cp|s1", "accessType": "read", "hitCondition": "> 2"},
        {"dataId": "cp|s2", "accessType": "readWrite", "condition": "s0 == 1"},
        {"dataId": "cp|s3", "accessType": "x" * 41}, {"dataId": "qq|s4", "condition": "c"},
        {"dataId": "cp|s5", "hitCondition": "q"},
    ]  # fmt: skip
    rows = calls.answer("setDataBreakpoints", {"breakpoints": wanted})["breakpoints"]
    assert [row["verified"] for row in rows] == [True] * 3 + [False] * 3
    assert [row.get("message", "")[:40] for row in rows[3:]] == [
        f"an accessType is write, read, readWrite, not {'x' * 40}"[:40],
        rows[4]["message"][:40], "a hit count is N, >= N or > N, not 'q'",
    ]  # fmt: skip
    assert rows[3]["message"].endswith(f", not {'x' * 40}")
    assert "qq" in rows[4]["message"]
    assert [
        (x.kind, x.text, x.condition, x.ignore, [str(place) for place in x.focus])
        for x in calls.session.points.all.values()
    ] == [
        ("watch", "s0", "", 0, ["cp"]), ("rwatch", "s1", "", 2, ["cp"]),
        ("awatch", "s2", "s0 == 1", 0, ["cp"]),
    ]  # fmt: skip


def test_a_watch_is_of_the_place_of_its_frame_or_container(matvec):
    """Without a frame, it is of the focus, `cp`."""
    bank = next(core for core in matvec.session.device.order if core.name == "fim[1]")
    frame = matvec.threads.stack({"threadId": bank.number + 1})["stackFrames"][0]["id"]
    found = [
        matvec.answer("dataBreakpointInfo", {"name": "x[0]", **more})["dataId"]
        for more in ({}, {"frameId": frame})
    ]
    assert found == ["cp|x[0]", "fim[1]|x[0]"]
    container = next(x for x in scopes(matvec, frame) if x["name"] == "Tensors")
    wanted = {"name": "x", "variablesReference": container["variablesReference"]}
    assert matvec.answer("dataBreakpointInfo", wanted)["dataId"] == "fim[1]|x"
    message = refusal(matvec.answer, "dataBreakpointInfo", {**wanted, "name": "z" * 81})
    assert message == f"there is no variable {'z' * 80}"


def test_a_point_that_stays_keeps_its_number(calls):
    names = [{"name": "double"}, {"name": "deep"}, {"name": "double"}]
    first = calls.answer("setFunctionBreakpoints", {"breakpoints": names})["breakpoints"]
    assert [row["id"] for row in first] == [1, 2, 3]
    again = calls.answer("setFunctionBreakpoints", {"breakpoints": names[1:]})["breakpoints"]
    assert [row["id"] for row in again] == [2, 1]
    calls.answer("setFunctionBreakpoints", {"breakpoints": names[:1]})
    assert [x.text for x in calls.session.points.all.values()] == ["double"]


# Values


def scopes(target: Target, frame: int) -> list[dict[str, Any]]:
    body = target.answer("scopes", {"frameId": frame})
    assert body is not None
    rows: list[dict[str, Any]] = body["scopes"]
    return rows


def test_a_core_has_the_scopes_of_what_it_has(matvec):
    """The two cores differ: `cp` has neither queues nor units, `pe[0]` has both."""
    found = {}
    for core in matvec.session.device.order:
        frame = matvec.threads.stack({"threadId": core.number + 1})["stackFrames"][0]["id"]
        rows = scopes(matvec, frame)
        found[core.name] = [row["name"] for row in rows]
        assert [row.get("presentationHint") for row in rows] == ["registers"] + [None] * (
            len(rows) - 1
        )
        for row in rows:
            body = matvec.answer("variables", {"variablesReference": row["variablesReference"]})
            assert row["namedVariables"] == len(body["variables"])
            assert row["expensive"] is False
    first, last = ["Registers", "Tensors"], ["Counters"]
    assert found == {
        "cp": first + last, "vc": first + last,
        "dma": [*first, "Queues", *last], "nnp": [*first, "Queues", *last],
        "fim[0]": [*first, *last, "Units"], "fim[1]": [*first, *last, "Units"],
        "pe[0]": [*first, "Queues", *last, "Units"], "pe[1]": [*first, "Queues", *last, "Units"],
    }  # fmt: skip


def children(target: Target, reference: int, **more: Any) -> list[dict[str, Any]]:
    body = target.answer("variables", {"variablesReference": reference, **more})
    assert body is not None
    rows: list[dict[str, Any]] = body["variables"]
    return rows


def test_units_have_units_down_to_the_last_level(matvec):
    """A unit has its registers and its queues, then its own units; a bank has no queues."""
    tree: dict[str, list[str]] = {}
    for name in ("fim[0]", "pe[0]"):
        number = matvec.session.device.cores[name].number + 1
        frame = matvec.threads.stack({"threadId": number})["stackFrames"][0]["id"]
        rows = children(matvec, scopes(matvec, frame)[-1]["variablesReference"])
        while "Registers" not in [row["name"] for row in rows] or len(rows) > 2:
            tree[name] = [*tree.get(name, []), rows[-1]["name"]]
            rows = children(matvec, rows[-1]["variablesReference"])
        tree[name] += [row["name"] for row in rows]
    # `tiny` has 4 banks a channel, and 2 clusters of 4 PEs a core
    assert tree == {
        "fim[0]": ["fim[0,3]", "Registers"],
        "pe[0]": ["pe[0,1]", "pe[0,1].3", "Registers", "Queues"],
    }


def test_children_by_parts(matvec, monkeypatch):
    frame = matvec.threads.stack({"threadId": 1})["stackFrames"][0]["id"]
    tensors = scopes(matvec, frame)[1]["variablesReference"]
    x = children(matvec, tensors)[0]["variablesReference"]
    array = matvec.session.read("x")

    def part(**more: Any) -> list[str]:
        return [row["value"] for row in children(matvec, x, **more)]

    texts = [str(value) for value in array]
    assert part() == part(start=0, count=0) == part(filter="indexed") == part(filter="q") == texts
    assert part(filter="named") == []
    assert part(start=3, count=2) == texts[3:5]
    assert part(start=62, count=9) == texts[62:]
    assert children(matvec, tensors, filter="indexed") == []
    assert len(children(matvec, tensors, filter="named")) == len(children(matvec, tensors))
    monkeypatch.setattr(inspection, "MOST_CHILDREN", 5)
    assert part() == part(count=6) == texts[:5]
    assert part(count=4) == texts[:4]


@pytest.mark.parametrize(
    ("value", "plain", "hexadecimal"),
    [
        (65535, "65535", "0xffff"),
        (-1, "-1", "0xffffffff"),
        (1.5, "1.5", "1.5"),
        (True, "yes", "0x1"),
        (None, "-", "-"),
        ([1, 2], "[1, 2]", "[1, 2]"),
        (np.arange(8, 10), "[8, 9]", "[0x8, 0x9]"),
        (np.arange(8), "[0, 1, 2, 3, 4, 5, 6, 7]", "[0x0, 0x1, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7]"),
        (np.arange(9), "[0, 1, 2, 3, 4, 5, 6, 7, ...]", "[0x0, 0x1, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, ...]"),
        (np.array([1.5, 2]), "[1.5, 2]", "[1.5, 2]"),
        ("x" * 4000, "x" * 4000, "x" * 4000),
        ("x" * 4001, "x" * 3996 + " ...", "x" * 3996 + " ..."),
    ],
)  # fmt: skip
def test_a_value_is_one_line(matvec, value, plain, hexadecimal):
    assert matvec.inspection.text(value, is_hexadecimal=False) == plain
    assert matvec.inspection.text(value, True) == hexadecimal


@pytest.mark.parametrize("is_hexadecimal", [False, True])
@pytest.mark.parametrize(
    ("number", "is_address"),
    [(65535, False), (65536, True), ((1 << 32) - 1, True), (1 << 32, False)],
)
def test_numbers_from_65536_on_are_also_addresses(matvec, number, is_address, is_hexadecimal):
    asked = {"expression": str(number), "format": {"hex": is_hexadecimal}}
    body = matvec.answer("evaluate", asked)
    shown = f"{number:#x}" if is_hexadecimal else f"{number}"
    if is_address and not is_hexadecimal:
        shown += f"  {number:#010x}"
    if number == 65536:
        shown += " <default.first>"
    assert body == {
        "result": shown, "type": "int", "variablesReference": 0,
        **({"memoryReference": f"{number:#010x}"} if is_address else {}),
    }  # fmt: skip


def test_a_value_in_memory_is_no_address_of_another(matvec):
    """Only its own address is a reference to memory."""
    body = matvec.answer("evaluate", {"expression": "x"})
    address = matvec.session.program.symbol("x").value
    assert body["memoryReference"] == f"{address:#010x}"
    assert (body["type"], body["indexedVariables"]) == ("int8[64]", 64)
    pointer = matvec.answer("evaluate", {"expression": "pc", "format": {"hex": True}})
    assert pointer["result"] == pointer["memoryReference"] == "0x00010000"


def test_an_element_has_its_own_bits_and_address_and_a_sum_has_none(matvec):
    """As in GDB, `x[n]` of an int8 shows 8 bits. The value of `x[n] + 1` is not in memory."""
    array = matvec.session.read("x")
    place = int(np.argmin(array))
    address = matvec.session.program.symbol("x").value

    def answer(text):
        return matvec.answer("evaluate", {"expression": text, "format": {"hex": True}})

    element = answer(f"x[{place}]")
    assert array[place] < 0
    assert element["result"] == f"0x{array[place].tobytes().hex()}"
    assert element["memoryReference"] == f"{address + place:#010x}"
    row = f"[{', '.join(f'{byte:#x}' for byte in array[place : place + 3].tobytes())}]"
    assert answer(f"x[{place}:{place + 3}]")["result"] == row
    assert "memoryReference" not in answer(f"x[{place}] + 1")
    inner = answer(f"x[x[{place}] - x[{place}] + {place}]")
    assert inner["memoryReference"] == element["memoryReference"]


def test_the_clipboard_has_all_elements(matvec):
    text = value_of(matvec, "x", context="clipboard")
    assert text == f"[{', '.join(map(str, matvec.session.read('x')))}]"
    assert value_of(matvec, "x", context="hover") == text[: text.index("-100,") + 6] + "...]"
    assert (
        refusal(matvec.answer, "evaluate", {"expression": "x[64]"})
        == "x has no element 64, it has 64"
    )


def test_counters_can_only_be_read(calls):
    frame = calls.threads.stack({"threadId": 1})["stackFrames"][0]["id"]
    calls.session.stepi(20)
    rows = {}
    for is_hexadecimal in (False, True):
        reference = scopes(calls, frame)[-1]["variablesReference"]
        rows[is_hexadecimal] = children(calls, reference, format={"hex": is_hexadecimal})[0]
    assert rows[False] == {
        "name": "instructions", "value": "20", "type": "instructions",
        "evaluateName": "cp.instructions", "variablesReference": 0,
        "presentationHint": {"attributes": ["readOnly"]},
    }  # fmt: skip
    assert rows[True] == {**rows[False], "value": "0x14"}


def test_the_program_counter_is_set(calls):
    body = calls.answer("setExpression", {"expression": "pc", "value": "pc + 4"})
    assert body["value"] == "0x00010004"
    assert calls.session.where().line == 8
    assert calls.has_changed()
    assert value_of(calls, "pc") == "0x00010004"
    assert not calls.has_changed()
    refusal(calls.answer, "setExpression", {"expression": "pc", "value": "1 +"})
    assert refusal(calls.inspection.assign, calls.session.focus[0], "", "1") == (
        "this value cannot be set"
    )


# The console


@pytest.mark.parametrize(
    ("line", "column", "start", "length"),
    [("info reg", 9, 6, 3), ("info reg x", 9, 6, 3), ("info reg", 8, 6, 2), ("disas", 6, 1, 5),
     ("disas", 2, 1, 1), ("info ", 6, 6, 0), ("disas", 1, 1, 0), ("disas", 0, 1, 0)],
)  # fmt: skip
def test_completions_replace_the_word_before_the_column(calls, line, column, start, length):
    targets = calls.answer("completions", {"text": line, "column": column})["targets"]
    word = line[start - 1 : start - 1 + length]
    assert targets
    for row in targets:
        assert row == {"label": row["label"], "start": start, "length": length}
        assert row["label"].startswith(word)


def test_there_are_not_more_completions_than_allowed(calls, monkeypatch):
    every = calls.answer("completions", {"text": "", "column": 1})["targets"]
    monkeypatch.setattr(target, "MOST_COMPLETIONS", 3)
    assert calls.answer("completions", {"text": "", "column": 1})["targets"] == every[:3]


def test_a_command_that_moves_has_its_stop_as_a_run() -> None:
    calls, sent = target_of(of_source(CALLS))
    calls.answer("setFunctionBreakpoints", {"breakpoints": [{"name": "deep"}]})
    body = calls.answer("evaluate", {"expression": "stepi", "context": "repl"})
    assert body is not None
    assert sent == [("continued", {"threadId": 1, "allThreadsContinued": True})]
    run = planned(calls)
    assert (run.can_resume, run.reason, run.is_printed) == (False, "", True)
    assert run.act() is calls.session.last_stop
    assert body["variablesReference"] == 0
    assert "step done" in body["result"]
    calls.answer("evaluate", {"expression": "delete", "context": "repl"})
    assert sent[1:] == [
        ("breakpoint", {"reason": "removed", "breakpoint": {"id": 1, "verified": False}})
    ]
    assert calls.run is None
    assert not calls.leaves
    calls.answer("evaluate", {"expression": "quit", "context": "repl"})
    calls.answer("evaluate", {"expression": "print 1", "context": "repl"})
    assert calls.leaves


def test_a_command_is_of_the_frame_unless_the_focus_is_in_its_core(matvec):
    def focus_after(thread: int) -> list[str]:
        frame = matvec.threads.stack({"threadId": thread})["stackFrames"][0]["id"]
        matvec.answer("evaluate", {"expression": "print 1", "context": "repl", "frameId": frame})
        return [str(place) for place in matvec.session.focus]

    session = matvec.session
    number = session.device.cores["pe[0]"].number + 1
    try:
        session.set_focus("pe[0,1].2")
        assert focus_after(number) == ["pe[0,1].2"]
        assert focus_after(number + 1) == ["pe[1]"]
        assert matvec.has_changed()
        assert focus_after(number + 1) == ["pe[1]"]
        assert not matvec.has_changed()
    finally:
        session.set_focus("cp")


# Runs


def test_which_runs_may_be_interrupted(calls):
    assert calls.answer("continue", {"threadId": 1}) == {"allThreadsContinued": True}
    run = planned(calls)
    assert (run.act, run.can_resume, run.reason) == (calls.session.cont, True, "")
    calls.answer("reverseContinue", {"threadId": 1})
    run = planned(calls)
    assert (run.act, run.can_resume) == (calls.session.cont_back, False)
    calls.start(False)
    run = planned(calls)
    assert (run.act, run.can_resume, run.reason) == (calls.session.cont, True, "")
    calls.start(True)
    run = planned(calls)
    assert (run.act(), run.can_resume, run.reason) == (calls.session.last_stop, False, "entry")
    calls.answer("stepOut", {"threadId": 1})
    assert planned(calls).can_resume is False
    message = refusal(calls.answer, "next", {"threadId": 1, "granularity": "p" * 41})
    assert message == f"a granularity is statement, line or instruction, not {'p' * 40}"
    for command in ("continue", "reverseContinue", "goto", "exceptionInfo"):
        assert refusal(calls.answer, command, {"threadId": 77}) == "there is no thread 77"
    assert calls.run is None


def test_goto_stops_at_its_target(calls):
    last = (1 << 32) - 1
    message = refusal(calls.answer, "goto", {"threadId": 2, "targetId": last})
    assert message == "dma executes nothing at 0xffffffff"
    message = refusal(calls.answer, "goto", {"threadId": 2, "targetId": last + 1})
    assert message == "targetId is 0 to 4,294,967,295, not 4,294,967,296"
    calls.answer("goto", {"threadId": 1, "targetId": 0x10004})
    run = planned(calls)
    stop = run.act()
    assert (stop.reason, run.reason, run.can_resume) == ("arrived", "goto", False)
    assert (place_of(stop).address, place_of(stop).line) == (0x10004, 8)


def test_an_event_is_an_exception(calls):
    message = refusal(calls.answer, "exceptionInfo", {"threadId": 1})
    assert message == "the program has not stopped by an exception, but by start"
    matvec, _ = target_of(session_of("matvec"))
    matvec.session.catch("stall")
    assert matvec.session.cont().reason == "event"
    body = matvec.answer("exceptionInfo", {"threadId": 1})
    assert body is not None
    assert body["exceptionId"] == body["details"]["typeName"] == "stall"
    assert body["breakMode"] == "always"
    assert body["description"] == body["details"]["message"]


def test_written_memory_is_an_event():
    stores, sent = target_of(of_source(STORE_LOOP))
    address = stores.session.program.symbol("data").value
    data = base64.b64encode(b"abc").decode()
    asked = {"memoryReference": f"{address:#x}", "offset": 4, "data": data}
    assert stores.answer("writeMemory", asked) == {"bytesWritten": 3}
    place = f"{address + 4:#010x}"
    assert sent == [("memory", {"memoryReference": place, "offset": 0, "count": 3})]
    assert stores.has_changed()


# Threads and frames


def test_frames_have_a_limit(calls, monkeypatch):
    calls.session.break_("double", ignore=1)
    calls.session.cont()
    monkeypatch.setattr(threads, "MOST_FRAMES", 2)
    body = calls.answer("stackTrace", {"threadId": 1})
    assert body["totalFrames"] == 3
    assert [(row["id"], row["name"], row["column"]) for row in body["stackFrames"]] == [
        (1, "double", 1), (2, "deep+16", 1)
    ]  # fmt: skip
    part = calls.answer("stackTrace", {"threadId": 1, "levels": 1, "startFrame": 1})
    assert [row["id"] for row in part["stackFrames"]] == [2]
    part = calls.answer("stackTrace", {"threadId": 1, "levels": 3, "startFrame": 2})
    assert [row["id"] for row in part["stackFrames"]] == [3]


def test_numbers_that_are_too_great(calls):
    for command, name, most in (
        ("threads", "", 0), ("stackTrace", "threadId", 1 << 31), ("scopes", "frameId", 1 << 53),
        ("variables", "variablesReference", MOST),
    ):  # fmt: skip
        if name:
            message = refusal(calls.answer, command, {name: most + 1})
            assert message == f"{name} is 0 to {most:,}, not {most + 1:,}"
            assert refusal(calls.answer, command, {name: most}).startswith("there ")
    lines = [{"line": 7}] * (MOST_ITEMS + 1)
    asked = {"source": {"path": "test.s"}, "breakpoints": lines}
    assert (
        refusal(calls.answer, "setBreakpoints", asked) == "breakpoints has more than 10,000 items"
    )
    assert len(calls.answer("setBreakpoints", {**asked, "breakpoints": lines[1:]})["breakpoints"]) == (
        MOST_ITEMS
    )  # fmt: skip
    long = "1" + " " * 65_535
    assert value_of(calls, long) == "1"
    assert refusal(value_of, calls, long + " ") == "expression has more than 65,536 characters"


# Launch


def test_the_values_of_a_launch():
    assert read_launch({"program": "a.s"}) == read_launch({"program": ["a.s"]})
    found = read_launch({"program": "a.s"})
    assert (found.program, found.folder, found.inputs) == (("a.s",), "", {})
    assert (found.device, found.engine, found.item) == (None, None, None)
    assert (found.stop_on_entry, found.stop_on_exit, found.no_debug) == (False, False, False)
    found = read_launch({
        "program": ["a.s", "/b.s"], "cwd": "/w", "inputs": {"x": "x.npy"}, "engine": "fast",
        "item": 0, "device": "tiny", "stopOnEntry": True, "stopOnExit": False, "noDebug": True,
    })  # fmt: skip
    assert (found.program, found.inputs) == (("/w/a.s", "/b.s"), {"x": "/w/x.npy"})
    assert (found.device, found.engine, found.item) == ("tiny", "fast", 0)
    assert (found.stop_on_entry, found.stop_on_exit, found.no_debug) == (True, False, True)
    for device, path in (("my.toml", "/w/my.toml"), ("d/mine", "/w/d/mine"), ("/d/m", "/d/m")):
        assert read_launch({"program": "a.s", "cwd": "/w", "device": device}).device == path
    for program in (["a.s", ""], "", []):
        assert refusal(read_launch, {"program": program}) == "program must name a file or a folder"
    assert refusal(read_launch, {"program": "a", "cwd": "\0"}) == "a path has no zero characters"
