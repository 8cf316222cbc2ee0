"""The server for editors: launch, steps, points, end; compared with a session of the program."""

from __future__ import annotations

import re

from macaw.debugger.commands.text import stop_lines
from macaw.debugger.dap.progress import Progress
from tests.debugger.dap_client import refused, serving
from tests.debugger.programs import PROGRAMS, of_source
from tests.debugger.running import place_of, printed
from tests.debugger.sources import CALLS, HELLO, STORE_LOOP, VERY_LONG_LOOP, line_of_calls

SHIFT = PROGRAMS / "wrong_shift"
FAULTY = ".core cp\n_start: li a0, 0x70000000\nlw a1, 0(a0)\nebreak\n"


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


def test_a_long_run_shows_progress(client, write, monkeypatch):
    """A long run sends start, updates and end of progress to an editor that supports them."""
    monkeypatch.setattr("macaw.debugger.dap.progress.APART", 0.0)
    client.request("initialize", adapterID="macaw", supportsProgressReporting=True)
    client.request("launch", program=str(write(VERY_LONG_LOOP)))
    client.event("initialized")
    client.request("configurationDone")
    start = client.event("progressStart")
    assert (start["progressId"], start["title"]) == ("run 1", "macaw")
    assert re.fullmatch(r"running, cycle [\d,]+", start["message"])
    update = client.event("progressUpdate")
    assert update["progressId"] == "run 1"
    assert re.fullmatch(r"running, cycle [\d,]+", update["message"])
    assert client.stop("pause", threadId=1)["reason"] == "pause"
    assert client.event("progressEnd") == {"progressId": "run 1"}


def test_a_short_run_shows_none():
    events = []
    progress = Progress(lambda *event: events.append(event))
    with progress:
        progress.update("running", 5)
    assert events == []


def test_output_of_the_program(client, write):
    client.launch(write(HELLO))
    client.request("configurationDone")
    assert client.event("exited") == {"exitCode": 3}
    assert client.output.startswith("hello\nexit with code 3 at cycle ")


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
    assert client.event("continued")["allThreadsContinued"]
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


def test_a_stop_at_a_watch_and_the_end_are_printed(client, write):
    """The server prints the old and new value at a watch, and the exit code at the end.

    Editors themselves show neither.
    """
    thread = client.entry(write(STORE_LOOP), stopOnExit=True)
    assert client.output == ""
    data = client.request("dataBreakpointInfo", name="data[1]")["dataId"]
    client.request("setDataBreakpoints", breakpoints=[{"dataId": data}])
    client.stop("continue", threadId=thread)
    debug = of_source(STORE_LOOP)
    debug.watch("data[1]")
    watch = [line.replace("test.s", "a.s") for line in stop_lines(debug.cont())]
    assert [x.partition(" (")[0] for x in client.output.splitlines()][:2] == watch[:2]
    client.request("setDataBreakpoints")
    client.stop("stepBack", threadId=thread)
    before = client.output
    assert client.stop("continue", threadId=thread)["reason"] == "exit"
    assert client.output.removeprefix(before).startswith("exit with code ")
    before = client.output
    assert "start of the program" in client.say("goto 0")
    client.event("stopped")
    assert client.output == before  # the answer has the text


def test_a_change_of_the_focus_invalidates_what_the_editor_shows(client, write):
    client.entry(SHIFT / "wrong_shift.s", inputs={"x": str(SHIFT / "x.npy")})
    client.say("info cores")
    assert not [x for x in client.events if x["event"] == "invalidated"]
    client.say("focus pe[0,1].2")
    assert client.event("invalidated")["areas"] == ["stacks", "variables"]
    focus = client.request("macaw/grid")["focus"]
    assert focus == ["pe[0,1].2"]


def test_an_editor_shows_a_message_only_if_an_action_fails(client, write):
    """A failed action shows a message; a hover or a request for an old frame does not."""
    thread = client.entry(write(CALLS))
    frame = client.frame(thread)["id"]
    client.stop("next", threadId=thread)
    for command, arguments, is_shown in (
        ("evaluate", {"expression": "nobody", "context": "hover"}, False),
        ("scopes", {"frameId": frame}, False),
        ("macaw/why", {"expression": "nobody"}, False),
        ("goto", {"threadId": thread, "targetId": 1 << 40}, True),
        ("setExpression", {"expression": "nobody", "value": "1"}, True),
        ("next", {"threadId": 99}, True),
    ):  # fmt: skip
        number = client.send(command, arguments)
        response = client.message(number)
        assert response["body"]["error"]["showUser"] is is_shown, command


