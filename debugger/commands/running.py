"""Commands that run, step and go back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from macaw.debugger.commands import answers
from macaw.debugger.commands.answers import Answer
from macaw.debugger.commands.line import CommandError, Line, parse_number
from macaw.debugger.commands.table import command
from macaw.debugger.locations import LocationError
from macaw.debugger.places import compact
from macaw.debugger.session import Session
from macaw.debugger.state_paths import Members
from macaw.debugger.stops import ENDS, SessionError, StopRecord, Where

if TYPE_CHECKING:
    from macaw.debugger.commands.context import Context

ENDED = "the program had ended before: run starts it again, reverse-continue goes back"
_WHO = "--only: step only the first focused core; --all: step all cores that run"


def _go(session: Session, act: Callable[[], StopRecord]) -> Answer:
    """Run by calling `act`, and return an answer with the stop.

    If the program had ended before, the answer says what the user can do instead.
    """
    before, had_ended = session.device.position, session.device.stopped is not None
    stop = act()
    had_ended = had_ended and stop.reason in ENDS and session.device.position == before
    return replace(answers.stop(stop), lines=(ENDED,) if had_ended else ())


def _steps(
    usage: str,
    group: str,
    meaning: str,
    alias: str,
    act: Callable[[Session, int], StopRecord],
    details: str = "",
) -> None:
    """Add a command for counted steps to the table.

    All arguments except `act` are fields of the command's row. The command calls `act(session, N)`,
    where N is the number of steps.
    """

    def steps(context: Context, line: Line) -> Answer:
        session = context.session
        return _go(session, lambda: act(session, line.count()))

    command(usage, group, meaning, aliases=(alias,), repeats=True, details=details)(steps)


@command("run", "run", "load the program again and run it", aliases=("r",))
def _run(context: Context, line: Line) -> Answer:
    return answers.stop(context.session.run())


@command(
    "continue [N]",
    "run",
    "run to the next stop; with N, to the N-th stop",
    aliases=("c", "fg"),
    repeats=True,
)
def _continue(context: Context, line: Line) -> Answer:
    session = context.session

    def proceed() -> StopRecord:
        for _ in range(line.count()):
            stop = session.cont()
            if stop.reason not in ("breakpoint", "watch", "event"):
                break
        return stop

    return _go(session, proceed)


@command(
    "start",
    "run",
    "load the program again and stop before its first instruction",
    aliases=("starti",),
)
def _start(context: Context, line: Line) -> Answer:
    return answers.stop(context.session.restart_program())


@command(
    "stepi [N] [--only|--all]",
    "run",
    "step instructions of the focused cores",
    aliases=("si",),
    repeats=True,
    details=_WHO,
)
def _stepi(context: Context, line: Line) -> Answer:
    only, every = line.has("--only"), line.has("--all")
    session = context.session
    return _go(session, lambda: session.stepi(line.count(), only=only, every=every))


_steps("stepc [N]", "run", "step cycles of the device", "sc", Session.stepc)
_steps(
    "step [N]", "run", "step to another line of the source; calls are entered", "s", Session.step
)
_steps(
    "next [N]",
    "run",
    "step to another line of the source; calls are not entered",
    "n",
    partial(Session.step, over=True),
)


_steps("nexti [N]", "run", "step instructions of the focused core over calls", "ni", Session.nexti)


@command("finish", "run", "run until the present function returns to its caller", aliases=("fin",))
def _finish(context: Context, line: Line) -> Answer:
    return _go(context.session, context.session.finish)


def _advance(context: Context, line: Line) -> Answer:
    session = context.session
    try:
        return _go(session, lambda: session.advance(line.get("LOC") or ""))
    except LocationError as error:
        raise CommandError(str(error)) from None


@command(
    "until [LOC]",
    "run",
    "run to a location; without LOC: as next, but not back to an earlier line of a loop",
    aliases=("u",),
)
def _until(context: Context, line: Line) -> Answer:
    if line.get("LOC") is not None:
        return _advance(context, line)
    session, here = context.session, context.session.where()

    def proceed() -> StopRecord:
        stop = session.step(over=True)
        while stop.reason == "step" and _is_earlier(stop.where, here):
            stop = session.step(over=True)
        return stop

    return _go(session, proceed)


def _is_earlier(where: Where | None, here: Where) -> bool:
    """Return whether `where` has the file of `here` and an address up to the address of `here`."""
    if where is None or where.address is None or here.address is None:
        return False
    return where.file == here.file and where.address <= here.address


@command("jump LOC", "run", "go on at another instruction of the focused core", aliases=("j",))
def _jump(context: Context, line: Line) -> Answer:
    session = context.session
    try:
        addresses = session.locate(line.get("LOC") or "").addresses
    except LocationError as error:
        raise CommandError(str(error)) from None
    if len(addresses) != 1:
        raise CommandError(f"{line.get('LOC')} is {len(addresses)} places", "jump *ADDRESS")
    if "pc" not in Members(session.device, session.focus[0]).names():
        raise CommandError(
            f"{session.focus[0]} has no pc that jump could set", "focus chooses another core"
        )
    if session.device.stopped is not None:
        raise CommandError(ENDED)
    session.set("$pc", addresses[0])
    return answers.stop(session.cont())


command("advance LOC", "run", "run to a location")(_advance)
_steps(
    "stepx [N]",
    "run",
    "step to the next end of an exe of the array, a chain, a block of an island or a transfer",
    "sx",
    Session.stepx,
)


_steps("reverse-stepi [N]", "back", "go back N instructions", "rsi", Session.stepi_back)
_steps(
    "reverse-step [N]",
    "back",
    "go back N lines of the source; calls are entered",
    "rs",
    Session.back,
)
_steps(
    "reverse-next [N]",
    "back",
    "go back N lines of the source; calls are not entered",
    "rn",
    partial(Session.back, over=True),
)


_steps(
    "reverse-nexti [N]",
    "back",
    "go back N instructions of the focused core, over calls",
    "rni",
    Session.nexti_back,
)


@command("reverse-finish", "back", "go back to the call that led into the present function")
def _finish_back(context: Context, line: Line) -> Answer:
    return answers.stop(context.session.finish_back())


@command(
    "reverse-continue",
    "back",
    "go back to the last stop of a point, or to the start of the run",
    aliases=("rc",),
    repeats=True,
)
def _continue_back(context: Context, line: Line) -> Answer:
    return answers.stop(context.session.cont_back())


_steps("reverse-stepc [N]", "back", "go back N cycles", "rsc", Session.stepc_back)
_steps(
    "reverse-stepx [N]",
    "back",
    "go back to right after the N-th last end of an exe, chain, block of an island or transfer",
    "rsx",
    Session.stepx_back,
    details="An end exactly at the present position does not count.",
)


@command(
    "goto CYCLE [turn N]",
    "back",
    "go to the start of a cycle, earlier or later than the present one",
    details="turn N: stop in that cycle right before core number N acts",
)
def _goto(context: Context, line: Line) -> Answer:
    turn = parse_number(line.get("N") or "0")
    if context.session.device.core_set.find(turn) is None:
        raise CommandError(f"no core has the number {turn}", "info cores lists them")
    return answers.stop(context.session.goto(parse_number(line.get("CYCLE") or ""), turn))


@command(
    "checkpoint [N]",
    "back",
    "make a checkpoint of the present; N is its number, by default the next free one",
    aliases=("ch",),
)
def _checkpoint(context: Context, line: Line) -> Answer:
    session = context.session
    name = session.checkpoint(line.count(0))
    return answers.message(f"checkpoint {name} at cycle {session.device.cycle:,}")


@command("restart N", "back", "go to a checkpoint")
def _restart(context: Context, line: Line) -> Answer:
    session = context.session
    try:
        return answers.stop(session.restart(line.count()))
    except SessionError as error:
        numbers = ", ".join(str(x.number) for x in session.checkpoints if x.number)
        raise CommandError(str(error), f"known: {numbers}" if numbers else "") from None


@command(
    "focus [PLACES]",
    "where",
    "choose a core, a unit of it, or several by *, 0..3 and commas; without PLACES: show the focus",
)
def _focus(context: Context, line: Line) -> Answer:
    session, text = context.session, line.get("PLACES")
    focus = session.focus if text is None else session.set_focus(text)
    return answers.message(f"focus {compact(session.device, focus)}")
