"""The language server, used by pygls' client over pipes."""

import asyncio
import json
import re
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.lsp.client import LanguageClient

from macaw.asm.formatter import format_text
from macaw.language_server.answers import Answers
from macaw.language_server.client_options import ClientOptions
from macaw.language_server.open_file import OpenFile
from macaw.language_server.positions import Positions
from macaw.language_server.server import LanguageServer
from macaw.language_server.workspace import Cancelled, Workspace
from tests.fuzz.lsp_messages import ASKED

UTF16 = types.PositionEncodingKind.Utf16
GOOD = ".core cp\nloop: addi a0, a0, -1\n bnez a0, loop\n ebreak\n"


class Editor:
    """An editor with one file open."""

    def __init__(self, path: Path) -> None:
        self.client = LanguageClient("test", "1")
        self.uri = path.as_uri()
        self.version = 0
        self.published: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()

        def published(params: types.PublishDiagnosticsParams) -> None:
            self.published.put_nowait(params)

        self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(published)

    async def open(self, text: str, **options: object) -> list[types.Diagnostic]:
        """Start the server and open the file with a text."""
        await self.client.start_io(sys.executable, "-m", "macaw", "lsp")
        general = types.GeneralClientCapabilities(position_encodings=["utf-16"])
        await self.client.initialize_async(
            types.InitializeParams(
                capabilities=types.ClientCapabilities(general=general),
                initialization_options=options,
            )
        )
        self.client.initialized(types.InitializedParams())
        item = types.TextDocumentItem(self.uri, "macaw", self.version, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return await self.diagnostics()

    async def diagnostics(self) -> list[types.Diagnostic]:
        """The diagnostics that the server publishes for the current version."""
        while True:
            found = await asyncio.wait_for(self.published.get(), 30)
            if found.version == self.version:
                return list(found.diagnostics)

    async def change(self, line: int, start: int, end: int, text: str) -> list[types.Diagnostic]:
        """Replace characters `start` to `end` of a line by a text; all counted from 0."""
        self.version += 1
        place = types.Range(types.Position(line, start), types.Position(line, end))
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(self.version, self.uri),
                [types.TextDocumentContentChangePartial(place, text)],
            )
        )
        return await self.diagnostics()

    def at(self, line: int, column: int) -> dict[str, Any]:
        """The parameters of a request at a position."""
        return {
            "text_document": types.TextDocumentIdentifier(self.uri),
            "position": types.Position(line, column),
        }

    async def close(self) -> None:
        """End the server as an editor does; its exit status must be 0."""
        await self.client.shutdown_async(None)
        self.client.exit(None)
        server = self.client._server
        assert server is not None
        assert await asyncio.wait_for(server.wait(), 30) == 0
        await self.client.stop()


def talk(path: Path, conversation: Callable[[Editor], Awaitable[None]]) -> None:
    """Run a conversation with a new server."""

    async def whole() -> None:
        editor = Editor(path)
        await conversation(editor)
        await editor.close()

    asyncio.run(whole())


@pytest.mark.once
@pytest.mark.parametrize("gnu", [False, True])
def test_a_source_without_core(tmp_path: Path, gnu: bool) -> None:
    """A source without `.core` is for cp, in GNU syntax.

    With the client's option `gnu`, this holds also for a source with a later `.core`.
    """
    text = "loop:   addi    a0 a0, -1\n        bnez    a0, loop\n"
    text += "        .core   vc\n" if gnu else ""

    async def conversation() -> None:
        editor = Editor(tmp_path / "a.s")
        (wrong,) = await editor.open(text, gnu=gnu)
        assert wrong.message == "expected ',' before 'a0'"
        hover = await editor.client.text_document_hover_async(types.HoverParams(**editor.at(1, 9)))
        assert hover is not None
        found = await editor.client.text_document_completion_async(
            types.CompletionParams(**editor.at(1, 16))
        )
        assert isinstance(found, list)
        assert "a0" in [item.label for item in found]
        actions = await editor.client.text_document_code_action_async(
            types.CodeActionParams(
                types.TextDocumentIdentifier(editor.uri),
                wrong.range,
                types.CodeActionContext([wrong]),
            )
        )
        assert actions is not None
        (action,) = actions
        assert isinstance(action, types.CodeAction)
        assert action.title == "Insert ','"
        assert action.edit is not None
        assert action.edit.changes is not None
        ((edit,),) = action.edit.changes.values()
        assert edit.range.start == edit.range.end == types.Position(0, 18)
        assert await editor.change(0, 18, 18, edit.new_text) == []
        await editor.close()

    asyncio.run(conversation())


