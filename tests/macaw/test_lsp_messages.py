"""The language server, asked without a client's library: the messages of the protocol."""

import contextlib
import io
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from macaw.language_server.answers import Answers
from macaw.language_server.client_options import ClientOptions
from macaw.language_server.open_file import OpenFile
from macaw.language_server.positions import Positions
from macaw.language_server.server import LanguageServer
from macaw.language_server.workspace import Cancelled, Workspace
from tests.fuzz.lsp_messages import ASKED

UTF16 = types.PositionEncodingKind.Utf16
INITIALIZE = {"id": 0, "method": "initialize", "params": {"capabilities": {}}}
BOMB = ".rept 100000\n" * 3 + ".endr\n" * 3


def framed(*messages: dict[str, object] | bytes) -> bytes:
    """Messages with their headers; bytes are sent as they are."""
    pieces = []
    for message in messages:
        if isinstance(message, bytes):
            pieces.append(message)
            continue
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        pieces.append(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    return b"".join(pieces)


def session(*messages: dict[str, object] | bytes) -> tuple[int, list[dict[str, Any]]]:
    """Send messages to a server in this process; return its exit status and its answers."""
    written, errors = io.BytesIO(), io.StringIO()
    with contextlib.redirect_stderr(errors):
        left_well = LanguageServer(written.write).serve(io.BytesIO(framed(*messages)))
    assert errors.getvalue() == ""
    return (0 if left_well else 1), answers_in(written.getvalue())


def answers_in(text: bytes) -> list[dict[str, Any]]:
    bodies = re.split(rb"Content-Length: [0-9]+\r\n\r\n", text)[1:]
    return [json.loads(body) for body in bodies]


def opened(uri: str, text: str) -> dict[str, object]:
    item = {"uri": uri, "languageId": "macaw", "version": 1, "text": text}
    return {"method": "textDocument/didOpen", "params": {"textDocument": item}}


def hover(number: int, uri: str) -> dict[str, object]:
    position = {"line": 1, "character": 1}
    params = {"textDocument": {"uri": uri}, "position": position}
    return {"id": number, "method": "textDocument/hover", "params": params}


@pytest.mark.parametrize(
    ("last", "status"),
    [
        ([{"id": 1, "method": "shutdown"}, {"method": "exit"}], 0),
        ([{"method": "exit"}], 1),
        ([], 1),
        ([{"id": 1, "method": "shutdown"}], 0),
    ],
)
def test_the_exit_status(last: list[dict[str, object]], status: int) -> None:
    """The exit status is 0 after a `shutdown`, else 1, without standard error (F45)."""
    code, answers = session(INITIALIZE, *last)
    assert code == status
    assert [item["id"] for item in answers] == [0, *(x["id"] for x in last if "id" in x)]


def test_what_is_no_request_gets_an_error() -> None:
    """A message that is no valid request gets one error as answer, and the session goes on."""
    wrong: list[dict[str, object]] = [
        {"id": 1, "method": "nothing/known"},
        {"id": 2, "method": "textDocument/hover", "params": {"textDocument": 5}},
        {"id": 3, "method": 7},
        {"id": [], "method": "shutdown"},
        {"id": 4, "method": "initialize", "params": {"capabilities": {}}},
        {"method": "textDocument/didChange", "params": None},
        {"method": "nothing/known"},
        hover(5, "file:///dev/zero"),
    ]
    _status, answers = session(hover(9, "file:///a.s"), INITIALIZE, *wrong, b"odd\r\n\r\n")
    found = {str(item["id"]): item.get("error", {}).get("code") for item in answers}
    assert found == {
        "9": -32002,
        "0": None,
        "1": -32601,
        "2": -32602,
        "3": -32600,
        "None": -32700,
        "4": -32600,
        "5": None,
    }


@pytest.mark.parametrize(
    ("words", "last", "status"),
    [
        (["--stdio"], [{"id": 1, "method": "shutdown"}, {"method": "exit"}], 0),
        ([], [{"method": "nothing/known", "id": 1}], 1),
    ],
)
def test_the_command(words: list[str], last: list[dict[str, object]], status: int) -> None:
    """Editors may add --stdio to the command."""
    command = [sys.executable, "-m", "macaw", "lsp", *words]
    messages = framed(INITIALIZE, *last)
    done = subprocess.run(command, input=messages, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (status, b"")
    assert [item["id"] for item in answers_in(done.stdout)] == [0, 1]


@pytest.mark.once
def test_another_header_may_end_with_the_name_of_the_length() -> None:
    message = framed(INITIALIZE)
    _status, (answer,) = session(b"X-Content-Length: 3\r\n" + message)
    assert answer["id"] == 0


def test_a_client_that_takes_no_answer_has_left() -> None:
    def write(message: bytes) -> None:
        raise ConnectionResetError

    script = Scripted()
    script.when(lambda: True, INITIALIZE, {"id": 1, "method": "shutdown"})
    assert not LanguageServer(write).serve(script)


def test_a_bomb_does_not_stop_the_server() -> None:
    """A source that expands without end does not stop the server (F39).

    Its expansion ends early, and requests for other files are answered meanwhile.
    """
    begin = time.perf_counter()
    status, answers = session(
        INITIALIZE,
        opened("file:///bomb.s", f".core cp\n{BOMB}"),
        opened("file:///good.s", ".core cp\n addi a0, a0, 1\n"),
        hover(1, "file:///good.s"),
        hover(2, "file:///bomb.s"),
        {"id": 3, "method": "shutdown"},
        {"method": "exit"},
    )
    assert status == 0
    assert {item["id"] for item in answers if "id" in item} >= {0, 3}
    assert time.perf_counter() - begin < 30


def test_a_change_ends_the_assembling_of_the_older_text() -> None:
    """A change of a text ends the assembling of its older version at the next line."""
    workspace = Workspace()
    file = OpenFile("file:///a.s", 1, Positions(".core cp\nnop\n", UTF16))
    workspace.put(file)
    program = workspace.assemble(file, workspace.files)
    assert Answers(file, program, ClientOptions()).diagnostics() == {file.uri: []}
    program.forget()
    workspace.running = program
    workspace.put(OpenFile("file:///a.s", 2, Positions(".core cp\nnop\nnop\n", UTF16)))
    with pytest.raises(Cancelled):
        program.assemble()


def test_closing_a_file_ends_its_assembling() -> None:
    """The assembling of a program ends if the user closes its file, not if he closes another."""
    workspace = Workspace()
    file = OpenFile("file:///a.s", 1, Positions(".core cp\nnop\n", UTF16))
    workspace.put(file)
    program = workspace.assemble(file, workspace.files)
    program.forget()
    workspace.running = program
    assert workspace.close("file:///b.s") is None
    program.assemble()
    program.forget()
    assert workspace.close(file.uri) is file
    with pytest.raises(Cancelled):
        program.assemble()


@pytest.mark.parametrize("uri", ["untitled:Untitled-1", "file:///a.s"])
def test_a_changed_text_is_assembled_again(uri: str) -> None:
    """The diagnostics are those of the changed text, also if no file on the disk has it."""
    workspace = Workspace()
    for version, (line, messages) in enumerate(
        [("nop", []), ("frob", ["expected ':' after the label 'frob'"]), ("nop", [])]
    ):
        file = OpenFile(uri, version, Positions(f".core vc\n{line}\n", UTF16))
        workspace.put(file)
        program = workspace.assemble(file, workspace.files)
        found = Answers(file, program, ClientOptions()).diagnostics()
        assert [item.message.split("\n")[0] for item in found[uri]] == messages
        assert workspace.assemble(file, workspace.files) is program  # not once more


def test_a_cancelled_request_is_answered() -> None:
    cancel: dict[str, object] = {"method": "$/cancelRequest", "params": {"id": 1}}
    _status, answers = session(
        INITIALIZE, opened("file:///b.s", BOMB), hover(1, "file:///b.s"), cancel
    )
    assert [item.get("error", {}).get("code") for item in answers if item.get("id") == 1] in (
        [-32800],
        [None],
    )


class Scripted:
    """A stream that gives the server each message when the server's answers meet a condition."""

    def __init__(self) -> None:
        self.steps: list[tuple[Callable[[], bool], dict[str, object]]] = []
        self.answers: list[dict[str, Any]] = []
        self.in_time = True

    def hear(self, message: bytes) -> None:
        self.answers.append(json.loads(message.partition(b"\r\n\r\n")[2]))

    def when(self, ready: Callable[[], bool], *messages: dict[str, object]) -> None:
        self.steps += [(ready, message) for message in messages]

    def published(self) -> list[str]:
        """The names of the files whose diagnostics were published, in their order."""
        return [
            item["params"]["uri"].rpartition("/")[2] for item in self.answers if "method" in item
        ]

    def answer(self, number: int) -> dict[str, Any] | None:
        return next((item for item in self.answers if item.get("id") == number), None)

    def read(self, size: int) -> bytes:
        if not self.steps:
            return b""
        ready, message = self.steps.pop(0)
        end = time.monotonic() + 20
        while not ready() and self.in_time:
            self.in_time = time.monotonic() < end
            time.sleep(0.005)
        return framed(message) if self.in_time else b""


def test_a_saved_file_is_read_anew_by_all_that_include_it(tmp_path: Path) -> None:
    """A saved file is read again for all files that include it.

    The server keeps the assembly of the last few files only; it reads the others again, too.
    """
    (tmp_path / "lib.inc").write_text(" nop\n")
    names = [f"{number}.s" for number in range(7)]
    uris = [(tmp_path / name).as_uri() for name in names]
    script = Scripted()
    server = LanguageServer(script.hear)
    text = '.core cp\n.include "lib.inc"\n'
    script.when(lambda: True, INITIALIZE, *(opened(uri, text) for uri in uris))
    script.when(lambda: len(script.published()) == 7, hover(1, uris[-1]))
    saved = {"textDocument": {"uri": (tmp_path / "lib.inc").as_uri()}}
    script.when(
        lambda: script.answer(1) is not None, {"method": "textDocument/didSave", "params": saved}
    )
    script.when(lambda: len(script.published()) == 14, {"id": 2, "method": "shutdown"})
    assert server.serve(script)
    assert sorted(script.published()) == sorted(2 * names)
    programs = [server.workspace.program_of(uri) for uri in uris]
    assert sum(program is not None and program.is_assembled for program in programs) <= 4


def test_only_programs_that_read_a_changed_data_file_are_assembled_again(tmp_path: Path) -> None:
    """The program of other.s was opened first, but it does not read the file."""
    (tmp_path / "x.bin").write_bytes(bytes(4))
    script = Scripted()
    server = LanguageServer(script.hear)
    texts = {"other.s": ".core cp\n nop\n", "reader.s": '.data\n.incbin "x.bin"\n'}
    opening = [opened((tmp_path / name).as_uri(), text) for name, text in texts.items()]
    script.when(lambda: True, INITIALIZE, *opening)
    changes = {"changes": [{"uri": (tmp_path / "x.bin").as_uri(), "type": 2}]}
    script.when(
        lambda: len(script.published()) == 2,
        {"method": "workspace/didChangeWatchedFiles", "params": changes},
    )
    script.when(lambda: script.published().count("reader.s") == 2, {"id": 2, "method": "shutdown"})
    assert server.serve(script)
    assert sorted(script.published()) == ["other.s", "reader.s", "reader.s"]


def test_a_cancelled_request_takes_no_answer_from_another_one() -> None:
    """A cancelled request does not cancel another request that waits for the same assembly.

    The assembly ends with the first request and begins again for the second.
    """
    script = Scripted()
    server = LanguageServer(script.hear)
    uri = "file:///slow.s"
    text = ".core cp\n addi a0, a0, 1\n" + " .rept 9000\n .set a, 1\n .endr\n" * 2
    script.when(lambda: True, INITIALIZE, opened(uri, text), hover(1, uri), hover(2, uri))
    begin = time.monotonic() + 0.1
    cancel: dict[str, object] = {"method": "$/cancelRequest", "params": {"id": 1}}
    script.when(lambda: time.monotonic() > begin, cancel)
    script.when(lambda: script.answer(2) is not None, {"id": 3, "method": "shutdown"})
    assert server.serve(script)
    second = script.answer(2)
    assert second is not None
    assert "Add a constant" in second["result"]["contents"]["value"]


# --- wrong parameters -----------------------------------------------------------------------

JUNK: tuple[object, ...] = (
    None,
    5,
    "text",
    [],
    {},
    {"textDocument": None, "position": None},
    {"textDocument": {"uri": 5}, "position": {"line": "x", "character": []}},
    {"textDocument": {"uri": "a.s"}, "position": {"line": -1, "character": 1.5}, "range": 3},
    {"textDocument": {"uri": "a.s"}, "range": {"start": {}, "end": {}}, "context": [], "query": {}},
)


@pytest.mark.once
def test_every_request_with_wrong_parameters_is_answered() -> None:
    """A request with wrong parameters gets an error that names them, or an empty answer."""
    wrong: list[dict[str, object]] = [
        {"id": number, "method": method, "params": params}
        for number, (method, params) in enumerate(
            ((method, params) for method in ASKED for params in JUNK), 1
        )
    ]
    status, answers = session(INITIALIZE, *wrong, {"id": 0, "method": "shutdown"})
    assert status == 0
    found = {item["id"]: item for item in answers}
    for message in wrong:
        answer = found[message["id"]]
        if "error" in answer:
            assert answer["error"]["code"] == -32602, answer
            assert str(message["method"]) in answer["error"]["message"]
        else:
            assert not answer["result"], answer
