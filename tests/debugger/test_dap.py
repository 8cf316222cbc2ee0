"""The server for editors, asked request by request; values equal those of a session beside it."""

from __future__ import annotations

import base64
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import macaw
from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.commands.text import answer_text, brief
from macaw.debugger.dap.capabilities import capabilities
from macaw.debugging import DebuggerFiles
from tests.debugger.dap_client import Client, Refused, serving
from tests.debugger.programs import PROGRAMS, of_source, session
from tests.debugger.running import place_of
from tests.debugger.sources import CALLS, STORE_LOOP, VERY_LONG_LOOP, line_of_calls

FAULTY = ".core cp\n_start: li a0, 0x70000000\nlw a1, 0(a0)\nebreak\n"
HELLO = """
        .core cp
_start: li   a7, 64
        li   a0, 1
        la   a1, text
        li   a2, 6
        ecall
        li   a0, 3
        li   a7, 93
        ecall
        .section .data.cp
text:   .ascii "hello\\n"
"""
SHIFT = PROGRAMS / "wrong_shift"


@pytest.fixture
def client() -> Iterator[Client]:
    with serving() as run:
        yield run


@pytest.fixture
def write(tmp_path):
    """A function that writes a source and returns its path."""

    def put(text: str, name: str = "a.s") -> Path:
        path = tmp_path / name
        path.write_text(text, "utf-8")
        return path

    return put


def printed(debug, line: str) -> str:
    """What the prompt of `macaw debug` prints for a line."""
    return answer_text(Interpreter(debug, DebuggerFiles()).execute(line), line)


def refused(client: Client, command: str, **arguments: object) -> str:
    with pytest.raises(Refused) as caught:
        client.request(command, **arguments)
    return str(caught.value)


# From launch to the end


def test_a_breakpoint_the_stack_and_the_end(client, write):
    path = write(CALLS)
    client.launch(path)
    line = line_of_calls("mv   s0")
    rows = client.request(
        "setBreakpoints", source={"path": str(path)}, breakpoints=[{"line": line}, {"line": 999}]
    )["breakpoints"]
    assert [row["verified"] for row in rows] == [True, False]
    assert (rows[0]["line"], rows[0]["source"]["path"]) == (line, str(path))
    assert rows[1]["message"].endswith("has no code, nor has any line after it")
    stop = client.stop("configurationDone")
    assert (stop["reason"], stop["hitBreakpointIds"]) == ("breakpoint", [rows[0]["id"]])
    assert client.request("threads") == {"threads": [{"id": 1, "name": "cp"}]}
    frame = client.frame(1)
    assert (frame["line"], frame["source"]["name"]) == (line, "a.s")
    debug = of_source(CALLS)
    debug.break_(f"test.s:{line}")
    debug.cont()
    assert client.say("info registers a0") == printed(debug, "info registers a0")
    assert client.request("continue", threadId=1) == {"allThreadsContinued": True}
    assert client.event("exited") == {"exitCode": debug.cont().exit_code}
    client.event("terminated")
    client.request("disconnect")


def test_output_of_the_program(client, write):
    client.launch(write(HELLO))
    client.request("configurationDone")
    assert client.event("exited") == {"exitCode": 3}
    assert client.output == "hello\n"


def test_a_fault_is_an_exception(client, write):
    client.launch(write(FAULTY))
    stop = client.stop("configurationDone")
    assert stop["reason"] == "exception"
    info = client.request("exceptionInfo", threadId=1)
    debug = of_source(FAULTY)
    fault = debug.cont().fault
    assert fault is not None
    assert info["exceptionId"] == fault["kind"]
    assert fault["message"] in info["description"]
    client.stop("stepBack", threadId=1)
    assert refused(client, "exceptionInfo", threadId=1).startswith("the program has not stopped by")


def test_without_debugging_no_point_stops_and_a_fault_ends(client, write):
    path = write(FAULTY)
    client.launch(path, noDebug=True, stopOnEntry=True)
    (row,) = client.request(
        "setBreakpoints", source={"path": str(path)}, breakpoints=[{"line": 2}]
    )["breakpoints"]
    assert row["message"] == "the program runs without debugging"
    client.request("configurationDone")
    assert client.event("exited") == {"exitCode": 1}
    client.event("terminated")
    assert "fault at cycle" in client.output


