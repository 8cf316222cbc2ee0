"""Answers of the language server to generated requests about small programs are those of files.

Requests and changes have random positions, in each unit of positions. The editor sends a message
when the server has answered the message before it, so no answer depends on the server's speed.
`MACAW_GOLDENS=write` writes the files; read them before you keep them.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from lsprotocol import types

from macaw.debugger.dap.framing import frame
from macaw.language_server.server import LanguageServer
from tests.fuzz.lsp_messages import ASKED
from tests.recorded import check, summary
from tests.small_programs import PROGRAMS

pytestmark = pytest.mark.once
RECORDED = Path(__file__).parent / "recorded"
MOST = 200  # characters of an answer in one line
PARAMETERS = {  # which parameters a request needs, beside the file; the others need `position`
    types.TEXT_DOCUMENT_RENAME: ("position", "newName"),
    types.TEXT_DOCUMENT_CODE_ACTION: ("range",),
    types.TEXT_DOCUMENT_INLAY_HINT: ("range",),
    types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE: ("range",),
    types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: (),
    types.TEXT_DOCUMENT_FORMATTING: (),
    types.TEXT_DOCUMENT_FOLDING_RANGE: (),
    types.TEXT_DOCUMENT_DOCUMENT_LINK: (),
    types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL: (),
    types.WORKSPACE_SYMBOL: ("query",),
}


class PatientEditor:
    """A stream with an editor's messages; it waits for each answer and for all diagnostics.

    `replies` are the results, the errors and the diagnostics, in the order of the messages.
    """

    def __init__(self, messages: Iterable[dict[str, Any]]) -> None:
        self._left = iter(messages)
        self._awaited: tuple[str, Any] | None = None  # a request's id, or the version of a text
        self._replied = threading.Event()
        self.replies: list[Any] = []

    def hear(self, message: bytes) -> None:
        """Take a message of the server."""
        body = json.loads(message.partition(b"\r\n\r\n")[2])
        name, where = ("id", body) if "id" in body else ("version", body["params"])
        if (name, where.get(name)) == self._awaited:
            self._awaited = None
            self.replies.append(where.get("diagnostics", body.get("result", body.get("error"))))
            self._replied.set()

    def read(self, size: int, /) -> bytes:
        """Return the next message, or nothing at the end or if an answer does not come."""
        if self._awaited is not None and not self._replied.wait(50):
            return b""
        message = next(self._left, None)
        if message is None:
            return b""
        self._replied.clear()
        if "id" in message:
            self._awaited = "id", message["id"]
        else:
            self._awaited = "version", message["params"]["textDocument"]["version"]
        return frame(json.dumps({"jsonrpc": "2.0", **message}).encode())


def session(rng: Random, uri: str, text: str) -> list[dict[str, Any]]:
    """The messages of an editor that opens a text, asks, and changes it."""
    unit, file = rng.choice(("utf-8", "utf-16", "utf-32")), {"uri": uri}
    capabilities = {"general": {"positionEncodings": [unit]}}
    first = {"processId": None, "rootUri": None, "capabilities": capabilities}
    item = {**file, "languageId": "macaw", "version": 0, "text": text}
    messages: list[dict[str, Any]] = [
        {"id": "first", "method": types.INITIALIZE, "params": first},
        {"method": types.TEXT_DOCUMENT_DID_OPEN, "params": {"textDocument": item}},
    ]
    lines = text.splitlines()

    def position() -> dict[str, int]:
        line = rng.randrange(len(lines))
        words = [found.start() for found in re.finditer(r"[\w.%]+", lines[line])]
        character = len(lines[line]) + 3
        if rng.random() < 0.8:
            character = rng.choice(words or [0]) + rng.choice((0, 0, 1))
        return {"line": line if rng.random() < 0.97 else len(lines) + 1, "character": character}

    for number in range(rng.randint(14, 22)):
        one, other = sorted((position(), position()), key=lambda x: (x["line"], x["character"]))
        if rng.random() < 0.2:
            end = {**one, "character": one["character"] + rng.choice((0, 1, 3))}
            words = ("", "x", " add a0, a1, a2\n", "\u00e9\U0001f600", "nop # \u00e9\n", "1")
            change = {"range": {"start": one, "end": end}, "text": rng.choice(words)}
            versioned = {**file, "version": number + 1}
            params: dict[str, Any] = {"textDocument": versioned, "contentChanges": [change]}
            messages.append({"method": types.TEXT_DOCUMENT_DID_CHANGE, "params": params})
            continue
        values = {
            "position": position(),
            "range": {"start": one, "end": other},
            "newName": rng.choice(("fresh", "a0", "1x", "loop")),
            "query": rng.choice(("", "lo", "x")),
        }
        method = rng.choice(ASKED)
        params = {name: values[name] for name in PARAMETERS.get(method, ("position",))}
        params["textDocument"] = file
        if method == types.TEXT_DOCUMENT_REFERENCES:
            params["context"] = {"includeDeclaration": rng.random() < 0.5}
        elif method == types.TEXT_DOCUMENT_CODE_ACTION:
            params["context"] = {"diagnostics": []}
        elif method == types.TEXT_DOCUMENT_FORMATTING:
            params["options"] = {"tabSize": 8, "insertSpaces": True}
        messages.append({"id": number, "method": method, "params": params})
    return messages


def told(message: dict[str, Any], reply: Any, folder: Path) -> list[str]:
    """A line for a message and one for its reply."""
    if "id" not in message:
        asked = message["params"].get("contentChanges", "opened")
    else:
        names = ("position", "range", "newName", "query")
        asked = {key: value for key, value in message["params"].items() if key in names}
    text = json.dumps(reply, ensure_ascii=False).replace(str(folder), "FOLDER")
    shown = text if len(text) <= MOST else f"{text[:MOST]}... {summary(text)}"
    return [f"> {message['method']} {json.dumps(asked)}", shown]


@pytest.mark.parametrize("name", PROGRAMS)
def test_answers(name: str, tmp_path: Path) -> None:
    """First a text that was never saved, then a file beside the other files of the program."""
    path = PROGRAMS[name].write(tmp_path)
    text, outcomes = path.read_text("utf-8"), {}
    for uri in ("untitled:Untitled-1", path.as_uri()):
        kind = uri.partition(":")[0]
        messages = session(Random(f"lsp {name} {kind}"), uri, text)
        editor = PatientEditor(messages)
        LanguageServer(editor.hear).serve(editor)
        assert len(editor.replies) == len(messages)
        codes = [reply.get("code") for reply in editor.replies if isinstance(reply, dict)]
        assert types.ErrorCodes.InternalError not in codes
        pairs = zip(messages, editor.replies, strict=True)
        outcomes[kind] = "\n".join(line for pair in pairs for line in told(*pair, tmp_path))
        text = text.replace("# ", "# \u00e9\U0001f600 ").replace("a0", "a9", 1)
    check(RECORDED / f"lsp_{name}.txt", outcomes)
