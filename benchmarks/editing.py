"""Times of the language server: from an edit to diagnostics, and from a request to its answer."""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from benchmarks.figures import LOWER, Effort, Figure
from benchmarks.sources import assembly, program_of_four_files

LINES = 10_000
EDITS = 21
URI = "file:///tmp/benchmark.s"
WRONG = "        adi     a0, a1, 1"
ROUNDS = 11  # requests of each kind
LINE = 40  # of main.s, from 0: `addi t0, t0, -STEP`


class Session:
    """A language server, and the diagnostics that it publishes."""

    def __init__(self) -> None:
        self.client = LanguageClient("benchmark", "1")
        self.published: asyncio.Queue[tuple[float, types.PublishDiagnosticsParams]] = (
            asyncio.Queue()
        )

        def note(params: types.PublishDiagnosticsParams) -> None:
            self.published.put_nowait((time.perf_counter(), params))

        self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(note)

    async def start(self, folder: Path | None = None) -> None:
        """Start the server, with a folder open."""
        await self.client.start_io(sys.executable, "-m", "macaw", "lsp")
        uri = None if folder is None else folder.as_uri()
        await self.client.initialize_async(
            types.InitializeParams(types.ClientCapabilities(), root_uri=uri)
        )
        self.client.initialized(types.InitializedParams())

    def open(self, uri: str, text: str) -> None:
        """Open the file `uri` with this text."""
        item = types.TextDocumentItem(uri, "macaw", 0, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def change(self, uri: str, version: int, place: types.Range, text: str) -> None:
        """Replace the text in the range `place` of the file `uri`, which gets this version."""
        change = types.TextDocumentContentChangePartial(place, text)
        identifier = types.VersionedTextDocumentIdentifier(version, uri)
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(identifier, [change])
        )

    async def close(self) -> None:
        """End the server. Raises `RuntimeError` unless it ends with status 0."""
        await self.client.shutdown_async(None)
        self.client.exit(None)
        server = self.client._server
        if server is None or await server.wait():
            raise RuntimeError("the server has not ended as it should")
        await self.client.stop()


async def edits(lines: int, number: int) -> tuple[float, list[float]]:
    """Return the wall-clock seconds to the first diagnostics, and to those after each edit.

    The source has `lines` lines; `number` is the number of edits.
    """
    session = Session()
    await session.start()
    begin = time.perf_counter()
    session.open(URI, assembly(lines))
    opened = (await session.published.get())[0] - begin

    pick, seconds, line = random.Random(1), [], 0
    for version in range(1, number + 1):
        # A wrong line comes, and goes with the next edit.
        if version % 2:
            line = pick.randrange(2, lines)
        start, end = types.Position(line, 0), types.Position(line + 1 - version % 2, 0)
        begin = time.perf_counter()
        place = types.Range(start, end)
        session.change(URI, version, place, f"{WRONG}\n" if version % 2 else "")
        when, params = await session.published.get()
        if len(params.diagnostics) != version % 2:
            raise RuntimeError(f"{len(params.diagnostics)} diagnostics after edit {version}")
        seconds.append(when - begin)
    await session.close()
    return opened, seconds


Request = Callable[[LanguageClient, str, list[types.Diagnostic]], Awaitable[Any]]


def at(uri: str, line: int, column: int) -> dict[str, Any]:
    """Return the parameters of a request for a line and column in the file `uri`."""
    return {
        "text_document": types.TextDocumentIdentifier(uri),
        "position": types.Position(line, column),
    }


def of(uri: str) -> types.TextDocumentIdentifier:
    return types.TextDocumentIdentifier(uri)