def test_the_end_can_be_a_stop_from_which_to_go_back(client, write):
    path = write(CALLS)
    client.launch(path, stopOnExit=True)
    assert client.stop("configurationDone")["reason"] == "exit"
    client.request(
        "setFunctionBreakpoints", breakpoints=[{"name": "double", "condition": "a0 == 48"}]
    )
    stop = client.stop("reverseContinue", threadId=1)
    assert stop["reason"] == "function breakpoint"
    assert client.request("evaluate", expression="a0", context="hover")["result"] == "48"
    assert client.stop("reverseContinue", threadId=1)["reason"] == "entry"


# Steps


def test_steps_equal_those_of_a_session(client, write):
    debug = of_source(CALLS)
    thread = client.entry(write(CALLS))
    for command, more, act in (
        ("next", {}, lambda: debug.step(over=True)),
        ("next", {"granularity": "line"}, lambda: debug.step(over=True)),
        ("stepIn", {"granularity": "instruction"}, lambda: debug.stepi(only=True)),
        ("stepBack", {"granularity": "instruction"}, debug.nexti_back),
        ("stepIn", {}, debug.step),
        ("stepIn", {"granularity": "statement"}, debug.step),
        ("stepOut", {}, debug.finish),
        ("next", {"granularity": "instruction"}, debug.nexti),
        ("stepBack", {}, lambda: debug.back(over=True)),
    ):
        client.stop(command, threadId=thread, **more)
        record = act()
        frame = client.frame(thread)
        where = place_of(record)
        assert frame["line"] == where.line, command
        assert int(frame["instructionPointerReference"], 16) == where.address
    frames = client.request("stackTrace", threadId=thread)["stackFrames"]
    assert [x["line"] for x in frames] == [x.line for x in debug.call_stack()]


def test_frames_by_pages(client, write):
    thread = client.entry(write(CALLS))
    client.request("setFunctionBreakpoints", breakpoints=[{"name": "double", "hitCondition": "2"}])
    client.stop("continue", threadId=thread)
    whole = client.request("stackTrace", threadId=thread)
    assert whole["totalFrames"] == len(whole["stackFrames"]) == 3
    part = client.request("stackTrace", threadId=thread, startFrame=1, levels=1)
    assert part == {"totalFrames": 3, "stackFrames": whole["stackFrames"][1:2]}


def test_goto_sets_the_next_instruction(client, write):
    path = write(CALLS)
    thread = client.entry(path)
    line = line_of_calls("mv   s0")
    (target,) = client.request("gotoTargets", source={"path": str(path)}, line=line)["targets"]
    assert target["line"] == line
    assert client.stop("goto", threadId=thread, targetId=target["id"])["reason"] == "goto"
    assert client.frame(thread)["line"] == line
    assert refused(client, "goto", threadId=2, targetId=target["id"]).endswith(
        f"executes nothing at {target['id']:#010x}"
    )


def test_pause_in_an_endless_loop_and_breakpoints_while_it_runs(client, write):
    path = write(VERY_LONG_LOOP)
    client.launch(path)
    client.request("configurationDone")
    assert client.request("threads")["threads"] == [{"id": 1, "name": "cp"}]
    assert not [x for x in client.events if x["event"] == "stopped"]
    client.request("pause", threadId=1)
    assert client.event("stopped")["reason"] == "pause"
    client.request("continue", threadId=1)
    client.request("setFunctionBreakpoints", breakpoints=[{"name": "loop"}])
    assert client.event("stopped")["reason"] == "function breakpoint"
    client.request("setFunctionBreakpoints")
    client.request("continue", threadId=1)
    client.request("terminate")
    client.event("terminated")
    client.request("disconnect")


def test_a_lost_connection_ends_a_run(write):
    with serving() as client:
        client.launch(write(VERY_LONG_LOOP))
        client.request("configurationDone")


