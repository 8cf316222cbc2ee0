"""Commands for scripts, help, the history of lines, the shell and Python."""

from __future__ import annotations

import os
import signal
import subprocess
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from macaw.debugger.commands import answers
from macaw.debugger.commands.answers import Answer
from macaw.debugger.commands.completion import completions
from macaw.debugger.commands.gdb_spellings import HABITS
from macaw.debugger.commands.line import CommandError, Line
from macaw.debugger.commands.session_format import check_version
from macaw.debugger.commands.table import COMMANDS, GROUPS, Command, candidates, command, find
from macaw.debugger.events import events_of

if TYPE_CHECKING:
    from macaw.debugger.commands.context import Context

SHELL_SECONDS = 600
LOOKS = 0.1  # seconds between checks for a request to stop
OUTPUT = 1 << 16  # the greatest number of characters of a shell command's output in an answer


@command(
    "help [NAME]",
    "rest",
    "explain the command NAME, or list those that start with NAME; without NAME: list all",
    aliases=("h",),
    details="help gdb: what GDB's users type, and the same here",
)
def _help(context: Context, line: Line) -> Answer:
    name = line.get("NAME")
    if name == "gdb":
        return answers.table(("in GDB", "here"), HABITS)
    if name in context.user_commands:
        own = context.user_commands[name]
        return answers.text([*own.meaning] or [f"{name}, a command of your own:", *own.lines], name)
    if name is not None:
        matches = candidates(name)
        if len(matches) > 1:
            some = [(row.usage, row.meaning) for row in matches]
            return answers.table(("command", "what it does"), some)
        try:
            return answers.text([*about(find(name)), *_events(context, find(name))], name)
        except CommandError as error:
            raise CommandError(str(error), error.hint, line.place("NAME")) from None
    lines = []
    width = max(map(len, COMMANDS))
    for group, meaning in GROUPS.items():
        rows = [row for row in COMMANDS.values() if row.group == group]
        lines += [f"{meaning}:", *(f"  {row.name:{width}}  {row.meaning}" for row in rows)]
    return answers.text([*lines, "help NAME shows the operands of a command"])


def _events(context: Context, row: Command) -> list[str]:
    """Return lines with the device's events, for the help of a command with an operand `EVENT`."""
    if "EVENT" not in row.usage:
        return []
    events = events_of(context.session.device)
    width = max(map(len, events))
    return ["  EVENT is one of", *(f"    {x.name:{width}}  {x.meaning}" for x in events.values())]


def about(row: Command) -> list[str]:
    """Return the lines of the help for one command."""
    head = (
        row.usage.replace(row.name, row.name + f"[/{row.suffix}]", 1) if row.suffix else row.usage
    )
    lines = [head, f"  {row.meaning}"]
    if row.aliases:
        lines.append(f"  also called {', '.join(row.aliases)}")
    if row.repeats:
        lines.append("  an empty line repeats it")
    return [*lines, *(f"  {line}" for line in row.details.splitlines())]


@command("history [N]", "rest", "list the last N command lines; without N: 20")
def _history(context: Context, line: Line) -> Answer:
    count, lines = line.count(20), context.history
    first = max(0, len(lines) - count)
    return answers.table(("", "line"), [(first + at + 1, x) for at, x in enumerate(lines[first:])])


@command("source FILE", "rest", "execute the command lines of a file until one fails")
def _source(context: Context, line: Line) -> Answer:
    path = line.get("FILE") or ""
    try:
        lines = context.files.read_text(path).splitlines()
    except CommandError as error:
        return answers.error(str(error), hint=error.hint)  # the user did not type a line of -x
    check_version(lines, path)
    replies: list[Answer] = []
    for number, answer in context.run_lines(lines, path):
        if answer.kind == "error":
            return _failure((*replies, *answer.answers), f"{path}:{number}", answer)
        replies.append(answer)
        if answer.was_interrupted:
            stop = answers.error("interrupted, the rest is not done")
            return _failure(tuple(replies), f"{path}:{number}", stop)
    leaves = any(answer.leaves for answer in replies)
    return Answer("done", answers=tuple(replies), leaves=leaves)