def test_diagnostics_come_and_go_with_edits(tmp_path: Path) -> None:
    async def conversation(editor: Editor) -> None:
        assert await editor.open(GOOD) == []
        (wrong,) = await editor.change(1, 6, 10, "adi")
        assert wrong.message == "cp has no instruction 'adi'\nhint: did you mean 'andi'?"
        assert wrong.severity == types.DiagnosticSeverity.Error
        assert wrong.range == types.Range(types.Position(1, 6), types.Position(1, 9))
        assert await editor.change(1, 6, 9, "addi") == []
        (doubtful,) = await editor.change(3, 0, 0, "7:")
        assert doubtful.severity == types.DiagnosticSeverity.Warning

    talk(tmp_path / "t.s", conversation)


@pytest.mark.once
def test_positions_are_utf16(tmp_path: Path) -> None:
    """Positions count UTF-16 units: a character beyond 16 bits counts two."""

    async def conversation(editor: Editor) -> None:
        (wrong,) = await editor.open('.asciz "\U0001f99c", nothing\n')
        assert wrong.range.start == types.Position(0, 13)

    talk(tmp_path / "t.s", conversation)


def test_requests(tmp_path: Path) -> None:
    async def conversation(editor: Editor) -> None:
        await editor.open(GOOD)
        hover = await editor.client.text_document_hover_async(types.HoverParams(**editor.at(1, 7)))
        assert hover is not None
        assert isinstance(hover.contents, types.MarkupContent)
        assert "Add a constant" in hover.contents.value
        nothing = await editor.client.text_document_hover_async(
            types.HoverParams(**editor.at(4, 0))
        )
        assert nothing is None
        place = await editor.client.text_document_definition_async(
            types.DefinitionParams(**editor.at(2, 11))
        )
        assert isinstance(place, types.Location)
        assert (place.uri, place.range.start) == (editor.uri, types.Position(1, 0))
        items = await editor.client.text_document_completion_async(
            types.CompletionParams(**editor.at(3, 1))
        )
        assert isinstance(items, list)
        assert {"addi", "ebreak", ".word"} <= {item.label for item in items}
        symbols = await editor.client.text_document_document_symbol_async(
            types.DocumentSymbolParams(types.TextDocumentIdentifier(editor.uri))
        )
        assert symbols is not None
        (part,) = symbols
        assert isinstance(part, types.DocumentSymbol)
        assert part.name == ".core cp"
        assert [child.name for child in part.children or ()] == ["loop"]

    talk(tmp_path / "t.s", conversation)


@pytest.mark.once
def test_formatting(tmp_path: Path) -> None:
    async def conversation(editor: Editor) -> None:
        await editor.open(GOOD)
        params = types.DocumentFormattingParams(
            types.TextDocumentIdentifier(editor.uri), types.FormattingOptions(8, insert_spaces=True)
        )
        edits = await editor.client.text_document_formatting_async(params)
        assert edits is not None
        (edit,) = edits
        assert edit.new_text == format_text(GOOD)
        assert edit.range.end == types.Position(GOOD.count("\n"), 0)
        lines = GOOD.split("\n")
        await editor.change(0, 0, len(lines[0]), "")  # the next version has another layout
        again = await editor.client.text_document_formatting_async(params)
        assert again
        assert again[0].new_text == format_text("\n".join(["", *lines[1:]]))

    talk(tmp_path / "t.s", conversation)