def test_restart_assembles_the_files_again(client, write):
    path = write(CALLS)
    client.launch(path)
    arguments = {
        "source": {"path": str(path)},
        "breakpoints": [{"line": line_of_calls("call deep")}],
    }
    (row,) = client.request("setBreakpoints", **arguments)["breakpoints"]
    client.stop("configurationDone")
    assert client.request("evaluate", expression="a0")["result"] == "24"
    write(CALLS.replace("li   a0, 3", "li   a0, 4"))
    stop = client.stop("restart")
    assert stop["hitBreakpointIds"] == [row["id"]]
    assert client.event("breakpoint")["breakpoint"]["id"] == row["id"]
    assert client.request("evaluate", expression="a0")["result"] == "32"
    write("nonsense")
    assert "nonsense" in refused(client, "restart")
    assert client.request("evaluate", expression="a0")["result"] == "32"


# Points


def test_conditions_hits_and_messages(client, write):
    path = write(CALLS)
    client.launch(path)
    again = line_of_calls("again:")
    rows = client.request("setBreakpoints", source={"path": str(path)}, breakpoints=[
        {"line": again, "condition": "s0 == 90"},
        {"line": again + 1, "hitCondition": ">= 3"},
        {"line": again, "logMessage": "100 % of {s0} and {s0 + 1}"},
        {"line": again, "hitCondition": "% 2"},
        {"line": again, "logMessage": "x", "hitCondition": "2"},
        {"line": again, "condition": "nobody"},
    ])["breakpoints"]  # fmt: skip
    assert [row["verified"] for row in rows] == [True, True, True, False, False, False]
    assert rows[3]["message"] == "a hit count is N, >= N or > N, not '% 2'"
    assert rows[4]["message"] == "a message has no hit count; a condition can count"
    assert "nobody" in rows[5]["message"]
    stop = client.stop("configurationDone")
    assert stop["hitBreakpointIds"] == [rows[1]["id"]]
    assert client.request("evaluate", expression="s0")["result"] == "93"
    assert client.output.splitlines()[0] == "100 % of 96 and 97"
    client.request("setBreakpoints", source={"path": str(path)}, breakpoints=[
        {"line": again, "condition": "s0 == 90"}])  # fmt: skip
    assert client.stop("continue", threadId=1)["hitBreakpointIds"] == [rows[0]["id"]]
    assert client.say("info breakpoints").count("\n") == 1


def test_a_file_that_the_program_has_not(client, write):
    client.launch(write(CALLS))
    rows = client.request("setBreakpoints", source={"path": "/no/b.s"}, breakpoints=[{"line": 1}])
    assert rows["breakpoints"][0]["message"] == "the program has no lines of /no/b.s"


def test_instructions_data_and_events(client, write):
    path = write(STORE_LOOP)
    thread = client.entry(path)
    pointer = client.frame(thread)["instructionPointerReference"]
    (row,) = client.request(
        "setInstructionBreakpoints", breakpoints=[{"instructionReference": pointer, "offset": 4}]
    )["breakpoints"]
    stop = client.stop("continue", threadId=thread)
    assert (stop["reason"], stop["hitBreakpointIds"]) == ("instruction breakpoint", [row["id"]])
    info = client.request("dataBreakpointInfo", name="data[1]")
    assert info["accessTypes"] == ["write", "read", "readWrite"]
    (row,) = client.request(
        "setDataBreakpoints", breakpoints=[{"dataId": info["dataId"], "accessType": "write"}]
    )["breakpoints"]
    assert row["verified"], row
    stop = client.stop("continue", threadId=thread)
    assert (stop["reason"], stop["hitBreakpointIds"]) == ("data breakpoint", [row["id"]])
    client.request("setDataBreakpoints")
    registers = client.scope(thread, "Registers")
    info = client.request("dataBreakpointInfo", variablesReference=registers, name="s0")
    assert info["description"] == "cp.s0"
    info = client.request("dataBreakpointInfo", name="0x80000000", asAddress=True, bytes=8)
    assert info["description"] == "mem[0x80000000].u8[0:8]"
    assert client.request("dataBreakpointInfo", name="7")["dataId"] is None
    filters = client.request("setExceptionBreakpoints", filters=["stall", "nothing"], filterOptions=[
        {"filterId": "fault", "condition": "a0 == 1"}])["breakpoints"]  # fmt: skip
    assert [x["verified"] for x in filters] == [True, False, True]


