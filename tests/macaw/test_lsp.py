"""The language server, used by pygls' client."""

import asyncio
import subprocess
import sys
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
from macaw.language_server.translations import LEGEND
from macaw.language_server.workspace import Workspace
from tests.macaw.language_servers import Ended, start_apart, start_here

Start = Callable[[LanguageClient], Awaitable[Ended]]

UTF16 = types.PositionEncodingKind.Utf16
GOOD = ".core cp\nloop: addi a0, a0, -1\n bnez a0, loop\n ebreak\n"


class Editor:
    """An editor with one file open."""

    def __init__(self, path: Path, start: Start = start_here) -> None:
        self.client = LanguageClient("test", "1")
        self.start = start
        self.uri = path.as_uri()
        self.version = 0
        self.published: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()

        def published(params: types.PublishDiagnosticsParams) -> None:
            self.published.put_nowait(params)

        self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(published)

    async def open(self, text: str, **options: object) -> list[types.Diagnostic]:
        """Start the server and open the file with a text."""
        self.ended = await self.start(self.client)
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
        assert await asyncio.wait_for(self.ended(), 30) == 0
        await self.client.stop()


def talk(
    path: Path, conversation: Callable[[Editor], Awaitable[None]], start: Start = start_here
) -> None:
    """Run a conversation with a new server."""

    async def whole() -> None:
        editor = Editor(path, start)
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

    talk(tmp_path / "t.s", conversation, start_apart)


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


def test_words_after_a_lone_carriage_return_have_colours() -> None:
    """A comment with a lone carriage return, which ends a line in the protocol, has no colour.

    The words after it have theirs: the distance from the word before, the length, and the role.
    """
    text = ".core cp # one\rtwo\nloop: nop\n"
    file = OpenFile("file:///a.s", 1, Positions(text, UTF16))
    workspace = Workspace()
    answers = Answers(file, workspace.load(file, {file.uri: file}), ClientOptions())
    here = types.TextDocumentIdentifier(file.uri)
    data = [*answers.colours(types.SemanticTokensParams(here)).data]
    words = [tuple(data[place : place + 4]) for place in range(0, len(data), 5)]
    roles = [LEGEND.token_types[role] for *_, role in words]
    assert [(word[:3], role) for word, role in zip(words, roles, strict=True)] == [
        ((0, 0, 5), "keyword"),
        ((0, 6, 2), "enumMember"),
        ((2, 0, 4), "label"),
        ((0, 6, 3), "function"),
    ]


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
