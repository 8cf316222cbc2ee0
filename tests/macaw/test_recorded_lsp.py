"""Answers of the language server to generated requests about small programs are those of files.

Requests and changes have random positions, in each unit of positions. `MACAW_GOLDENS=write` writes
the files; read them before you keep them.
"""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from random import Random
from typing import Any

import pytest
from lsprotocol import types

from macaw.language_server.server import LanguageServer
from tests.fuzz.lsp_messages import ASKED, Messages
from tests.recorded import check, shortened, summary
from tests.small_programs import PROGRAMS

pytestmark = pytest.mark.once
RECORDED = Path(__file__).parent / "recorded"
MOST = 240  # characters of an answer in one line


def session(rng: Random, text: str) -> list[dict[str, Any]]:
    """The messages of an editor that opens a text, asks, and changes it."""
    unit = rng.choice(("utf-8", "utf-16", "utf-32"))
    first = {
        "processId": None,
        "rootUri": None,
        "capabilities": {"general": {"positionEncodings": [unit]}},
    }
    uri = {"uri": "untitled:Untitled-1"}
    messages: list[dict[str, Any]] = [
        {"id": "first", "method": types.INITIALIZE, "params": first},
        {
            "method": types.TEXT_DOCUMENT_DID_OPEN,
            "params": {"textDocument": {**uri, "languageId": "macaw", "version": 0, "text": text}},
        },
    ]
    lines = text.splitlines()

    def position() -> dict[str, int]:
        line = rng.randrange(len(lines))
        words = [found.start() for found in re.finditer(r"[\w.%]+", lines[line])]
        character = (
            rng.choice(words or [0]) + rng.choice((0, 0, 1))
            if rng.random() < 0.8
            else len(lines[line]) + 3
        )
        return {"line": line if rng.random() < 0.97 else len(lines) + 1, "character": character}

    for number in range(rng.randint(14, 22)):
        if rng.random() < 0.12:
            at = position()
            end = {"line": at["line"], "character": at["character"] + rng.choice((0, 1, 3))}
            word = rng.choice(
                ("", "x", " add a0, a1, a2\n", "\u00e9\U0001f600", "nop # \u00e9\n", "1")
            )
            change = {
                "textDocument": {**uri, "version": number + 1},
                "contentChanges": [{"range": {"start": at, "end": end}, "text": word}],
            }
            messages.append({"method": types.TEXT_DOCUMENT_DID_CHANGE, "params": change})
            continue
        one, other = sorted((position(), position()), key=lambda x: (x["line"], x["character"]))
        params = {
            "textDocument": uri, "position": position(), "range": {"start": one, "end": other},
            "context": {"includeDeclaration": rng.random() < 0.5, "diagnostics": []}, "options": {"tabSize": 8, "insertSpaces": True},
            "newName": rng.choice(("fresh", "a0", "1x", "loop")), "query": rng.choice(("", "lo", "x")),
        }  # fmt: skip
        messages.append({"id": number, "method": rng.choice(ASKED), "params": params})
    return [{"jsonrpc": "2.0", **message} for message in messages]


@pytest.mark.parametrize("name", PROGRAMS)
def test_answers(name: str) -> None:
    small, outcomes = PROGRAMS[name], {}
    text = str(small.files[small.source])
    for number in range(2):
        rng = Random(f"lsp {name} {number}")
        if number:
            text = text.replace("# ", "# \u00e9\U0001f600 ").replace("a0", "a9", 1)
        messages = session(rng, text)
        written = io.BytesIO()
        LanguageServer(written.write).serve(Messages("\n".join(map(json.dumps, messages))))
        bodies = re.split(rb"Content-Length: [0-9]+\r\n\r\n", written.getvalue())[1:]
        answers = {body["id"]: body for body in map(json.loads, bodies) if "id" in body}
        found = []
        for message in messages:
            if "id" not in message:
                change = message["params"].get("contentChanges", "opened")
                found.append(f"> {json.dumps(change)}")
                continue
            params = message["params"]
            asked = {
                key: params[key]
                for key in ("position", "range", "newName", "query")
                if key in params
            }
            answer = answers[message["id"]]
            assert answer.get("error", {}).get("code") != -32603
            reply = json.dumps(answer.get("result", answer.get("error")), ensure_ascii=False)
            found.append(f"> {message['method']} {json.dumps(asked)}")
            found.append(reply if len(reply) <= MOST else f"{reply[:120]}... {summary(reply)}")
        outcomes[str(number)] = shortened("\n".join(found), 100)
    check(RECORDED / f"lsp_{name}.txt", outcomes)