def test_a_command_that_deletes_a_point_tells_the_editor(client, write):
    client.entry(write(CALLS))
    (row,) = client.request("setFunctionBreakpoints", breakpoints=[{"name": "deep"}])["breakpoints"]
    client.say("delete")
    assert client.event("breakpoint")["breakpoint"]["id"] == row["id"]


# Values


def test_registers_equal_those_of_a_session(client, write):
    thread = client.entry(write(CALLS))
    client.stop("next", threadId=thread)
    debug = of_source(CALLS)
    debug.step(over=True)
    rows = client.variables(client.scope(thread, "Registers"))
    assert {name: int(row["value"], 0) for name, row in rows.items()} == debug.registers()
    rows = client.variables(
        client.scope(thread, "Registers"), format={"hex": True}, start=2, count=2
    )
    assert {name: row["value"] for name, row in rows.items()} == {"ra": "0x0", "sp": "0x1000000"}
    counters = client.variables(client.scope(thread, "Counters"))
    assert counters["instructions"]["value"] == str(debug.read("cp.instructions"))


def test_variables_are_set(client, write):
    thread = client.entry(write(CALLS))
    registers = client.scope(thread, "Registers")
    assert client.request("setVariable", variablesReference=registers, name="s1", value="2 + 5")[
        "value"] == "7"  # fmt: skip
    assert client.event("invalidated")["areas"] == ["stacks", "variables"]
    assert client.request("setExpression", expression="cp.s2", value="s1")["value"] == "7"
    assert client.request("evaluate", expression="s1 + s2", context="watch")["result"] == "14"
    assert refused(client, "setVariable", variablesReference=registers, name="q", value="1") == (
        "there is no variable q"
    )
    counters = client.scope(thread, "Counters")
    assert refused(
        client, "setVariable", variablesReference=counters, name="instructions", value="1"
    ) == ("this value cannot be set")


def test_a_folder_has_its_inputs(client):
    thread = client.entry(PROGRAMS / "matvec")
    debug = session("matvec")
    for name, row in client.variables(client.scope(thread, "Tensors")).items():
        value = debug.read(name)
        assert row["type"] == f"{value.dtype}{list(value.shape)}"
        assert row["value"] == brief(value)


def test_an_input_that_is_missing(client):
    client.request("initialize")
    message = refused(client, "launch", program=str(SHIFT / "wrong_shift.s"))
    assert message.startswith("1 input not given: x")
    assert message.endswith("(inputs of the launch configuration names files)")


