"""The command `thread`: GDB's threads are the cores that run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from macaw.debugger.commands import answers
from macaw.debugger.commands.answers import Answer
from macaw.debugger.commands.line import CommandError, Line
from macaw.debugger.commands.table import command
from macaw.debugger.commands.text import where_text

if TYPE_CHECKING:
    from macaw.debugger.commands.context import Context
    from macaw.emu.core import Core


@command(
    "thread [apply] [NAME] [TEXT]",
    "where",
    "focus a core by its name or number; without NAME: show the focused core",
    aliases=("t",),
    details="thread apply all|NAME TEXT executes the command TEXT with the focus on each core\n"
    "that runs, or on this core; the focus stays.",
)
def _thread(context: Context, line: Line) -> Answer:
    session, name = context.session, line.get("NAME")
    if line.has("apply"):
        return _apply(context, line)
    if name is not None:
        session.set_focus(_core(context, name).name)
        context.frame = 0
        context.list_position = None
    core = session.core
    return answers.message(f"core {core.number}: {where_text(session.where(core))}")


def _apply(context: Context, line: Line) -> Answer:
    session, name, text = context.session, line.get("NAME"), line.get("TEXT")
    if name is None or not text:
        raise CommandError("a core and a command are needed", "thread apply all backtrace")
    assert context.execute_here is not None
    running = [core for core in session.device.order if core.running]
    cores = running if name == "all" else [_core(context, name)]
    before = ", ".join(map(str, session.focus))
    replies: list[Answer] = []
    try:
        for core in cores:
            session.set_focus(core.name)
            replies.append(answers.message(f"core {core.number}, {core.name}:"))
            replies.append(context.execute_here(text))  # `thread` works on both of two runs
            if replies[-1].was_interrupted:
                break
    finally:
        session.set_focus(before)
    return Answer("done", answers=tuple(replies))


def _core(context: Context, text: str) -> Core:
    """Return the core with the name or number `text`. Raises `CommandError`."""
    device = context.session.device
    for core in device.order:
        if text in (core.name, str(core.number)):
            return core
    known = ", ".join(f"{core.number} {core.name}" for core in device.order)
    raise CommandError(f"no core is called '{text}'", f"there are {known}")