_ALL = types.Range(types.Position(0, 0), types.Position(500, 0))
_LAYOUT = types.FormattingOptions(8, insert_spaces=True)
_WITH_DECLARATION = types.ReferenceContext(include_declaration=True)
# Each request about main.s. The name at column 30 of LINE is STEP, which all files use.
REQUESTS: dict[str, Request] = {
    "hover": lambda c, u, d: c.text_document_hover_async(types.HoverParams(**at(u, LINE, 10))),
    "completion": lambda c, u, d: c.text_document_completion_async(
        types.CompletionParams(**at(u, LINE, 24))
    ),
    "signature help": lambda c, u, d: c.text_document_signature_help_async(
        types.SignatureHelpParams(**at(u, LINE, 24))
    ),
    "definition": lambda c, u, d: c.text_document_definition_async(
        types.DefinitionParams(**at(u, LINE, 26))
    ),
    "references": lambda c, u, d: c.text_document_references_async(
        types.ReferenceParams(context=_WITH_DECLARATION, **at(u, LINE, 26))
    ),
    "highlight": lambda c, u, d: c.text_document_document_highlight_async(
        types.DocumentHighlightParams(**at(u, LINE, 26))
    ),
    "prepare rename": lambda c, u, d: c.text_document_prepare_rename_async(
        types.PrepareRenameParams(**at(u, LINE, 26))
    ),
    "rename": lambda c, u, d: c.text_document_rename_async(
        types.RenameParams(new_name="PACE", **at(u, LINE, 26))
    ),
    "outline": lambda c, u, d: c.text_document_document_symbol_async(
        types.DocumentSymbolParams(of(u))
    ),
    "workspace symbols": lambda c, u, d: c.workspace_symbol_async(
        types.WorkspaceSymbolParams("routine1")
    ),
    "folding": lambda c, u, d: c.text_document_folding_range_async(types.FoldingRangeParams(of(u))),
    "semantic tokens": lambda c, u, d: c.text_document_semantic_tokens_full_async(
        types.SemanticTokensParams(of(u))
    ),
    "semantic tokens of a range": lambda c, u, d: c.text_document_semantic_tokens_range_async(
        types.SemanticTokensRangeParams(of(u), _ALL)
    ),
    "code actions": lambda c, u, d: c.text_document_code_action_async(
        types.CodeActionParams(of(u), _ALL, types.CodeActionContext(d))
    ),
    "document links": lambda c, u, d: c.text_document_document_link_async(
        types.DocumentLinkParams(of(u))
    ),
    "inlay hints": lambda c, u, d: c.text_document_inlay_hint_async(
        types.InlayHintParams(of(u), _ALL)
    ),
    "formatting": lambda c, u, d: c.text_document_formatting_async(
        types.DocumentFormattingParams(of(u), _LAYOUT)
    ),
}


async def requests(rounds: int) -> dict[str, list[float]]:
    """Return, by request, the wall-clock seconds to its answers, in a program of four files.

    Before each request a line of main.s changes, so that the server assembles the program again.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        texts = program_of_four_files()
        for file, text in texts.items():
            (folder / file).write_text(text)
        session = Session()
        await session.start(folder)
        main = (folder / "main.s").as_uri()
        for file in texts:
            if file != "golden.toml":
                session.open((folder / file).as_uri(), texts[file])
        while (await session.published.get())[1].uri != main:
            pass
        seconds: dict[str, list[float]] = {kind: [] for kind in REQUESTS}
        version = 0
        for _ in range(rounds):
            for kind, ask in REQUESTS.items():
                version += 1
                place = types.Range(types.Position(0, 0), types.Position(1, 0))
                session.change(main, version, place, f"# edit {version}\n")
                begin = time.perf_counter()
                if not await ask(session.client, main, []) and kind != "code actions":
                    raise RuntimeError(f"{kind} has no answer")
                seconds[kind].append(time.perf_counter() - begin)
                await until(session, main, version)
        await session.close()
    return seconds


async def until(session: Session, uri: str, version: int) -> None:
    """Wait for the diagnostics of a version of a file. Raises `RuntimeError` if the file has any."""
    while True:
        _when, params = await asyncio.wait_for(session.published.get(), 60)
        if params.diagnostics:
            raise RuntimeError(f"{params.uri}: {params.diagnostics[0].message}")
        if (params.uri, params.version) == (uri, version):
            return


def measure(effort: Effort) -> Iterator[Figure]:
    """Yield the milliseconds of edits and of requests."""
    lines, number = (100, 2) if effort.small else (LINES, EDITS)
    opened, seconds = asyncio.run(edits(lines, number))
    yield Figure("opened", "ms", (1000 * opened,), LOWER)
    yield Figure("an edit", "ms", tuple(1000 * x for x in seconds), LOWER)
    yield Figure("the slowest edit", "ms", (1000 * max(seconds),), LOWER)
    for kind, found in asyncio.run(requests(effort.rounds(ROUNDS))).items():
        yield Figure(kind, "median ms", tuple(1000 * x for x in found), LOWER, table="requests")
        yield Figure(kind, "slowest ms", (1000 * max(found),), LOWER, table="requests")