@pytest.mark.once
def test_definitions_and_folders_come_with_the_options(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()

    async def conversation(editor: Editor) -> None:
        found = await editor.open(
            ".word SIZE\n", defines={"SIZE": 3}, includeDirs=[str(tmp_path / "more")]
        )
        assert found == []

    talk(tmp_path / "t.s", conversation)


def test_without_lsprotocol_the_command_says_how_to_get_it() -> None:
    code = "import sys; sys.modules['lsprotocol'] = None; from macaw.cli import main; main(['lsp'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "pip install 'macaw-npu[lsp]'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.once
def test_includes_and_macros(tmp_path: Path) -> None:
    """An error in an included file is shown at the line of the open file that leads to it.

    The error disappears when the included file is mended and saved.
    """
    more = tmp_path / "more.inc"
    good = ".macro two op, rest:vararg\n \\op \\rest\n \\op \\rest\n.endm\ninside: .word 1\n"
    more.write_text(good.replace("\\op \\rest\n.endm", "\\op \\rest, 1\n.endm"))
    text = '.core cp\n.include "more.inc"\n two li, a0, 1\n la a0, inside\n'

    async def conversation(editor: Editor) -> None:
        (wrong,) = await editor.open(text)
        assert wrong.message.startswith("li does not take 3 operands")
        assert wrong.range == types.Range(types.Position(2, 1), types.Position(2, 14))
        related = wrong.related_information or ()
        assert [(x.location.uri, x.location.range.start.line) for x in related] == [
            (more.as_uri(), 2),
            (editor.uri, 2),
        ]
        assert related[1].message == "in expansion of macro 'two'"
        more.write_text(good)
        saved = types.TextDocumentIdentifier(more.as_uri())
        editor.client.text_document_did_save(types.DidSaveTextDocumentParams(saved))
        assert await editor.diagnostics() == []
        for place, line in (editor.at(2, 2), 0), (editor.at(3, 11), 4):
            found = await editor.client.text_document_definition_async(
                types.DefinitionParams(**place)
            )
            assert isinstance(found, types.Location)
            assert (found.uri, found.range.start.line) == (more.as_uri(), line)
        more.write_text("what\n")
        editor.client.text_document_did_save(types.DidSaveTextDocumentParams(saved))
        first, *_ = await editor.diagnostics()
        assert first.range.start == types.Position(1, 0)

    talk(tmp_path / "t.s", conversation)


# The protocol itself, spoken without a client's library.

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
    """Send messages to a server; return its exit status and its answers."""
    command = [sys.executable, "-m", "macaw", "lsp"]
    done = subprocess.run(
        command, input=framed(*messages), capture_output=True, timeout=60, check=False
    )
    assert done.stderr == b""
    bodies = re.split(rb"Content-Length: [0-9]+\r\n\r\n", done.stdout)[1:]
    return done.returncode, [json.loads(body) for body in bodies]


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


@pytest.mark.once
def test_editors_may_add_stdio_to_the_command() -> None:
    command = [sys.executable, "-m", "macaw", "lsp", "--stdio"]
    messages = framed(INITIALIZE, {"id": 1, "method": "shutdown"}, {"method": "exit"})
    done = subprocess.run(command, input=messages, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


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


@pytest.mark.parametrize("text", [" nop\r nop\r nop\r", " nop\r\n nop", "nop\n\n\n"])
def test_formatting_replaces_the_whole_text(text: str) -> None:
    """Formatting replaces the whole text.

    Lines also end at a lone carriage return, as in the protocol.
    """
    file = OpenFile("file:///a.s", 1, Positions(text, UTF16))
    workspace = Workspace()
    answers = Answers(file, workspace.load(file, {file.uri: file}), ClientOptions())
    params = types.DocumentFormattingParams(
        types.TextDocumentIdentifier(file.uri), types.FormattingOptions(8, insert_spaces=True)
    )
    (edit,) = answers.formatting(params)
    change = types.TextDocumentContentChangePartial(edit.range, edit.new_text)
    assert file.positions.after(change).text == format_text(text)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_places_go_there_and_back(encoding: str) -> None:
    """Offsets and positions are inverse, in each encoding of the protocol.

    Lines also end at a lone carriage return.
    """
    text = "ab\r\nc\U0001f99cd\re\x0c\u2028f\n\ng"
    places = Positions(text, types.PositionEncodingKind(encoding))
    starts = [0, 4, 8, 13, 14]
    for offset in range(len(text) + 1):
        position = places.position(offset)
        assert position.line == sum(start <= offset for start in starts) - 1
        if text[offset : offset + 1] != "\n" or text[offset - 1] != "\r":
            assert places.offset(position) == offset
    assert places.position(6).character == (3 if encoding == "utf-16" else 2)
    assert places.offset(types.Position(1, 99)) == 7
    assert places.offset(types.Position(99, 0)) == len(text)
    assert places.line_and_column(types.Position(2, 1)) == (2, 6)


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


def test_answers_list_so_many_items_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lists of references, highlights, folds, links and inlay hints end at a limit, here two."""
    (tmp_path / "a.inc").write_text("        nop\n")
    text = "        .core cp\nloop:   j loop\n        bnez a0, loop\n"
    text += '        .include "a.inc"\n' * 3
    text += "".join(
        f"        .if {n}\n        nop\n        nop\n        .endif\n" for n in (1, 2, 3)
    )
    text += ".equ SIZE, 7\n" + "        li a1, SIZE * 3\n" * 3
    file = OpenFile((tmp_path / "m.s").as_uri(), 1, Positions(text, UTF16))
    workspace = Workspace()
    answers = Answers(file, workspace.load(file, {file.uri: file}), ClientOptions())
    here = types.TextDocumentIdentifier(file.uri)
    place, every = types.Position(1, 1), types.Range(types.Position(0, 0), types.Position(99, 0))

    def listed() -> list[list[object]]:
        context = types.ReferenceContext(include_declaration=True)
        return [
            [*answers.references(types.ReferenceParams(context, here, place))],
            [*answers.highlights(types.DocumentHighlightParams(here, place))],
            [*answers.folds(types.FoldingRangeParams(here))],
            [*answers.links(types.DocumentLinkParams(here))],
            [*answers.notes(types.InlayHintParams(here, every))],
        ]

    whole = listed()
    assert [len(items) for items in whole] == [3, 3, 4, 3, 15]
    monkeypatch.setattr("macaw.language_server.answers._MOST_ITEMS", 2)
    assert listed() == [items[:2] for items in whole]