def test_tensors_units_queues_and_causes(client):
    path = SHIFT / "wrong_shift.s"
    thread = client.entry(path, inputs={"x": str(SHIFT / "x.npy")})
    debug = macaw.debug(path, x=np.load(SHIFT / "x.npy"))
    hidden = client.variables(client.scope(thread, "Tensors"))["hidden"]
    value = debug.read("hidden")
    assert hidden["type"] == f"{value.dtype}{list(value.shape)}"
    assert hidden["indexedVariables"] == len(value)
    client.request("setFunctionBreakpoints")
    client.request("setDataBreakpoints", breakpoints=[
        {"dataId": client.request("dataBreakpointInfo", name="hidden[1, 4]")["dataId"]}])  # fmt: skip
    client.stop("continue", threadId=thread)
    debug.watch("hidden[1, 4]")
    debug.cont()
    tensors = client.variables(client.scope(thread, "Tensors"))
    row = client.variables(tensors["hidden"]["variablesReference"])["[1]"]
    items = client.variables(row["variablesReference"], filter="indexed", start=2, count=3)
    assert {name: item["value"] for name, item in items.items()} == {
        f"[{at}]": str(debug.read(f"hidden[1, {at}]")) for at in (2, 3, 4)
    }
    assert items["[4]"]["evaluateName"] == "hidden[1, 4]"
    reference = tensors["hidden"]["memoryReference"]
    data = client.request("readMemory", memoryReference=reference, count=8)["data"]
    assert base64.b64decode(data) == debug.read("hidden").tobytes()[:8]
    names = [core["name"] for core in client.request("threads")["threads"]]
    assert names == [core.name for core in debug.device.order if core.name in names]
    pe = next(core for core in debug.device.order if core.table.levels)
    units = client.variables(client.scope(pe.number + 1, "Units"))
    assert "Registers" not in units
    unit = next(iter(units.values()))
    assert "Registers" in client.variables(unit["variablesReference"])
    why = client.request("macaw/why", expression="hidden[1, 4]", depth=1)
    assert "\n".join(why["lines"]) == printed(debug, "why hidden[1, 4] depth 1")
    grid = client.request("macaw/grid", expression="retired")
    assert grid["rows"]
    for row in grid["rows"]:
        assert row["values"] == [debug.read(f"{place}.retired") for place in row["places"]]
    core = next(x for x in debug.device.order if any(row.held for row in x.table.queues))
    queues = client.request("macaw/queues", places=core.name)["queues"]
    table = Interpreter(debug, DebuggerFiles()).execute(f"info queues {core.name}").rows
    assert [(x["place"], x["name"], x["level"], x["capacity"]) for x in queues] == [
        row[:4] for row in table
    ]
    scope = client.variables(client.scope(core.number + 1, "Queues"))
    assert list(scope) == [x["name"] for x in queues]


def test_the_console_is_the_command_language(client, write):
    thread = client.entry(write(CALLS))
    debug = of_source(CALLS)
    assert client.say("print 6 * 7") == printed(debug, "print 6 * 7")
    frame = client.frame(thread)["id"]
    assert "step done" in client.say("stepi", frameId=frame)
    client.event("continued")
    assert client.event("stopped")["reason"] == "step"
    message = refused(client, "evaluate", expression="nonsense", context="repl")
    assert message.startswith("error: ")
    assert refused(client, "evaluate", expression="nobody", context="hover")
    assert "shell" in refused(client, "evaluate", expression="shell ls", context="repl")
    targets = client.request("completions", text="info reg", column=9)["targets"]
    assert targets == [{"label": "registers", "start": 6, "length": 3}]
    client.say("set s3 = 5")
    client.event("invalidated")
    client.say("quit")
    client.event("terminated")


# Memory and sources


def test_memory(client, write):
    thread = client.entry(write(STORE_LOOP))
    address = client.request("evaluate", expression="&data")["result"]
    written = client.request(
        "writeMemory", memoryReference=address, offset=4, data=base64.b64encode(b"abcd").decode()
    )
    assert written == {"bytesWritten": 4}
    assert client.event("memory")["count"] == 4
    read = client.request("readMemory", memoryReference=address, count=12)
    assert base64.b64decode(read["data"]) == b"\0\0\0\0abcd\0\0\0\0"
    assert client.request("readMemory", memoryReference="0xf0000000", count=4) == {
        "address": "0xf0000000", "unreadableBytes": 4
    }  # fmt: skip
    assert refused(client, "writeMemory", memoryReference=address, data="?") == (
        "data is not base 64"
    )
    pointer = client.frame(thread)["instructionPointerReference"]
    rows = client.request(
        "disassemble", memoryReference=pointer, instructionOffset=-2, instructionCount=6
    )["instructions"]
    assert [x.get("presentationHint") for x in rows] == ["invalid"] * 2 + [None] * 4
    shown = client.say("x/4i $pc")
    for row in rows[2:]:
        assert row["instruction"] in shown
        assert row["address"] in shown


def test_sources(client, write):
    path = write(CALLS)
    client.launch(path)
    assert client.request("loadedSources")["sources"] == [{"name": "a.s", "path": str(path)}]
    assert (
        client.request("source", source={"path": str(path)}, sourceReference=0)["content"] == CALLS
    )
    lines = client.request("breakpointLocations", source={"path": str(path)}, line=1, endLine=8)[
        "breakpoints"
    ]
    assert [x["line"] for x in lines] == [7, 8]
    assert refused(client, "source", sourceReference=3) == (
        "all sources are files: there are no source references"
    )


