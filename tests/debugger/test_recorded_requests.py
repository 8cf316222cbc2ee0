"""The answers to generated requests of an editor and to packets of gdb are recorded.

The requests go to `Target`, without a connection: tests of connections are in test_dap.py and
test_gdb_stub.py. `MACAW_GOLDENS=write` writes the answers; read them before you keep them.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random
from typing import Any

import pytest

from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.dap import target as dap
from macaw.debugger.dap.breakpoints import Breakpoints
from macaw.debugger.dap.connection import RequestError
from macaw.debugger.dap.stop_events import stopped_body
from macaw.debugger.expressions import ExpressionError
from macaw.debugger.gdb import target as gdb
from macaw.debugger.session import Session
from macaw.debugger.stops import SessionError
from macaw.execution import configuration_of
from tests.debugger.generated_requests import Requests, packet
from tests.fuzz.debugger_lines import Kept
from tests.recorded import check, shortened, summary
from tests.small_programs import PROGRAMS, Small, program

pytestmark = pytest.mark.once
RECORDED = Path(__file__).parent / "recorded"
MOST = 120  # characters of an answer in one line


def session(name: str) -> Session:
    loaded = program(name)
    return Session(loaded, configuration_of(loaded), PROGRAMS[name].inputs)


def shown(body: Any) -> str:
    """An answer as JSON: in one line if it is short, else a line for each item of its list."""
    text = _json(body)
    rows = [] if body is None else [x for x in body.values() if isinstance(x, list)]
    if len(text) <= MOST or not rows:
        return text if len(text) <= 2 * MOST else f"{text[:MOST]}... {summary(text)}"
    whole = summary("\n".join(map(_json, rows[0])), 3)
    return "\n".join(line[:MOST] for line in whole.splitlines())


def _json(value: Any) -> str:
    """A value as JSON, in which no path has a folder."""
    return re.sub(r'("path": ")[^"]*/', r"\1", json.dumps(value, ensure_ascii=False))


def requests(small: Small, debug: Session, rng: Random) -> str:
    """A walk of an editor: its requests with the answers, events and stops."""
    found: list[str] = []
    points = Breakpoints()
    target = dap.Target(
        Interpreter(debug, Kept()), points, lambda event, body: found.append(f"event {event} {shown(body)}")
    )  # fmt: skip
    points.connect(debug)
    make = Requests(rng, small)

    def look() -> None:
        """Ask what an editor asks after each stop."""
        make.note(target.answer("threads", {}))
        body = target.answer("stackTrace", {"threadId": target.threads.stopped_thread()})
        make.note(body)
        found.append(summary(_json(body)))
        if body is not None and body["stackFrames"]:
            body = target.answer("scopes", {"frameId": body["stackFrames"][0]["id"]})
            make.note(body)
            found.append(summary(_json(body)))

    look()
    for _ in range(rng.randint(12, 20)):
        command, arguments = make.request()
        found.append(f"> {command} {json.dumps(arguments)}")
        try:
            body = target.answer(command, arguments)
        except RequestError as error:
            found.append(f"refused: {error}")
            continue
        found.append(shown(body))
        make.note(body)
        run, target.run = target.run, None
        if run is None:
            continue
        try:
            stop = run.act()
        except (SessionError, ExpressionError) as error:
            found.append(f"failed: {error}")
            continue
        target.forget()
        make.forget()
        hits = points.points_hit(stop)
        found.append(
            f"stopped {shown(stopped_body(stop, target.threads.stopped_thread(), hits, run.reason))}"
        )
        look()
    return "\n".join(found)


@pytest.mark.parametrize("name", PROGRAMS)
def test_requests_of_an_editor(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    PROGRAMS[name].write(Path())
    outcomes = {}
    for number in range(3):
        rng = Random(f"dap {name} {number}")
        debug = session(name)
        debug.goto(rng.randrange(PROGRAMS[name].cycles) if number else 0)
        text = requests(PROGRAMS[name], debug, rng)
        outcomes[str(number)] = text
    assert not any("internal error" in text for text in outcomes.values())
    check(RECORDED / f"dap_{name}.txt", outcomes)


class Silent:
    """A link that keeps what the target prints on gdb's console."""

    def __init__(self) -> None:
        self.printed = b""

    def connect_interrupts(self, act: object) -> None:
        """Interrupts never come."""

    def send(self, data: bytes, is_answer: bool = True) -> None:
        """Keep a text for the console."""
        self.printed += bytes.fromhex(data[1:].decode())


@pytest.mark.parametrize("name", PROGRAMS)
def test_packets_of_gdb(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    PROGRAMS[name].write(Path())
    outcomes = {}
    for number in range(4):
        rng = Random(f"gdb {name} {number}")
        link: Any = Silent()
        target = gdb.Target(link, Interpreter(session(name), Kept()))
        found = []
        for _ in range(rng.randint(20, 40)):
            sent = packet(rng, PROGRAMS[name])
            link.printed = b""
            answer = target.answer(sent.encode("latin-1"))
            text = "none" if answer is None else answer.decode("latin-1")
            found.append(f"> {sent.encode('unicode_escape').decode()}")
            found += shortened(link.printed.decode("utf-8", "replace"), 8).splitlines()
            found.append(text if len(text) <= MOST else f"{text[:60]}... {shortened(text, 0)}")
        outcomes[str(number)] = "\n".join(found)
    assert not any("error of the debugger" in text for text in outcomes.values())
    check(RECORDED / f"gdb_{name}.txt", outcomes)
