"""The language server on a program of several files, used by pygls' client."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lsprotocol import types
from pygls.lsp.client import LanguageClient

from benchmarks.sources import program_of_four_files
from macaw.language_server.published import Published
from tests.macaw.language_servers import start_here

Edits = dict[str, list[types.TextEdit]]


class Editor:
    """An editor with a folder open."""

    def __init__(self, folder: Path, texts: dict[str, str]) -> None:
        self.folder, self.texts = folder, dict(texts)
        self.versions: dict[str, int] = {}
        self.shown: dict[str, list[types.Diagnostic]] = {}
        self.news = asyncio.Event()
        self.client = LanguageClient("test", "1")

        def published(params: types.PublishDiagnosticsParams) -> None:
            name = params.uri.rpartition("/")[2]
            if params.version is None or params.version == self.versions.get(name):
                self.shown[name] = list(params.diagnostics)
            self.news.set()

        self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(published)

    async def start(self, **options: object) -> types.InitializeResult:
        for name, text in self.texts.items():
            (self.folder / name).write_text(text)
        self.ended = await start_here(self.client)
        folder = types.WorkspaceFolder(self.folder.as_uri(), "program")
        result = await self.client.initialize_async(
            types.InitializeParams(
                types.ClientCapabilities(),
                workspace_folders=[folder],
                initialization_options=options,
            )
        )
        self.client.initialized(types.InitializedParams())
        return result

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def open(self, *names: str) -> None:
        for name in names:
            self.versions[name] = 0
            item = types.TextDocumentItem(self.uri(name), "macaw", 0, self.texts[name])
            self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def replace(self, name: str, old: str, new: str) -> None:
        """Replace a piece that occurs in a text once."""
        text = self.texts[name]
        assert text.count(old) == 1
        self.versions[name] += 1
        before = text[: text.index(old)]
        start = types.Position(before.count("\n"), len(before) - before.rfind("\n") - 1)
        piece = before + old
        end = types.Position(piece.count("\n"), len(piece) - piece.rfind("\n") - 1)
        self.texts[name] = text.replace(old, new)
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(self.versions[name], self.uri(name)),
                [types.TextDocumentContentChangePartial(types.Range(start, end), new)],
            )
        )

    def save(self, name: str) -> None:
        (self.folder / name).write_text(self.texts[name])
        file = types.TextDocumentIdentifier(self.uri(name))
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(file))

    async def until(self, expected: dict[str, list[tuple[int, str]]]) -> None:
        """Wait until exactly these files show exactly these lines (from 1) and messages."""

        def found() -> dict[str, list[tuple[int, str]]]:
            return {
                name: [(x.range.start.line + 1, x.message) for x in items]
                for name, items in self.shown.items()
                if items
            }

        end = asyncio.get_running_loop().time() + 30
        while found() != expected:
            assert asyncio.get_running_loop().time() < end, found()
            self.news.clear()
            try:
                await asyncio.wait_for(self.news.wait(), 1)
            except TimeoutError:
                continue

    def at(self, name: str, line: int, word: str) -> dict[str, Any]:
        """The parameters of a request about a word in a line, counted from 1."""
        column = self.texts[name].split("\n")[line - 1].index(word)
        return {
            "text_document": types.TextDocumentIdentifier(self.uri(name)),
            "position": types.Position(line - 1, column),
        }

    def of(self, name: str) -> dict[str, Any]:
        return {"text_document": types.TextDocumentIdentifier(self.uri(name))}

    async def close(self) -> None:
        await self.client.shutdown_async(None)
        self.client.exit(None)
        assert await asyncio.wait_for(self.ended(), 30) == 0
        await self.client.stop()


def talk(
    folder: Path, texts: dict[str, str], conversation: Callable[[Editor], Awaitable[None]]
) -> None:
    """Run a conversation with a new server, which must end with status 0."""

    async def whole() -> None:
        editor = Editor(folder, texts)
        await conversation(editor)
        await editor.close()

    asyncio.run(whole())


ALL = types.Range(types.Position(0, 0), types.Position(600, 0))


@pytest.mark.once
def test_each_feature_on_four_files(tmp_path: Path) -> None:
    """Each feature gives the expected answer in a program of four files and 1,300 lines."""
    texts = program_of_four_files()
    assert sum(text.count("\n") for name, text in texts.items() if name != "golden.toml") == 1300

    async def conversation(editor: Editor) -> None:
        client = editor.client
        await editor.start()
        editor.open("main.s", "common.inc")
        await editor.until({})
        step = editor.at("main.s", 18, "STEP")

        hover = await client.text_document_hover_async(types.HoverParams(**step))
        assert hover is not None
        assert "common.inc:5" in str(hover.contents)

        place = await client.text_document_definition_async(types.DefinitionParams(**step))
        assert isinstance(place, types.Location)
        assert (place.uri, place.range.start.line) == (editor.uri("common.inc"), 4)

        context = types.ReferenceContext(include_declaration=True)
        found = await client.text_document_references_async(
            types.ReferenceParams(context=context, **step)
        )
        assert found is not None
        wanted = sum(word_count(text, "STEP") for text in texts.values())
        assert len(found) == wanted > 50
        context = types.ReferenceContext(include_declaration=False)
        uses = await client.text_document_references_async(
            types.ReferenceParams(context=context, **step)
        )
        assert uses is not None
        assert len(uses) == wanted - 1

        shared = await client.text_document_references_async(
            types.ReferenceParams(context=context, **editor.at("main.s", 9, "kernels"))
        )
        assert shared is not None
        assert {x.uri for x in shared} == {editor.uri("main.s"), editor.uri("kernels.s")}

        marks = await client.text_document_document_highlight_async(
            types.DocumentHighlightParams(**step)
        )
        assert marks is not None
        assert len(marks) == word_count(texts["main.s"], "STEP")

        name = await client.text_document_prepare_rename_async(types.PrepareRenameParams(**step))
        assert isinstance(name, types.PrepareRenamePlaceholder)
        assert name.placeholder == "STEP"
        edit = await client.text_document_rename_async(types.RenameParams(new_name="PACE", **step))
        assert edit is not None
        assert edit.changes is not None
        assert sum(map(len, edit.changes.values())) == wanted

        items = await client.text_document_completion_async(types.CompletionParams(**step))
        assert isinstance(items, list)
        assert {"STEP", "COUNT39", "%lo"} <= {item.label for item in items}

        help_ = await client.text_document_signature_help_async(types.SignatureHelpParams(**step))
        assert help_ is not None
        assert (help_.signatures[0].label, help_.active_parameter) == ("addi rd, rs1, imm", 2)

        symbols = await client.text_document_document_symbol_async(
            types.DocumentSymbolParams(**editor.of("main.s"))
        )
        assert symbols is not None
        assert [x.name for x in symbols] == ["x", "y", ".core cp"]

        everywhere = await client.workspace_symbol_async(types.WorkspaceSymbolParams("kernel1"))
        assert everywhere is not None
        assert everywhere[0].name == "kernel1"
        assert everywhere[0].location.uri == editor.uri("kernels.s")

        folds = await client.text_document_folding_range_async(
            types.FoldingRangeParams(**editor.of("common.inc"))
        )
        assert folds is not None
        assert (45, 48) in {(x.start_line, x.end_line) for x in folds}

        colours = await client.text_document_semantic_tokens_full_async(
            types.SemanticTokensParams(**editor.of("main.s"))
        )
        assert colours is not None
        assert len(colours.data) % 5 == 0
        part = await client.text_document_semantic_tokens_range_async(
            types.SemanticTokensRangeParams(range=ALL, **editor.of("main.s"))
        )
        assert part is not None
        assert part.data == colours.data

        links = await client.text_document_document_link_async(
            types.DocumentLinkParams(**editor.of("main.s"))
        )
        assert links is not None
        assert [x.target for x in links] == [editor.uri("common.inc")]

        notes = await client.text_document_inlay_hint_async(
            types.InlayHintParams(range=ALL, **editor.of("main.s"))
        )
        assert notes is not None
        labels = [x.label for x in notes if x.position.line == step["position"].line]
        assert labels == ["= 1", "1 cycle"]

        editor.replace("main.s", "call    routine0", "cal     routine0")
        message = "cp has no instruction 'cal'\nhint: did you mean 'call'?"
        await editor.until({"main.s": [(13, message)]})
        actions = await client.text_document_code_action_async(
            types.CodeActionParams(
                range=ALL, context=types.CodeActionContext([]), **editor.of("main.s")
            )
        )
        assert actions is not None
        (action,) = actions
        assert isinstance(action, types.CodeAction)
        assert action.edit is not None
        assert action.edit.changes is not None
        (change,) = action.edit.changes[editor.uri("main.s")]
        assert (change.new_text, change.range.start) == ("call", types.Position(12, 8))

    talk(tmp_path, texts, conversation)


def word_count(text: str, word: str) -> int:
    code = [line.split("#")[0] for line in text.split("\n")]
    return sum(part == word for x in code for part in x.replace("-", " ").replace(",", " ").split())


# --- who belongs to whom -------------------------------------------------------------------

TWO = {
    "a.s": ' .include "c.inc"\n .core cp\n_start: la a0, table\n li a1, SIZE\n',
    "b.s": ' .include "c.inc"\n .global table\ntable: .word SIZE\n',
    "c.inc": " .equ SIZE, 4\n",
    "golden.toml": 'source = ["a.s", "b.s"]\n',
}
UNDEFINED = "undefined symbol 'table'"


@pytest.mark.once
def test_golden_toml_says_which_sources_are_one_program(tmp_path: Path) -> None:
    """golden.toml says which sources are one program, also with files that are not open.

    Without it each source is a program.
    """

    async def conversation(editor: Editor) -> None:
        await editor.start()
        editor.open("a.s")
        await editor.until({"a.s": [(3, UNDEFINED)]})
        (editor.folder / "golden.toml").write_text(TWO["golden.toml"])
        change = types.FileEvent(editor.uri("golden.toml"), types.FileChangeType.Created)
        editor.client.workspace_did_change_watched_files(
            types.DidChangeWatchedFilesParams([change])
        )
        await editor.until({})
        editor.open("b.s")
        editor.replace("b.s", "table:", "tables:")  # not saved
        await editor.until({"a.s": [(3, UNDEFINED)]})
        editor.replace("b.s", "tables:", "table:")
        await editor.until({})

    talk(tmp_path, {name: text for name, text in TWO.items() if name[0] != "g"}, conversation)


def write(editor: Editor, name: str, text: str) -> None:
    """Write a file without the editor, which tells the server that it has changed."""
    (editor.folder / name).write_text(text)
    change = types.FileEvent(editor.uri(name), types.FileChangeType.Changed)
    editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([change]))


def test_a_missing_file_that_comes_ends_the_errors(tmp_path: Path) -> None:
    """If a file that a program includes, or whose bytes it has, comes, the program is assembled."""
    source = ' .include "c.inc"\n .core cp\n_start: li a1, SIZE\n .incbin "d.bin"\n'
    missing = "there is no file '{}' below the source's folder or a -I folder"

    async def conversation(editor: Editor) -> None:
        await editor.start()
        editor.open("a.s")
        without_data = (4, missing.format("d.bin"))
        undefined = (3, "undefined symbol 'SIZE'")
        await editor.until({"a.s": [(1, missing.format("c.inc")), undefined, without_data]})
        write(editor, "c.inc", " .equ SIZE, 4\n")
        await editor.until({"a.s": [without_data]})
        write(editor, "d.bin", "1234")
        await editor.until({})

    talk(tmp_path, {"a.s": source}, conversation)


def test_the_device_file_of_golden_toml_changes(tmp_path: Path) -> None:
    files = {
        "a.s": " .core cp\n_start: ecall\n .core pe, row=1\n .seq s\n st base=0\n .endseq\n",
        "golden.toml": 'source = "a.s"\ndevice = "d.toml"\n',
        "d.toml": "[pe]\nrows = 1\n",
    }

    async def conversation(editor: Editor) -> None:
        await editor.start()
        editor.open("a.s")
        await editor.until({"a.s": [(3, "row: 1 is out of range, 0 to 0")]})
        write(editor, "d.toml", "[pe]\nrows = 2\n")
        await editor.until({})

    talk(tmp_path, files, conversation)


def test_an_included_file_shows_its_own_errors(tmp_path: Path) -> None:
    """An error in the text of an included file is shown in this file, not in its users.

    A name that the included file no longer defines is an error in the files that use the name.
    """

    async def conversation(editor: Editor) -> None:
        await editor.start()
        editor.open("c.inc")
        await editor.until({})
        editor.replace("c.inc", "SIZE, 4", "SIZES, 4")
        hint = "\nhint: did you mean 'SIZES'?"
        wrong = f"undefined symbol 'SIZE'{hint}"
        await editor.until({"a.s": [(4, wrong)], "b.s": [(3, wrong)]})
        editor.replace("c.inc", "SIZES, 4", "SIZE, four")
        await editor.until({"c.inc": [(1, "undefined symbol 'four'")]})
        editor.open("a.s")
        editor.replace("a.s", "SIZE", "TINY")
        both = {"c.inc": [(1, "undefined symbol 'four'")], "a.s": [(4, "undefined symbol 'TINY'")]}
        await editor.until(both)
        file = types.TextDocumentIdentifier(editor.uri("c.inc"))
        editor.client.text_document_did_close(types.DidCloseTextDocumentParams(file))
        await editor.until(
            {"a.s": [(4, "undefined symbol 'TINY'")]}
        )  # the file on the disk is right

    talk(tmp_path, TWO, conversation)


def test_a_closed_program_takes_the_errors_of_its_files_with_it() -> None:
    """The file c.inc is open and has errors of its own program, and of the program of a.s."""
    sent: dict[str, list[str]] = {}
    published = Published(lambda uri, items: sent.update({uri: [item.message for item in items]}))
    span = types.Range(types.Position(0, 0), types.Position(0, 1))
    one, two = types.Diagnostic(span, "one"), types.Diagnostic(span, "two")
    published.put("a.s", ("a.s",), {"a.s": [], "c.inc": [one]})
    published.put("c.inc", ("c.inc",), {"c.inc": [two]})
    assert sent["c.inc"] == ["one", "two"]
    published.close("a.s")
    assert sent == {"a.s": [], "c.inc": ["two"]}


def test_the_definition_of_an_array_in_a_file_is_the_file(tmp_path: Path) -> None:
    np.save(tmp_path / "w.npy", np.zeros(4, np.int8))

    async def conversation(editor: Editor) -> None:
        await editor.start()
        editor.open("a.s")
        await editor.until({})
        place = await editor.client.text_document_definition_async(
            types.DefinitionParams(**editor.at("a.s", 2, "w.npy"))
        )
        start = types.Position(0, 0)
        assert place == types.Location(editor.uri("w.npy"), types.Range(start, start))

    talk(tmp_path, {"a.s": '.data\nw: .npy "w.npy"\n'}, conversation)


@pytest.mark.once
def test_an_error_of_two_programs_is_shown_once(tmp_path: Path) -> None:
    """An error of two programs is shown once in c.inc, which belongs to both.

    An error of only one of the programs disappears when this program is right.
    """
    texts = {
        "a.s": '.equ N, 1\n.include "c.inc"\n',
        "b.s": '.equ N, 2\n.include "c.inc"\n',
        "c.inc": ".word nothing\n.if N == 2\n.word two\n.endif\n",
    }

    async def conversation(editor: Editor) -> None:
        await editor.start()
        editor.open("a.s", "b.s", "c.inc")
        nothing = (1, "undefined symbol 'nothing'")
        await editor.until({"c.inc": [nothing, (3, "undefined symbol 'two'")]})
        editor.replace("b.s", "N, 2", "N, 1")
        await editor.until({"c.inc": [nothing]})
        editor.replace("c.inc", "nothing", "0")
        await editor.until({})

    talk(tmp_path, texts, conversation)


@pytest.mark.once
def test_a_file_that_is_opened_while_programs_wait_for_the_assembler(tmp_path: Path) -> None:
    """Errors in c.inc are shown if the editor opens c.inc before its programs are assembled."""
    texts = {
        "a.s": '.equ N, 1\n.include "c.inc"\n',
        "b.s": '.equ N, 2\n.include "c.inc"\n',
        "c.inc": ".word nothing\n.if N == 2\n.word two\n.endif\n",
    }
    wrong = [(1, "undefined symbol 'nothing'"), (3, "undefined symbol 'two'")]

    async def conversation(editor: Editor) -> None:
        await editor.start()
        for _ in range(8):
            editor.open(*texts)
            await editor.until({"c.inc": wrong})
            for name in texts:
                file = types.TextDocumentIdentifier(editor.uri(name))
                editor.client.text_document_did_close(types.DidCloseTextDocumentParams(file))
            await editor.until({})

    talk(tmp_path, texts, conversation)
