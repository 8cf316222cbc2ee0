"""Completes the last word of a command line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from macaw.debugger.commands.line import CommandError
from macaw.debugger.commands.table import COMMANDS, Command, find, split
from macaw.debugger.commands.usage import next_operands
from macaw.debugger.events import events_of
from macaw.debugger.layout import NAMES, PANELS
from macaw.debugger.places import PlaceError, places
from macaw.debugger.state_paths import Members

if TYPE_CHECKING:
    from macaw.debugger.session import Session

_OWN = ("help", "define", "document")  # commands that take the name of a user's command
MOST_FILES = 1000  # the greatest number of files of a folder that are offered


def completions(session: Session, text: str, own: Iterable[str] = ()) -> list[str]:
    """Return the words to which the last word of a line can be completed, sorted.

    `own` has the names of the commands that the user has defined.
    """
    word, _, offset = split(text)
    if offset >= len(text) and (not text or not text[-1].isspace()):
        names = [*own, *(name for row in COMMANDS.values() for name in row.names)]
        return sorted(name for name in names if name.startswith(word) and name[0].isalpha())
    try:
        row = find(word)
    except CommandError:
        return []
    arguments = text[offset:]
    prefix = "" if not arguments or arguments[-1].isspace() else arguments.split()[-1]
    words: list[str] = []
    for operand in next_operands(row.usage, arguments):
        words += _words(session, operand, prefix, row)
        if operand == "NAME" and row.name in _OWN:
            words += own
    return sorted({word for word in words if word.startswith(prefix)})


def _words(session: Session, operand: str, prefix: str, row: Command) -> Sequence[str]:
    """Return the words that `operand`, a word of a command's usage, allows.

    `row` is the command. Some of the words may not start with `prefix`.
    """
    if operand == "FILE":
        return _files(prefix)
    if operand == "EVENT":
        return list(events_of(session.device))
    if operand == "PLACES":
        return list(session.device.cores)
    if operand == "LOC":
        names = [symbol.name for symbol in session.program.symbols]
        return [*names, *_layer_names(session, prefix)]
    if operand in ("E", "V"):
        return [*_names(session), *_tensor_names(session, prefix), *_members(session, prefix)]
    if operand == "NAME" and row.name == "help":
        return list(COMMANDS)
    if operand == "NAME":
        return {"layout": NAMES, "panel": list(PANELS), "zoom": list(PANELS)}.get(row.name, [])
    return [operand] if not operand.isupper() else []


def _layer_names(session: Session, prefix: str) -> list[str]:
    """Return the names of the network's layers, in quotes if `prefix` begins with a quote."""
    network = session.program.network
    return _quoted([layer.name for layer in network.layers] if network else [], prefix)


def _tensor_names(session: Session, prefix: str) -> list[str]:
    """Return the names of a network's tensors and layers, in quotes if `prefix` begins with one."""
    network = session.program.network
    names = [*network.tensors] if network else []
    return [*_quoted(names, prefix), *_layer_names(session, prefix)]


def _quoted(names: Sequence[str], prefix: str) -> list[str]:
    mark = prefix[:1] if prefix[:1] in ("'", '"') else ""
    return [f"{mark}{name}{mark}" for name in names if not any(map(str.isspace, name))]


def _members(session: Session, prefix: str) -> list[str]:
    """Return the names of registers, queues and the like that may complete `prefix`.

    They are names of the place with which `prefix` begins or, if it begins with none, of the focus.
    """
    place, dot, _ = prefix.rpartition(".")
    try:
        where = places(session.device, place) if dot else session.focus
    except PlaceError:
        return []
    return [f"{place}{dot}{name}" for name in Members(session.device, where[0]).names()]


def _names(session: Session) -> list[str]:
    """Return the names with which an expression may start."""
    program = session.program
    names = [symbol.name for symbol in program.symbols]
    names += [tensor.name for tensor in program.tensors]
    return [*names, *session.device.cores]


def _files(prefix: str) -> list[str]:
    """Return the paths of files and folders that start with `prefix`, at most `MOST_FILES` of them.

    The path of a folder ends with `/`.
    """
    head, name = prefix[: prefix.rfind("/") + 1], prefix[prefix.rfind("/") + 1 :]
    try:
        entries = sorted(one for one in Path(head or ".").iterdir() if one.name.startswith(name))
    except (OSError, ValueError):  # ValueError: no path can have such a character
        return []
    return [f"{head}{one.name}{'/' if one.is_dir() else ''}" for one in entries[:MOST_FILES]]
