"""Fuzzes the language server: each request has one answer, none of them an internal error."""

from __future__ import annotations

import contextlib
import io
import json
import re
import time
from collections import Counter
from random import Random
from typing import Any

from lsprotocol import types

from macaw.language_server.server import LanguageServer
from tests.fuzz import mutate, source_text
from tests.fuzz.target import Example, Target, require, sentence

RAW = "\x01"  # begins a line that is sent as it is, not as the body of a message
LONGEST_TEXT = 3000  # characters of a file that is opened
PAUSE = 0.02  # seconds before the end, in which diagnostics can be made
INTERNAL = -32603

URIS = ("file:///work/a.s", "file:///work/b.s", "untitled:Untitled-1", "file:///work/%ff%20c.s")
ODD_URIS = (
    "",
    "file:///dev/zero",
    "file:///%00.s",
    "file://[::1/x",
    "http://a/b.s",
    "file:rel.s",
    "\ud800",
)
JUNK: tuple[object, ...] = (
    None,
    True,
    -1,
    0,
    1,
    2**31 - 1,
    2**31,
    10**30,
    1.5,
    1e400,
    "",
    "x",
    "9" * 99,
    [],
    {},
    [[]],
    {"line": -1},
)
ASKED = (
    types.TEXT_DOCUMENT_HOVER,
    types.TEXT_DOCUMENT_COMPLETION,
    types.TEXT_DOCUMENT_SIGNATURE_HELP,
    types.TEXT_DOCUMENT_DEFINITION,
    types.TEXT_DOCUMENT_REFERENCES,
    types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT,
    types.TEXT_DOCUMENT_PREPARE_RENAME,
    types.TEXT_DOCUMENT_RENAME,
    types.TEXT_DOCUMENT_DOCUMENT_SYMBOL,
    types.TEXT_DOCUMENT_FORMATTING,
    types.TEXT_DOCUMENT_FOLDING_RANGE,
    types.TEXT_DOCUMENT_DOCUMENT_LINK,
    types.TEXT_DOCUMENT_CODE_ACTION,
    types.TEXT_DOCUMENT_INLAY_HINT,
    types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL,
    types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE,
    types.WORKSPACE_SYMBOL,
)


def _position(rng: Random) -> dict[str, int]:
    line, character = rng.choice((3, 12, 60)), rng.choice((1, 12, 80))
    found = {"line": rng.randrange(line), "character": rng.randrange(character)}
    if rng.random() < 0.1:
        found[rng.choice(("line", "character"))] = rng.choice((2**31 - 1, 10**6))
    return found


def _text(rng: Random) -> str:
    text = source_text.TARGET.make(rng).data[:LONGEST_TEXT]
    return text.replace("\n", rng.choice(("\r\n", "\r", "\x0c\n"))) if rng.random() < 0.1 else text


def _change(rng: Random) -> dict[str, Any]:
    if rng.random() < 0.15:
        return {"text": _text(rng)}
    start, end = _position(rng), _position(rng)
    if rng.random() < 0.7:  # most edits are of a few characters
        end = {"line": start["line"], "character": start["character"] + rng.randrange(4)}
    word = rng.choice(source_text.words()) if rng.random() < 0.6 else mutate.character(rng)
    text = rng.choice(("", word, f" {word}\n", rng.choice(source_text.statements()) + "\n"))
    return {"range": {"start": start, "end": end}, "text": text}


def _message(rng: Random, number: int) -> dict[str, Any]:
    """A message as a client might send it."""
    uri = rng.choice(URIS if rng.random() < 0.95 else ODD_URIS)
    file = {"uri": uri}
    kind = rng.randrange(20)
    if kind < 4:
        item = {**file, "languageId": "macaw", "version": number, "text": _text(rng)}
        return {"method": types.TEXT_DOCUMENT_DID_OPEN, "params": {"textDocument": item}}
    if kind < 9:
        changes = [_change(rng) for _ in range(rng.randrange(4))]
        params = {"textDocument": {**file, "version": number}, "contentChanges": changes}
        return {"method": types.TEXT_DOCUMENT_DID_CHANGE, "params": params}
    if kind == 9:
        method = rng.choice((types.TEXT_DOCUMENT_DID_CLOSE, types.TEXT_DOCUMENT_DID_SAVE))
        return {"method": method, "params": {"textDocument": file}}
    if kind == 10:
        return {"method": types.CANCEL_REQUEST, "params": {"id": max(0, number - rng.randrange(4))}}
    if kind == 11:
        method = rng.choice(
            ("nothing/known", "$/odd", types.SHUTDOWN, types.INITIALIZE, "workspace/executeCommand")
        )
        return {"id": number, "method": method, "params": rng.choice((None, {}, [], file))}
    params = {"textDocument": file, "position": _position(rng)}
    more = {
        "options": {"tabSize": 8, "insertSpaces": True},
        "context": {"includeDeclaration": rng.random() < 0.5, "diagnostics": []},
        "range": {"start": _position(rng), "end": _position(rng)},
        "newName": rng.choice(("x", "a0", "1", "", "a b", ".L\u00e9")),
        "query": rng.choice(("", "x", "[", "\ud800")),
    }
    return {"id": number, "method": rng.choice(ASKED), "params": {**params, **more}}


