"""The commands `why-stalled` (which core waits for which) and `why` (what made a value)."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from macaw.debugger.causes import against_text, cause_text, stalls
from macaw.debugger.causes.against import walk_back
from macaw.debugger.causes.record import CauseError
from macaw.debugger.causes.references import Reference, reference
from macaw.debugger.commands.answers import Answer
from macaw.debugger.commands.line import CommandError, Line
from macaw.debugger.commands.operands import evaluate, expression
from macaw.debugger.commands.table import command
from macaw.debugger.commands.two_runs import why_against_other
from macaw.debugger.expressions import ExpressionError
from macaw.debugger.places import places
from macaw.debugger.values import AccessError, array_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from macaw.debugger.commands.context import Context

MOST_LINES = 400


@command(
    "why-stalled [PLACES]",
    "why",
    "say who waits for what, since when and for whom; without PLACES: all cores that run",
    details="The last lines name the causes: a core that has ended or faulted, so that the waits\n"
    "for it never end; a circle of waits; or a busy core, with the cycle of its end if known.",
)
def _why_stalled(context: Context, line: Line) -> Answer:
    session = context.session
    text = line.get("PLACES")
    names = dict.fromkeys(x.core for x in places(session.device, text)) if text else ()
    result = session.why_stalled([session.device.cores[name] for name in names])
    return Answer("text", lines=tuple(stalls.lines(result)), data=result)


@command(
    "why E [against FILE [NAME...]] [within V] [depth N]",
    "why",
    "find the instructions and transfers that made a value, back through registers, queues and DMA",
    details="E: memory, elements of a tensor, registers of a core. Each line is a value and the\n"
    "step that made it. Below it are the values that this step read, and after `with` its\n"
    "settings. depth N: show N steps back (default 6). `why` repeats the end of the run with\n"
    "the reference engine, or all of it if that is needed; the next question here is quick.\n"
    "against FILE: FILE (.npy) is what E, or the tensor of E, should be. Each NAME=FILE says what\n"
    "another place should be: an array, an expression, a window, transferN. A .npz has arrays by\n"
    "name. The answer goes back from a wrong element of E to the first place that disagrees.\n"
    "within V: differences of V or less do not count.\n"
    "against other: of two runs side by side, go back to the first step that differs in both.",
)
def _why(context: Context, line: Line) -> Answer:
    session = context.session
    expression(context, line)
    depth = line.count(cause_text.DEPTH)
    if depth > cause_text.DEEPEST:
        raise CommandError(
            f"no more than {cause_text.DEEPEST} steps back are shown; ask for a value shown there",
            at=line.place("N"),
        )
    try:
        if line.has("against"):
            return _against(context, line)
        if line.has("within"):
            raise CommandError("within needs against FILE", at=line.place("V"))
        causes = session.why(line.get("E") or "")
        lines = tuple(islice(cause_text.lines(causes, depth), MOST_LINES))
        if len(lines) == MOST_LINES:
            lines += ("... less depth shows less",)
        return Answer("text", lines=lines, data=cause_text.tree(causes, depth))
    except CauseError as error:
        raise CommandError(str(error), at=line.place("E")) from None


def _against(context: Context, line: Line) -> Answer:
    """Execute `why E against FILE` and return the answer.

    Raises `CauseError`, `CommandError`.
    """
    session, text = context.session, line.get("E") or ""
    if line.get("FILE") == "other":
        return why_against_other(context, line)
    within = 0.0
    if line.has("within"):
        value = evaluate(context, line, "V")
        if not isinstance(value, int | float) or value < 0:
            raise CommandError("within takes a number, 0 or more", at=line.place("V"))
        within = float(value)
    references = _references(context, line)
    walk = walk_back(session.causes, text, references, within)
    lines = tuple(against_text.lines(walk, text))
    return Answer("text", lines=lines, data=against_text.record(walk), differs=walk.checked is None)


def _references(context: Context, line: Line) -> list[Reference]:
    """Return the references for the files that a line names.

    Raises `CauseError`, `CommandError`.
    """
    session, text = context.session, line.get("E") or ""
    path = line.get("FILE") or ""
    references = []
    if path.endswith(".npz"):
        for name, array in context.files.read_arrays(path).items():
            references.append(reference(session, name, f"{path}:{name}", array))
    else:
        array = context.files.read_array(path)
        references.append(reference(session, _covering(context, text, array), path, array))
    for item in line.all("NAME"):
        name, equals, path = item.partition("=")
        if not equals or not name or not path:
            raise CommandError(f"'{item}' is no NAME=FILE")
        references.append(reference(session, name, path, context.files.read_array(path)))
    return references


def _covering(context: Context, text: str, array: NDArray[Any]) -> str:
    """Return the expression whose right values are in `array`: `text`, or a whole tensor.

    `array` is from a reference file, and `text` is the expression in the command line. If `text`
    is a part of a tensor, such as `y[1]`, and `array` has the shape of all of `y` but not of this
    part, the result is `y`.
    """
    value = context.session.read(text)
    head, bracket, _ = text.partition("[")
    if not bracket:
        return text
    try:
        part, whole = array_of(value), array_of(context.session.read(head))
    except (AccessError, ExpressionError):
        return text
    covers = part.shape != array.shape == whole.shape and whole.dtype.kind in "biuf"
    return head.strip() if covers else text
