"""Compares the causes of a wrong value with references, to find where it first became wrong.

The search follows the causes of the value back to earlier values. Where a reference has the right
value, the search compares it with the value of the cause. From a wrong value, the search continues
to the nearest earlier values that it can compare. If one of these is wrong too, the search
continues from there. If all of them are right, the mistake is in the steps between them and the
wrong value: the result has the instructions and settings of these steps.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from macaw.debugger.causes.finder import Cause, CauseFinder
from macaw.debugger.causes.record import CauseError
from macaw.debugger.causes.references import Comparison, Reference, Verdict

if TYPE_CHECKING:
    from macaw.debugger.causes.why import Causes

MOST = 50_000  # the greatest number of causes that the search of one stage visits
MOST_OF_STATE = 8  # unwritten pieces of state whose neighbours are searched


@dataclass
class Step:
    """An instruction or transfer that helped to make the value of a stage, and its settings.

    A stage (`Stage`) is a wrong value that the search has found. A setting is a value that says how
    the step computes, such as a shift. The search has visited `count` values that this step made.
    """

    cause: Cause
    settings: dict[Any, Cause] = field(default_factory=dict)
    count: int = 1


@dataclass
class Agreement:
    """Values that the search has compared and that are equal to the values of one reference.

    They have `count` elements in all; `elements` has the names of the first few. `last` is the
    cause of that one of the values which the run made last.
    """

    reference: Reference
    elements: list[str] = field(default_factory=list)
    count: int = 0
    last: Cause | None = None


@dataclass
class Stage:
    """A value that differs from its reference, and the steps that made it.

    The steps go back from this value to the wrong value of the next stage, which is earlier in the
    run. In the last stage they go back to right values (`agreements`) and to values that no
    reference contains (`unknown`), such as inputs. `unwritten` has values that no step wrote, each
    with the causes of the values next to it.
    """

    cause: Cause
    verdict: Verdict
    steps: list[Step] = field(default_factory=list)  # steps from the value back
    agreements: list[Agreement] = field(default_factory=list)
    unknown: list[Cause] = field(default_factory=list)
    unwritten: list[tuple[Cause, list[Cause]]] = field(default_factory=list)


@dataclass
class Walk:
    """The result of a search: the stages from a wrong value back to the first wrong value.

    If the value is right, there are no stages, and `checked` is the verdict on it. `is_complete` is
    False if the search has ended at the limit of `MOST` causes.
    """

    stages: list[Stage]
    checked: Verdict | None = None
    is_complete: bool = True

    @property
    def first(self) -> Stage:
        """The last of `stages`, which has the earliest wrong value: the mistake is in its steps."""
        return self.stages[-1]

    @property
    def readers(self) -> list[Step]:
        """The steps that read the earliest wrong value, if no step has written it; else none.

        These steps may have read from a wrong address.
        """
        is_unwritten = len(self.stages) > 1 and self.first.cause.how == "begin"
        return self.stages[-2].steps if is_unwritten else []


def walk_back(search: Causes, text: str, references: Sequence[Reference], within: float) -> Walk:
    """Search back from the value of the expression `text` to the earliest wrong value.

    Return the wrong values on the way, each with the steps that made it (a `Stage`). `search`
    finds causes in the session. `references` are the arrays with right values; one of them must
    contain the value of the expression. Two numbers that differ by at most `within` count as equal.
    Raises `CauseError`, `ExpressionError`.
    """
    finder = search.finder()
    comparison = Comparison(finder.record, references, within)
    walk = Walk([])
    starts = search.causes_of(text, finder)
    verdicts = [(cause, comparison.verdict(cause)) for cause in starts]
    checked = [verdict for _, verdict in verdicts if verdict is not None]
    if not checked:
        raise CauseError(f"no array says what {text} should be")
    wrong = next(((x, y) for x, y in verdicts if y is not None and not y.equal), None)
    if wrong is None:
        walk.checked = checked[0]
        return walk
    cause, verdict = wrong
    while True:
        stage = Stage(cause, verdict)
        walk.stages.append(stage)
        following = _between(_narrowed(finder, stage), stage, comparison.verdict, walk)
        if following is None:
            stage.unwritten = list(_unwritten(finder, (stage.cause, *stage.unknown)))
            return walk
        cause, verdict = following


def _unwritten(finder: CauseFinder, ends: Sequence[Cause]) -> Iterator[tuple[Cause, list[Cause]]]:
    """Yield (end, causes of the values next to the end) for each value that no step wrote.

    `ends` are causes at which the search has ended. An end in a core's state is yielded only if a
    step wrote a value next to it. At most `MOST_OF_STATE` of these ends are examined.
    """
    left = MOST_OF_STATE
    for end in ends:
        if end.how != "begin":
            continue
        if end.memory is not None:
            yield end, list(finder.neighbours(*end.memory))
        elif end.place is not None and left:
            left -= 1
            near = list(finder.state_neighbours(*end.place, end.before))
            if near:
                yield end, near


def _narrowed(finder: CauseFinder, stage: Stage) -> Cause:
    """Narrow a stage, which is a wrong value, to the first wrong element of this value.

    Set the stage's cause to the cause of that element, and return it. If the value has one element
    or is not in memory, return the stage's cause unchanged.
    """
    cause, verdict = stage.cause, stage.verdict
    item = verdict.reference
    if cause.memory is None or item.memory is None or verdict.count == 1:
        return cause
    wide = item.dtype.itemsize
    address = item.memory[0] + verdict.first * wide
    before, value = cause.version + 1, verdict.found
    for one in finder.memory(cause.role, address, wide, before, value):
        stage.cause = one
        return one
    return cause


def _between(
    start: Cause, stage: Stage, judge: Callable[[Cause], Verdict | None], walk: Walk
) -> tuple[Cause, Verdict] | None:
    """Search back from the value of `stage` to the nearest values that can be compared.

    The search begins at `start`. It adds to `stage` the steps and values that it finds on the way.
    `judge` compares a cause with the references and returns None if it cannot. Return the nearest
    cause with a wrong value, and its verdict; None if no value is wrong. After `MOST` causes the
    search ends, and `walk` is marked as not complete.
    """
    steps: dict[Any, Step] = {}
    agreements: dict[str, Agreement] = {}
    seen: set[Any] = set()
    wrong = None
    waiting = deque([start])
    visited = 0
    while waiting and visited < MOST:
        cause = waiting.popleft()
        visited += 1
        _add_step(steps, cause)
        for item in cause.causes:
            if item.setting and item.how != "instruction":
                _add_setting(steps, cause, item)
            for one in _unseen(item.causes if item.setting else (item,), seen):
                verdict = None if item.setting else judge(one)
                if verdict is None and not one.ends:
                    waiting.append(one)
                elif verdict is None:
                    stage.unknown.append(one)
                elif verdict.equal:
                    _add_agreement(agreements, verdict, one)
                elif wrong is None:
                    wrong = one, verdict
    if waiting:
        walk.is_complete = False
    stage.steps = list(steps.values())
    stage.agreements = list(agreements.values())
    return wrong


def _unseen(causes: Iterable[Cause], seen: set[Any]) -> Iterator[Cause]:
    """Yield the causes that the search has not seen before, and add them to `seen`.

    A cause that is neither in memory nor in a core's state is always yielded.
    """
    for one in causes:
        key = one.core, one.how, one.cycle, one.name, one.memory, one.version, one.where
        if key not in seen or not (one.memory or one.place):
            seen.add(key)
            yield one


def _key(cause: Cause) -> Any:
    where = cause.where
    return cause.core, cause.how, cause.instruction, where and (where.address, where.file)


def _add_step(steps: dict[Any, Step], cause: Cause) -> None:
    """Add the step of `cause` to `steps`. Causes with the same instruction share one step."""
    step = steps.get(_key(cause))
    if step is None:
        steps[_key(cause)] = Step(cause)
    else:
        step.count += 1


def _add_setting(steps: dict[Any, Step], cause: Cause, item: Cause) -> None:
    """Add `item`, a setting of the step of `cause`, to this step in `steps`.

    Of several settings with the same kind and name, made by the same instruction, only the first is
    added.
    """
    steps[_key(cause)].settings.setdefault((item.role, item.name, _key(item)), item)


def _add_agreement(agreements: dict[str, Agreement], verdict: Verdict, cause: Cause) -> None:
    item = agreements.setdefault(verdict.reference.name, Agreement(verdict.reference))
    item.count += verdict.count
    if len(item.elements) < 3 and verdict.name not in item.elements:
        item.elements.append(verdict.name)
    if item.last is None or (cause.cycle or -1) > (item.last.cycle or -1):
        item.last = cause