def _failure(before: tuple[Answer, ...], place: str, answer: Answer) -> Answer:
    """Return the error of a script of which a line has failed.

    `place` is the position of the failed line, `answer` its error. The result also has `before`,
    the answers to the script's earlier lines. It marks no part of the line that runs the script,
    because the fault is in the script.
    """
    failure = answers.error(f"{place}: {answer.message}", hint=answer.hint)
    return replace(failure, answers=before)


@command("shell TEXT", "rest", "run a shell command (with --allow-shell)")
def _shell(context: Context, line: Line) -> Answer:
    _check_allowed(context, "shell")
    status, text = _run(context, line.get("TEXT") or "")
    lines = text[:OUTPUT].splitlines()
    if status:
        lines.append(f"exit status {status}")
    return answers.text(lines)


def _run(context: Context, text: str) -> tuple[int, str]:
    """Run a shell command; return its exit status and the text of stdout followed by stderr.

    Raises `CommandError`, `SessionError`.
    """
    end = monotonic() + SHELL_SECONDS
    # `--allow-shell` is set. The processes form a group, so that all of them can be killed.
    with subprocess.Popen(text, shell=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, errors="replace",
                          start_new_session=True) as process:  # fmt: skip
        while True:
            try:
                streams = process.communicate(timeout=LOOKS)
            except subprocess.TimeoutExpired:
                try:
                    context.session.interrupts.check()
                    if monotonic() > end:
                        raise CommandError(f"it took longer than {SHELL_SECONDS} seconds") from None
                except ValueError:
                    _kill(process)
                    raise
            else:
                return process.returncode, "".join(streams)


def _kill(process: subprocess.Popen[str]) -> None:
    """End a process. If the system has process groups, also end the processes that it started."""
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


@command("pwd", "rest", "show the folder in which names of files begin")
def _pwd(context: Context, line: Line) -> Answer:
    return answers.text([str(Path.cwd())])


@command("cd [FILE]", "rest", "change the folder in which names of files begin; default: your own")
def _cd(context: Context, line: Line) -> Answer:
    name = line.get("FILE") or "~"
    try:
        os.chdir(Path(name).expanduser())
    except (OSError, RuntimeError, ValueError) as error:
        # RuntimeError: there is no user for ~NAME; ValueError: a null character in the name.
        why = error.strerror if isinstance(error, OSError) else error
        raise CommandError(f"{name}: {why}", at=line.whole) from None
    return answers.text([str(Path.cwd())])


@command("complete TEXT", "rest", "list the words that the end of a line may become")
def _complete(context: Context, line: Line) -> Answer:
    text = line.get("TEXT") or ""
    text += line.end if text else ""
    head = text[: len(text) - len(text.split()[-1])] if text and not text[-1].isspace() else text
    words = completions(context.session, text, context.user_commands)
    return answers.text(head + word for word in words)


@command(
    "python [TEXT]",
    "rest",
    "run a line of Python, or the lines up to `end` (with --allow-shell)",
    aliases=("py",),
    details="the name `session` is this session",
    body=True,
)
def _python(context: Context, line: Line) -> Answer:
    _check_allowed(context, "python")
    from contextlib import redirect_stdout
    from io import StringIO

    out = StringIO()
    try:
        with redirect_stdout(out), context.session.interrupts.user_code():
            text = line.get("TEXT")
            code = (
                compile("\n".join(line.body) + "\n", "<python>", "exec")
                if text is None
                else compile(f"{text}\n", "<python>", "single")
            )
            exec(code, context.python_names)
    except KeyboardInterrupt:
        context.session.interrupts.take()
        raise CommandError("interrupted") from None
    except Exception as error:
        raise CommandError(f"{type(error).__name__}: {error}") from None
    return answers.text(out.getvalue()[:OUTPUT].splitlines())


def _check_allowed(context: Context, what: str) -> None:
    if not context.allow_shell:
        raise CommandError(f"{what} is not allowed here", "macaw debug --allow-shell allows it")


@command("quit", "rest", "end the debugger", aliases=("q", "exit"))
def _quit(context: Context, line: Line) -> Answer:
    return Answer("done", leaves=True)