def _initialize(rng: Random) -> dict[str, Any]:
    units = rng.choice((["utf-16"], ["utf-32", "utf-16"], ["utf-8"], []))
    options = rng.choice(
        (
            None,
            {},
            {"includeDirs": ["/tmp", "lib"], "defines": {"n": 4, "k": "0x10"}},
            {"includeDirs": "lib", "defines": [1]},
            {"includeDirs": [1, "\0"], "defines": {"a b": [], "1": "x"}},
            7,
        )
    )
    capabilities = {"general": {"positionEncodings": units}}
    params = {
        "processId": None,
        "rootUri": None,
        "capabilities": capabilities,
        "initializationOptions": options,
    }
    return {"id": "first", "method": types.INITIALIZE, "params": params}


def _damaged(rng: Random, value: Any) -> Any:
    """A copy of a value in which one value somewhere inside is replaced or removed."""
    if isinstance(value, dict) and value and rng.random() < 0.8:
        key = rng.choice(list(value))
        if rng.random() < 0.2:
            return {name: item for name, item in value.items() if name != key}
        return {**value, key: _damaged(rng, value[key])}
    if isinstance(value, list) and value and rng.random() < 0.8:
        place = rng.randrange(len(value))
        return [*value[:place], _damaged(rng, value[place]), *value[place + 1 :]]
    return rng.choice(JUNK)


def _line(rng: Random, message: dict[str, Any]) -> str:
    """A message as text, rarely damaged."""
    message = {"jsonrpc": "2.0", **message}
    if rng.random() < (0.02 if message.get("id") == "first" else 0.12):
        message = _damaged(rng, message)
    text = json.dumps(message)
    if rng.random() < 0.03:
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(("", "}", "\x00", "[" * 2000, text[: at // 2]))
    if rng.random() < 0.02:
        header = rng.choice(("Content-Length: x", "X: y", "Content-Length: -5", ""))
        return f"{RAW}{header}"
    return text


def make(rng: Random) -> Example[str]:
    """A session, with a line for each message."""
    messages = [_initialize(rng)] if rng.random() < 0.97 else []
    messages += [_message(rng, number) for number in range(rng.randint(3, 30))]
    if rng.random() < 0.2:
        messages += [{"id": "last", "method": types.SHUTDOWN}, {"method": types.EXIT}]
    text = "\n".join(_line(rng, message) for message in messages)
    return Example(text, "")


class Messages:
    """A stream that returns one message for each read, and at its end waits and returns nothing."""

    def __init__(self, text: str) -> None:
        self._bodies = iter(text.split("\n"))

    def read(self, size: int, /) -> bytes:
        """Return the next message, of any length."""
        line = next(self._bodies, None)
        if line is None:
            time.sleep(PAUSE)
            return b""
        if line.startswith(RAW):
            return f"{line[1:]}\r\n\r\n".encode("utf-8", "surrogatepass")
        body = line.encode("utf-8", "surrogatepass")
        return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def requests(text: str) -> Counter[int | str]:
    """The ids of the requests in a session, up to the message that ends it."""
    found: Counter[int | str] = Counter()
    for line in text.split("\n"):
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            continue
        if "id" not in message and message.get("method") == types.EXIT:
            break
        number = message.get("id")
        if not isinstance(number, int | str) or isinstance(number, bool):
            continue
        if message.get("method") is not None:
            found[number] += 1
    return found


def check(example: Example[str]) -> str:
    """Run a session; each request must be answered once.

    Returns whether one of the answers was an error.
    """
    written, said = io.BytesIO(), io.StringIO()
    with contextlib.redirect_stderr(said):
        LanguageServer(written.write).serve(Messages(example.data))
    require(not said.getvalue(), "the server says something by itself", said.getvalue()[:400])
    answered: Counter[int | str] = Counter()
    outcome = "accepted"
    for body in re.split(rb"Content-Length: [0-9]+\r\n\r\n", written.getvalue())[1:]:
        message = json.loads(body)
        if "method" in message:
            _check_notification(message)
            continue
        require(("result" in message) != ("error" in message), "an answer is none", str(message))
        if "error" in message:
            outcome = "refused"
            require(message["error"]["code"] != INTERNAL, "an internal error", str(message))
            sentence(message["error"]["message"])
        if message["id"] is not None:
            answered[message["id"]] += 1
    wanted = requests(example.data)
    has_left = any('"exit"' in line for line in example.data.split("\n"))
    if has_left:  # what was asked last may not be answered any more
        require(answered <= wanted, "an answer too much", f"{answered - wanted}")
    else:
        require(answered == wanted, "an answer too much or too few", f"{answered}, {wanted}")
    return outcome


def _check_notification(message: dict[str, Any]) -> None:
    method = message["method"]
    require(method == types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, "an odd notification", method)
    for item in message["params"]["diagnostics"]:
        for line in item["message"].split("\n"):
            require(line.isprintable(), "a message cannot be printed", repr(line))
        start, end = item["range"]["start"], item["range"]["end"]
        before = (start["line"], start["character"]) <= (end["line"], end["character"])
        require(before, "a range ends before its start", str(item["range"]))


TARGET = Target("lsp", make, check)