# Wrong messages

WRONG: dict[str, list[dict[str, Any]]] = {
    "setBreakpoints": [{"breakpoints": 1}, {"source": 7}, {"source": {"path": "a"}, "breakpoints": [{}]}],
    "setFunctionBreakpoints": [{"breakpoints": [1]}, {"breakpoints": [{"name": 1}]}],
    "setInstructionBreakpoints": [{"breakpoints": [{"instructionReference": "x"}]}],
    "setExceptionBreakpoints": [{"filters": [1]}, {"filterOptions": [{}]}],
    "dataBreakpointInfo": [{}, {"name": "a", "variablesReference": 99}, {"name": "q", "asAddress": True}],
    "setDataBreakpoints": [{"breakpoints": [{}]}],
    "breakpointLocations": [{}, {"source": {"path": "/no"}, "line": 1}],
    "stackTrace": [{}, {"threadId": 99}, {"threadId": "1"}, {"threadId": 1, "levels": -1}],
    "scopes": [{}, {"frameId": 99}],
    "variables": [{}, {"variablesReference": 99}, {"variablesReference": True}],
    "setVariable": [{}, {"variablesReference": 99, "name": "a", "value": "1"}],
    "setExpression": [{}, {"expression": "zz", "value": "1"}, {"expression": "a0", "value": "zz"},
                      {"expression": "1", "value": "1"}],
    "evaluate": [{}, {"expression": 1}, {"expression": "a0", "frameId": 77}, {"expression": "x" * 70_000}],
    "completions": [{}, {"text": "a", "column": "b"}],
    "continue": [{}, {"threadId": 1.5}],
    "next": [{}, {"threadId": 1, "granularity": "page"}],
    "stepIn": [{}, {"threadId": 1, "granularity": 7}],
    "stepOut": [{}],
    "stepBack": [{}],
    "reverseContinue": [{}],
    "gotoTargets": [{}, {"source": {"path": "/no"}, "line": 1}],
    "goto": [{}, {"threadId": 1, "targetId": 1 << 40}],
    "readMemory": [{}, {"memoryReference": "0x0"}, {"memoryReference": "0x0", "count": 1 << 30},
                   {"memoryReference": "0x0", "count": 1, "offset": -1}],
    "writeMemory": [{}, {"memoryReference": "0xf0000000", "data": "AAAA"}],
    "disassemble": [{}, {"memoryReference": "0x0", "instructionCount": 1 << 20}],
    "source": [{}, {"source": {"path": "/etc/passwd"}}],
    "exceptionInfo": [{}, {"threadId": 1}],
    "macaw/queues": [{"places": "nobody"}],
    "macaw/grid": [{"expression": "nobody"}],
    "macaw/why": [{}, {"expression": "nobody"}, {"expression": "a0", "depth": 0}],
    "launch": [{"program": "b.s"}],
    "initialize": [{}],
    "configurationDone": [{}],
    "attach": [{}],
    "restart": [{"arguments": 7}],
}  # fmt: skip


def test_wrong_arguments_are_answered_with_a_sentence(client, write):
    client.entry(write(CALLS))
    for command, several in WRONG.items():
        for arguments in several:
            message = refused(client, command, **arguments)
            assert message, command
            assert "internal error" not in message, (command, arguments, message)
    assert client.request("threads")


