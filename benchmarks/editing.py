"""The language server: from an edit of a source of 10 thousand lines to its diagnostics."""

from __future__ import annotations

import asyncio
import random
import sys
import time
from statistics import median

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from benchmarks.measure import table, target
from benchmarks.sources import assembly

LINES = 10_000
EDITS = 21
URI = "file:///tmp/benchmark.s"
WRONG = "        adi     a0, a1, 1"


async def measure() -> tuple[float, list[float]]:
    """Seconds until the first diagnostics, and after each edit (wall clock, both processes)."""
    client = LanguageClient("benchmark", "1")
    published: asyncio.Queue[tuple[float, types.PublishDiagnosticsParams]] = asyncio.Queue()

    def note(params: types.PublishDiagnosticsParams) -> None:
        published.put_nowait((time.perf_counter(), params))

    client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(note)

    await client.start_io(sys.executable, "-m", "macaw", "lsp")
    await client.initialize_async(types.InitializeParams(types.ClientCapabilities()))
    client.initialized(types.InitializedParams())
    text = assembly(LINES)
    begin = time.perf_counter()
    item = types.TextDocumentItem(URI, "macaw", 0, text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    opened = (await published.get())[0] - begin

    pick, seconds, line = random.Random(1), [], 0
    for version in range(1, EDITS + 1):
        # A wrong line comes, and goes with the next edit.
        if version % 2:
            line = pick.randrange(2, LINES)
        start, end = types.Position(line, 0), types.Position(line + 1 - version % 2, 0)
        change = types.TextDocumentContentChangePartial(
            types.Range(start, end), f"{WRONG}\n" if version % 2 else ""
        )
        place = types.VersionedTextDocumentIdentifier(version, URI)
        begin = time.perf_counter()
        client.text_document_did_change(types.DidChangeTextDocumentParams(place, [change]))
        when, params = await published.get()
        if len(params.diagnostics) != version % 2:
            raise RuntimeError(f"{len(params.diagnostics)} diagnostics after edit {version}")
        seconds.append(when - begin)
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()
    return opened, seconds


def main() -> None:
    """Measure and print."""
    opened, seconds = asyncio.run(measure())
    print("### Language server\n")
    print(
        f"Milliseconds of wall clock between a message and the diagnostics, {LINES:,} lines;"
        " a wrong line is put in at random and taken out.\n"
    )
    rows = [
        ["opened", f"{1000 * opened:.0f}"],
        [f"an edit, median of {EDITS}", f"{1000 * median(seconds):.0f}"],
        ["the slowest edit", f"{1000 * max(seconds):.0f}"],
    ]
    print(table(["", "ms"], rows))
    middle = 1000 * median(seconds)
    print(target(f"{middle:.0f} ms after an edit, at most 50", middle <= 50))


if __name__ == "__main__":
    main()
