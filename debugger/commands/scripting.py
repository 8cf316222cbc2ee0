"""Commands that contain or define commands: `if`, `while`, `define`, `document`, `alias`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from macaw.debugger.commands import answers
from macaw.debugger.commands.answers import Answer
from macaw.debugger.commands.blocks import branches
from macaw.debugger.commands.gdb_spellings import respell
from macaw.debugger.commands.line import CommandError, Line
from macaw.debugger.commands.operands import expression
from macaw.debugger.commands.running import ENDED
from macaw.debugger.commands.table import COMMANDS, command, find, split
from macaw.debugger.commands.text import counted
from macaw.debugger.commands.user_commands import UserCommand

if TYPE_CHECKING:
    from macaw.debugger.commands.context import Context

MOST_ROUNDS = 1_000_000  # the greatest number of rounds of a `while`
_NAME = re.compile(r"[A-Za-z_][\w-]*")
_ALIAS = re.compile(r"(?:-a\s+|--\s+)*(?P<name>\S+)\s*=\s*(?P<text>.+)")


def _holds(context: Context, line: Line) -> bool:
    return expression(context, line).holds()


def _executed(context: Context, lines: Iterable[str], what: str) -> Iterator[Answer]:
    """Execute lines and yield their answers. Raises `CommandError` if a line fails.

    `what` names the lines in messages.
    """
    for number, answer in context.run_lines(lines, what):
        if answer.kind == "error":
            raise CommandError(f"{what}, line {number}: {answer.message}", answer.hint)
        yield answer


def _done(replies: list[Answer]) -> Answer:
    """Return several answers as one answer, which ends the debugger if one of them does."""
    replies = replies[-answers.MOST_ANSWERS :]
    leaves = any(answer.leaves for answer in replies)
    return Answer("done", answers=tuple(replies), leaves=leaves)


@command(
    "if E",
    "rest",
    "execute the lines up to `else` or `end` if E is true, else those after `else`",
    body=True,
)
def _if(context: Context, line: Line) -> Answer:
    yes, no = branches(line.body, context.opens_block)
    lines = yes if _holds(context, line) else no
    return _done(list(_executed(context, lines, "if")))


@command("while E", "rest", "execute the lines up to `end` as long as E is true", body=True)
def _while(context: Context, line: Line) -> Answer:
    replies: list[Answer] = []
    for _ in range(MOST_ROUNDS):
        if not _holds(context, line):
            return _done(replies)
        context.session.interrupts.check()
        for answer in _executed(context, line.body, "while"):
            replies.append(answer)
            if answer.last_run is not None and ENDED in answer.last_run.lines:
                raise CommandError(f"while: {ENDED}")
            if answer.leaves or answer.was_interrupted:
                return _done(replies)
        del replies[: -answers.MOST_ANSWERS]
    raise CommandError(f"the condition was still true after {MOST_ROUNDS:,} rounds")


def _new_name(context: Context, name: str, line: Line) -> str:
    """Return `name` if a user's command may have this name. Raises `CommandError` otherwise."""
    at = line.place("NAME")
    if not _NAME.fullmatch(name):
        raise CommandError(f"'{name}' is no name of a command", "letters, digits, _ and -", at)
    if name.startswith(("hook-", "hookpost-")):  # GDB executes such a command with another one
        raise CommandError(
            "no command is executed before or after another one",
            "commands N executes commands at a point, display shows values after each stop",
            at,
        )
    if any(name in row.names for row in COMMANDS.values()):
        raise CommandError(f"{name} is a command of the debugger", "choose another name", at)
    return name


def _check_new_name(context: Context, line: Line) -> str:
    return _new_name(context, line.get("NAME") or "", line)


@command(
    "define NAME",
    "rest",
    "make a command of your own from the lines up to `end`",
    body=True,
    details="In these lines, $arg0, $arg1 ... mean the words that the command is called with, and\n"
    "$argc their number.",
    check=_check_new_name,
)
def _define(context: Context, line: Line) -> Answer:
    name = _check_new_name(context, line)
    old = context.user_commands.get(name)
    meaning = old.meaning if old is not None else ()
    context.user_commands[name] = UserCommand(name, line.body, meaning)
    return answers.message(f"{name} is {counted(len(line.body), 'line')}")


def _check_own(context: Context, line: Line) -> str:
    name = line.get("NAME") or ""
    if name not in context.user_commands:
        what = f"no command of your own is called '{name}'"
        raise CommandError(what, "define makes one", line.place("NAME"))
    return name


@command(
    "document NAME",
    "rest",
    "give a command of your own a help text: the lines up to `end`",
    body=True,
    check=_check_own,
)
def _document(context: Context, line: Line) -> Answer:
    name = _check_own(context, line)
    context.user_commands[name] = UserCommand(name, context.user_commands[name].lines, line.body)
    return answers.message(f"help {name} shows {counted(len(line.body), 'line')}")


def _check_command(word: str, line: Line) -> None:
    """Raise `CommandError` unless `word` is a command of the debugger."""
    try:
        find(word)
    except CommandError as error:
        raise CommandError(str(error), error.hint, line.whole) from None


@command(
    "alias TEXT",
    "rest",
    "give a command another name",
    details="TEXT has the form NAME = COMMAND; words after NAME are added to COMMAND",
)
def _alias(context: Context, line: Line) -> Answer:
    match = _ALIAS.fullmatch(line.get("TEXT") or "")
    if match is None:
        raise CommandError("that is no alias", "alias NAME = COMMAND")
    name = _new_name(context, match["name"], line)
    word = split(respell(match["text"]))[0]
    if word not in context.user_commands:
        _check_command(word, line)
    context.user_commands[name] = UserCommand(name, (f"{match['text']} $arg*",))
    return answers.message(f"{name} is {match['text']}")
