"""Parts of the adapter for editors by themselves: output, progress, numbers of values, instructions."""

from __future__ import annotations

from typing import Any

import pytest

from macaw.debugger.dap import memory, own_requests, progress
from macaw.debugger.dap.connection import RequestError
from macaw.debugger.dap.output import MOST_BYTES, Output
from macaw.debugger.dap.variables import REGISTERS, UNITS, VALUE, Container, References
from macaw.debugger.places import Place
from tests.debugger.programs import of_source

Sent = list[tuple[str, str]]


def output() -> tuple[Output, Sent]:
    sent: Sent = []
    return Output(lambda event, body: sent.append((body["category"], body["output"]))), sent


def test_whole_lines_are_sent_and_the_rest_waits() -> None:
    found, sent = output()
    found.write("stdout", b"one")
    found.write("stderr", b"x")
    assert sent == []
    found.write("stdout", b" line\n")  # what the other stream has written is sent with it
    assert sent == [("stdout", "one line\n"), ("stderr", "x")]
    found.write("log", "é".encode()[:1])
    found.flush()
    assert len(sent) == 2
    found.write("log", "é".encode()[1:])
    found.flush()
    found.flush()
    assert sent[2:] == [("console", "é")]


@pytest.mark.parametrize("size", [MOST_BYTES - 1, MOST_BYTES, MOST_BYTES + 1])
def test_a_long_line_is_sent_in_pieces(size: int) -> None:
    found, sent = output()
    found.write("stdout", b"x")
    found.write("stdout", b"y" * (size - 1))
    assert sent == ([("stdout", "x" + "y" * (size - 1))] if size >= MOST_BYTES else [])


def test_progress_is_sent_once_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[str, Any]] = []
    shown = progress.Progress(lambda event, body: sent.append((event, dict(body))))
    now = 100.0
    monkeypatch.setattr(progress, "monotonic", lambda: now)
    for run in (1, 2):
        sent.clear()
        now = 1000.0 * run + 0.5
        with shown:
            for step in (0.99, 1.0, 1.5, 1.99, 2.0, 2.99, 3.5):
                now = 1000.0 * run + step
                shown.update("running", int(1000 * step))
        name = f"run {run}"
        assert sent == [
            ("progressStart", {"progressId": name, "title": "macaw", "message": "running, cycle 1,500"}),
            ("progressUpdate", {"progressId": name, "message": "running, cycle 2,990"}),
            ("progressEnd", {"progressId": name}),
        ]  # fmt: skip
    sent.clear()
    with shown:
        now += progress.APART / 2
        shown.update("running", 1)
    assert sent == []


def test_numbers_of_containers_count_on_after_a_stop() -> None:
    references, place = References(), Place("cp")
    containers = [Container(kind, place) for kind in (REGISTERS, UNITS, VALUE)]
    containers.append(Container(VALUE, place, "x", (0,)))
    assert [references.number(x) for x in (*containers, *containers)] == [1, 2, 3, 4] * 2
    assert [references.get(number) for number in (1, 2, 3, 4)] == containers
    references.forget()
    for number in (0, 1, 4, 5):
        with pytest.raises(RequestError, match=f"there are no variables {number} any more"):
            references.get(number)
    assert references.number(containers[2]) == 5


COUNT = 12  # instructions of the program
CODE = (
    " .core cp\n_start: nop\n"
    + "".join(f" addi a0, a0, {n}\n" for n in range(1, COUNT - 1))
    + " ebreak\n"
)


@pytest.mark.parametrize("at", [0, 1, 5, COUNT - 1])
@pytest.mark.parametrize("offset", [-14, -5, -1, 0, 1, 4, 11, 13])
def test_instructions_around_an_address(at: int, offset: int) -> None:
    """A request gets `count` instructions, the first `offset` instructions after an address.

    Instructions outside the program are marked as invalid.
    """
    session = of_source(CODE)
    start = session.program.symbol("_start").value
    texts = ["nop", *[f"addi a0, a0, {n}" for n in range(1, COUNT - 1)], "ebreak"]
    for count in (1, 3, 40):
        found = memory.disassemble(session, {
            "memoryReference": f"{start + 4 * at:#x}", "instructionOffset": offset,
            "instructionCount": count,
        })["instructions"]  # fmt: skip
        assert len(found) == count
        for place, row in enumerate(found, at + offset):
            assert int(row["address"], 16) == start + 4 * place
            inside = 0 <= place < COUNT
            assert row["instruction"] == (texts[place] if inside else "(not of the program)")
            assert (row.get("presentationHint") == "invalid") != inside


def test_responses_have_at_most_a_number_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    session = of_source(CODE)
    place = Place("pe[0]")
    every = own_requests.queues(session, place, {"places": "pe"})["queues"]
    assert len(every) > 3
    for most in (0, 1, 3, len(every), len(every) + 1):
        monkeypatch.setattr(own_requests, "MOST_QUEUES", most)
        assert own_requests.queues(session, place, {"places": "pe"})["queues"] == every[:most]
