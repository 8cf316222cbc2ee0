"""The server for editors: values, memory, sources, the console, and Macaw's own requests."""

from __future__ import annotations

import base64

import numpy as np

import macaw
from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.commands.text import brief
from macaw.debugging import DebuggerFiles
from tests.debugger.dap_client import refused
from tests.debugger.programs import PROGRAMS, of_source, session
from tests.debugger.running import place_of, printed
from tests.debugger.sources import CALLS, STORE_LOOP

SHIFT = PROGRAMS / "wrong_shift"


def test_registers_equal_those_of_a_session(client, write):
    thread = client.entry(write(CALLS))
    client.stop("next", threadId=thread)
    debug = of_source(CALLS)
    debug.step(over=True)
    rows = client.variables(client.scope(thread, "Registers"))
    numbers = {name: int(row["value"].split()[0], 0) for name, row in rows.items()}
    assert numbers == debug.registers()
    assert (rows["sp"]["value"], rows["sp"]["memoryReference"]) == (
        "16777216  0x01000000", "0x01000000"
    )  # fmt: skip
    assert "memoryReference" not in rows["ra"]
    row = client.request("evaluate", expression="&deep", context="hover")
    assert row["result"].endswith(f"  {row['memoryReference']} <deep>")
    rows = client.variables(
        client.scope(thread, "Registers"), format={"hex": True}, start=2, count=2
    )
    assert {name: row["value"] for name, row in rows.items()} == {"ra": "0x0", "sp": "0x1000000"}
    counters = client.variables(client.scope(thread, "Counters"))
    assert counters["instructions"]["value"] == str(debug.read("cp.instructions"))


def test_variables_are_set(client, write):
    thread = client.entry(write(CALLS))
    before = client.frame(thread)["line"]
    registers = client.scope(thread, "Registers")
    assert client.request("setVariable", variablesReference=registers, name="s1", value="2 + 5")[
        "value"] == "7"  # fmt: skip
    assert client.event("invalidated")["areas"] == ["stacks", "variables"]
    assert client.request("setExpression", expression="cp.s2", value="s1")["value"] == "7"
    assert client.request("evaluate", expression="s1 + s2", context="watch")["result"] == "14"
    client.request("setVariable", variablesReference=registers, name="pc", value="pc + 4")
    assert client.frame(thread)["line"] == before + 1
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
    assert ["  " * row["depth"] + row["text"] for row in why["rows"]] == why["lines"]
    (cause,) = debug.why("hidden[1, 4]")
    first = why["rows"][0]
    assert (first["line"], first["cycle"]) == (place_of(cause).line, cause.cycle)
    assert first["source"]["path"] == str(path)
    assert why["rows"][-1] == {"depth": why["rows"][-1]["depth"], "text": "..."}
    grid = client.request("macaw/grid", expression="retired")
    assert grid["rows"]
    for row in grid["rows"]:
        assert row["values"] == [debug.read(f"{place}.retired") for place in row["places"]]
    core = next(x for x in debug.device.order if x.table.queues)
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
    targets = client.request("completions", text="disas", column=6)["targets"]
    assert targets[-1] == {"label": "disassemble", "start": 1, "length": 5}
    client.say("set s3 = 5")
    client.event("invalidated")
    client.say("quit")
    client.event("terminated")


# Memory and sources


def test_a_partial_write_ends_with_the_memory(client, write):
    client.entry(write(STORE_LOOP))
    asked = {"memoryReference": "0x00fffffe", "data": base64.b64encode(b"abcd").decode()}
    assert "write of 4 bytes" in refused(client, "writeMemory", **asked)
    assert client.request("writeMemory", **asked, allowPartial=True) == {"bytesWritten": 2}
    assert client.event("memory")["count"] == 2
    read = client.request("readMemory", memoryReference="0x00fffffe", count=4)
    assert base64.b64decode(read["data"]) == b"ab"
    asked["memoryReference"] = "0xf0000000"
    assert refused(client, "writeMemory", **asked, allowPartial=True)


def test_memory(client, write):
    thread = client.entry(write(STORE_LOOP))
    address = client.request("evaluate", expression="&data")["memoryReference"]
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
    (row,) = client.request("disassemble", memoryReference=pointer, instructionCount=1)[
        "instructions"
    ]
    assert row == rows[2]


def test_sources(client, write, monkeypatch):
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
    monkeypatch.setattr("macaw.debugger.dap.sources.MOST_LINES", 1)
    place = {"source": {"path": str(path)}, "line": 1, "endLine": 8}
    assert client.request("breakpointLocations", **place)["breakpoints"] == lines[:1]
    references = "all sources are files: there are no source references"
    assert refused(client, "source", sourceReference=3) == references
    assert refused(client, "source", sourceReference=0) != references
    assert refused(client, "source", source={"path": "/none.s"}, sourceReference=3) == (
        "the program has no lines of /none.s"
    )