def test_before_launch(client, tmp_path):
    assert refused(client, "threads") == "the first request is initialize"
    assert refused(client, "initialize", linesStartAt1=False) == "linesStartAt1 must be true"
    assert refused(client, "initialize", pathFormat="uri") == "pathFormat must be path"
    assert client.request("initialize", adapterID="macaw") == capabilities()
    assert refused(client, "threads") == "no program is loaded for threads: launch comes first"
    assert refused(client, "pause") == "no program is loaded: launch comes first"
    for arguments, message in (
        ({}, "program must be a text"),
        ({"program": []}, "program must name a file or a folder"),
        ({"program": "a\0b"}, "a path has no zero characters"),
        ({"program": "a.s", "inputs": {"x": 1}}, "x must be a text"),
        ({"program": "a.s", "stopOnEntry": 1}, "stopOnEntry must be true or false"),
        ({"program": "a.s", "engine": "steam"}, "no engine is called 'steam', there are fast, reference"),
    ):  # fmt: skip
        assert refused(client, "launch", cwd=str(tmp_path), **arguments) == message
    assert "a.s" in refused(client, "launch", program="a.s", cwd=str(tmp_path))
    assert str(tmp_path) in refused(client, "launch", program=str(tmp_path))
    (tmp_path / "a.s").write_text(".core cp\n_start: nonsense\n")
    assert "nonsense" in refused(client, "launch", program="a.s", cwd=str(tmp_path))
    assert "nonsense" in client.output


def test_messages_that_are_none(client):
    for body, message in (
        (b"{", "a message is no JSON"),
        (b"[]", "a message is no object"),
        (b"{}", "a message is no request"),
        (b'{"type": "request", "command": "threads", "seq": "a"}', "the seq of a message is no number"),
        (b'{"type": "request", "command": "threads", "seq": 0, "arguments": 1}', "the arguments are no object"),
    ):  # fmt: skip
        client.send_body(body)
        with pytest.raises(Refused, match=message):
            client.response(0)
    client.send_bytes(b"X: 1\r\n\r\n")
    with pytest.raises(Refused, match="no Content-Length"):
        client.response(0)
    client.send_body(b'{"type": "event", "event": "x", "seq": 1}')
    assert refused(client, "threads") == "the first request is initialize"


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 1 << 40), st.text(max_size=8),
    st.sampled_from(["a0", "0x10000", "loop", "y[0]", "instruction", "1"]),
    st.lists(st.dictionaries(st.sampled_from(["line", "name", "dataId"]), st.integers(0, 9))),
)  # fmt: skip
NAMES = ["threadId", "frameId", "variablesReference", "name", "value", "expression", "line", "source",
         "memoryReference", "count", "offset", "instructionCount", "granularity", "breakpoints", "start",
         "text", "column", "targetId", "filters", "format"]  # fmt: skip
FUZZED = sorted(WRONG.keys() - {"launch", "restart"})


@given(
    st.lists(
        st.tuples(
            st.sampled_from(FUZZED), st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=6)
        ),
        max_size=8,
    )
)
@settings(max_examples=15, deadline=None)
def test_no_message_harms_the_debugger(tmp_path_factory, requests):
    path = tmp_path_factory.mktemp("dap") / "a.s"
    path.write_text(CALLS)
    with serving() as client:
        client.entry(path, stopOnExit=True)
        for command, arguments in requests:
            try:
                client.request(command, **arguments)
            except Refused as error:
                assert "internal error" not in str(error), (command, arguments)
        assert client.request("threads")["threads"]


def test_every_announced_request_is_driven():
    """The capabilities name no request that the table of wrong arguments leaves out."""
    names = {
        name.removeprefix("supports").removesuffix("Request")
        for name in capabilities()
        if name.endswith("Request")
    }
    driven = {name[0].upper() + name[1:] for name in (*WRONG, "terminate", "loadedSources")}
    assert names <= driven


def test_an_error_of_the_debugger_is_an_answer(write, monkeypatch, capfd):
    from macaw.debugger.dap.threads import Threads

    with serving() as client:
        client.entry(write(CALLS))
        monkeypatch.setattr(Threads, "rows", lambda _: 1 / 0)
        assert refused(client, "threads") == "internal error: ZeroDivisionError: division by zero"
        monkeypatch.undo()
        assert client.request("threads")
    assert "macaw dap: threads: internal error" in capfd.readouterr().err


def test_the_command_serves_its_standard_streams(write):
    with subprocess.Popen(
        [sys.executable, "-m", "macaw", "dap"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        client = Client(process.stdout.fileno(), process.stdin.fileno())
        client.launch(write(HELLO))
        client.request("configurationDone")
        assert client.event("exited") == {"exitCode": 3}
        client.request("disconnect")
        assert process.wait(60) == 0