def test_a_stop_in_an_idle_core_is_shown_in_one_that_runs(client):
    """A stop in an idle core is shown in a thread that runs.

    The focus is the array, which does not run yet at cycle 0.
    """
    thread = client.entry(SHIFT / "wrong_shift.s", inputs={"x": str(SHIFT / "x.npy")})
    client.say("tbreak finish1")
    there = client.stop("continue", threadId=thread)["threadId"]
    assert there != thread
    client.say("goto 0", frameId=client.frame(there)["id"])
    assert client.event("stopped")["threadId"] == thread
    assert client.frame(thread)["name"] == "_start"


def test_commands_of_a_console_point_follow_a_run_of_the_editor(client, write):
    client.entry(write(CALLS))
    for line in ("break double", "commands", "print a0 + 1000", "continue", "end", "watch s0"):
        client.say(line)
    debug = of_source(CALLS)
    debug.break_("double")
    debug.watch("s0")
    values = []
    while (last := debug.cont()).reason == "breakpoint":
        values.append(debug.read("a0") + 1000)
    stop = client.stop("continue", threadId=1)
    assert stop["description"] == next(iter(stop_lines(last)))
    assert re.findall(r"a0 \+ 1000 = (\d+)\n", client.output) == [str(x) for x in values]
    assert client.output.count(stop["description"]) == 1
    client.stop("restart")
    for line in ("break double", "commands", "quit", "end"):
        client.say(line)
    client.request("continue", threadId=1)
    client.event("terminated")


def test_a_run_before_the_configuration_is_done_is_the_only_one(client, write):
    """`configurationDone` starts no second run of a program that an earlier request has run."""
    client.launch(write(HELLO))
    client.request("continue", threadId=1)
    client.event("terminated")
    client.request("configurationDone")
    client.request("threads")
    assert not [x for x in client.events if x["event"] == "terminated"]
    assert client.output.count("exit with code") == 1


def test_a_step_before_the_configuration_is_done_is_the_first_stop(client, write):
    client.launch(write(CALLS), stopOnEntry=True)
    stop = client.stop("next", threadId=1)
    frame = client.frame(1)
    client.request("configurationDone")
    assert (stop["reason"], client.frame(1)) == ("step", frame)
    assert not [x for x in client.events if x["event"] == "stopped"]


def test_equal_breakpoints_in_a_line_have_their_own_numbers(client, write):
    path = write(CALLS)
    client.launch(path)
    line = {"line": line_of_calls("mv   s0")}
    source = {"path": str(path)}
    rows = client.request("setBreakpoints", source=source, breakpoints=[line, line])["breakpoints"]
    first, second = (row["id"] for row in rows)
    assert first != second
    stop = client.stop("configurationDone")
    assert sorted(stop["hitBreakpointIds"]) == [first, second]
    rows = client.request("setBreakpoints", source=source, breakpoints=[line])["breakpoints"]
    assert [row["id"] for row in rows] == [first]
    assert len(client.say("info breakpoints").splitlines()) == 2


def test_a_message_about_an_item_names_no_option(client, write):
    client.request("initialize", adapterID="macaw")
    problem = "no input has a batch axis to choose an item from (leave the item out)"
    assert refused(client, "launch", program=str(write(HELLO)), item=5) == problem


def test_a_program_that_has_ended_ends_once(client, write):
    client.launch(write(HELLO))
    client.request("configurationDone")
    client.event("terminated")
    for command in ("continue", "next", "stepBack", "reverseContinue"):
        message = refused(client, command, threadId=1)
        assert message == "the program has ended: restart runs it again"
    assert client.say("continue").startswith("exit with code 3 at cycle ")
    client.request("threads")
    assert [x["event"] for x in client.events if x["event"] in ("exited", "terminated")] == [
        "exited"
    ]
    client.say("goto 0")
    assert client.event("stopped")["reason"] == "step"
    client.request("continue", threadId=1)
    client.event("terminated")
    client.request("restart")
    client.event("terminated")
