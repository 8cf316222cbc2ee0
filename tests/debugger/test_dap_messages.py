"""The server for editors: wrong messages, errors of the debugger, and `macaw dap`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macaw.debugger.dap.capabilities import capabilities
from tests.debugger.dap_client import Client, Refused, refused, serving
from tests.debugger.sources import CALLS, HELLO

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
        ({"program": "a.s", "inputs": {"x": 1}}, "inputs.x must be a text"),
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
    client.send_bytes(b"X: 1\r\n\r\nContent-Length: 2\r\n\r\n{}")  # the second one has a header
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


@pytest.mark.once
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
    """Each request that the capabilities announce is in the table of wrong arguments."""
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


def test_paths_count_from_the_folder_of_the_launch(write, tmp_path):
    """Paths are relative to the folder of the launch, also in the console's commands.

    Messages have short paths.
    """
    path = write(CALLS)
    np.save(tmp_path / "x.npy", np.array([1, 2], np.int32))
    with subprocess.Popen(
        [sys.executable, "-m", "macaw", "dap"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        client = Client(process.stdout.fileno(), process.stdin.fileno())
        client.request("initialize")
        assert "nowhere" in refused(client, "launch", program="a.s", cwd=str(tmp_path / "nowhere"))
        client.request("launch", program=str(path), cwd=str(tmp_path), stopOnEntry=True)
        assert client.stop("configurationDone")["text"].endswith(" a.s:7")
        assert client.frame(1)["source"]["path"] == str(path)
        message = refused(client, "evaluate", expression="diff a0 x.npy", context="repl")
        assert "No such file" not in message
        assert "int32" in message
        client.request("disconnect")
        assert process.wait(60) == 0


def test_a_breakpoint_in_c():
    """Paths of C sources are relative to the folder in which the compiler ran (`cwd`)."""
    folder = Path(__file__).with_name("gdb_runs")
    lines = (folder / "stepped.c").read_text("utf-8").splitlines()
    line = 1 + next(at for at, text in enumerate(lines) if "return x + y" in text)
    with subprocess.Popen(
        [sys.executable, "-m", "macaw", "dap"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        client = Client(process.stdout.fileno(), process.stdin.fileno())
        client.launch(folder / "stepped_O0.elf", cwd=str(folder))
        source = {"path": str(folder / "stepped.c")}
        (row,) = client.request("setBreakpoints", source=source, breakpoints=[{"line": line}])[
            "breakpoints"
        ]
        assert (row["verified"], row["line"]) == (True, line)
        client.stop("configurationDone")
        frames = client.request("stackTrace", threadId=1)["stackFrames"]
        assert [frame["name"].partition("+")[0] for frame in frames[:3]] == ["add", "sum", "main"]
        assert (frames[0]["line"], frames[0]["source"]["path"]) == (line, source["path"])
        client.request("disconnect")
        assert process.wait(60) == 0


def test_attach_is_refused_before_and_after_launch(client, write):
    client.request("initialize", adapterID="macaw")
    message = "there is no request 'attach': launch loads a program"
    assert refused(client, "attach") == message
    client.request("launch", program=str(write(HELLO)))
    assert refused(client, "attach") == message
