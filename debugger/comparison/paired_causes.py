"""Follows the causes of a value in two runs side by side, back to the first step that differs.

At each step the search compares the instructions, then the settings, then the values that the step
read. If the instructions or settings differ, the search ends at this step. Otherwise the search
follows the first value that differs. If all values that a step read are equal, the step itself made
the difference.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from macaw.debugger.causes.finder import Cause
from macaw.debugger.causes.record import RunRecord

if TYPE_CHECKING:
    from macaw.debugger.causes.why import Causes

MOST = 2000  # the greatest number of steps back
COPIES = 8  # the greatest number of copies in a row whose values the records do not contain


@dataclass
class PairedStep:
    """A cause in one run and the matching cause in the other run.

    If only one run has the cause, the field of the other run is None.
    """

    this: Cause | None
    other: Cause | None


@dataclass
class PairedWalk:
    """The steps back from a value that differs, and the difference at the last of these steps.

    `reason` says why the walk ended there:

    - "instruction" or "setting": the instructions or a setting differ;
    - "source": the step read a value in one run only, or equal values with different names;
    - "step": all values that the step read are equal, and have the same names;
    - "origin": the search cannot continue, for example at an input;
    - "long": there are too many steps.

    `detail` is the setting or source that differs, if any. Without steps the values are equal.
    """

    steps: list[PairedStep] = field(default_factory=list)
    reason: str = ""
    detail: PairedStep | None = None


@dataclass(frozen=True)
class _Runs:
    """The records of both runs."""

    this: RunRecord
    other: RunRecord

    def values(self, pair: PairedStep) -> tuple[object, object]:
        """Return the values of both causes: bytes if both records have them, else `Cause.value`."""
        one, two = pair.this, pair.other
        assert one is not None
        assert two is not None
        data = [
            None if cause.memory is None else record.data(*cause.memory, cause.version + 1)
            for cause, record in ((one, self.this), (two, self.other))
        ]
        return (one.value, two.value) if None in data else (data[0], data[1])


def paired_walk(this: Causes, other: Causes, text: str) -> PairedWalk:
    """Follow the causes of a value that differs in two runs back to the step that differs.

    Return the steps on this way, and the difference at the last one. `text` is an expression for
    the value, which must have a meaning in both programs. `this` and `other` find the causes in
    the two runs. Raises `CauseError`.
    """
    finders = this.finder(), other.finder()
    runs = _Runs(finders[0].record, finders[1].record)
    causes = this.causes_of(text, finders[0]), other.causes_of(text, finders[1])
    walk = PairedWalk()
    pairs = list(_pairs(*causes))
    pair = next((x for x in pairs if _differs(runs, x)), None)
    while pair is not None and len(walk.steps) < MOST:
        walk.steps.append(pair)
        if pair.this is None or pair.other is None:
            walk.reason, walk.detail = "source", pair
            return walk
        pair = _next(runs, walk, pair.this, pair.other)
    if walk.steps and not walk.reason:
        walk.reason = "long"
    return walk


def _next(runs: _Runs, walk: PairedWalk, one: Cause, two: Cause) -> PairedStep | None:
    """Return the first pair that differs, among the pairs of values that two steps have read.

    `one` and `two` are the causes with these steps. If no pair differs, or if the steps themselves
    differ, set the reason of the walk and return None.
    """
    if one.ends or two.ends:
        walk.reason = "origin"
        return None
    if (one.how, one.instruction) != (two.how, two.instruction):
        walk.reason = "instruction"
        return None
    settings = _pairs(*([x for x in y.causes if x.setting] for y in (one, two)))
    for pair in settings:
        if pair.this is None or pair.other is None or pair.this.value != pair.other.value:
            walk.reason, walk.detail = "setting", pair
            return None
    data = list(_pairs(*([x for x in y.causes if not x.setting] for y in (one, two))))
    for pair in data:
        if pair.this is not None and pair.other is not None and _differs(runs, pair):
            return pair
    for pair in data:
        if _differs_before(runs, pair):
            return pair
    for pair in data:
        if pair.this is None or pair.other is None:
            walk.reason, walk.detail = "source", pair
            return None
    moved = [x for x in data if x.this and x.other and x.this.name != x.other.name]
    walk.reason, walk.detail = ("source", moved[0]) if moved else ("step", None)
    return None


def _pairs(one: list[Cause], two: list[Cause]) -> Iterator[PairedStep]:
    """Yield the causes of a step in both runs as pairs: first those with the same role and name.

    `one` and `two` are the causes in the two runs. A product has no name of its own, so the names
    of its two factors count. Then come the causes without a partner of the same name, role by role.
    If both runs have the same number of them in a role, they are paired in order. Otherwise each of
    them is in a pair whose other side is None.
    """
    left, right = list(one), list(two)
    pending: dict[object, deque[Cause]] = {}
    for cause in right:
        pending.setdefault(_name(cause), deque()).append(cause)
    rest, taken = [], set()
    for cause in left:
        others = pending.get(_name(cause))
        if others:
            partner = others.popleft()
            taken.add(id(partner))
            yield PairedStep(cause, partner)
        else:
            rest.append(cause)
    right = [x for x in right if id(x) not in taken]
    for role in dict.fromkeys(x.role for x in (*rest, *right)):
        these, those = ([x for x in y if x.role == role] for y in (rest, right))
        if len(these) == len(those):
            yield from map(PairedStep, these, those)
        else:
            yield from (PairedStep(x, None) for x in these)
            yield from (PairedStep(None, x) for x in those)


def _name(cause: Cause) -> tuple[object, ...]:
    """Return a key that distinguishes a cause from the other causes of the same step.

    The key has the role of the cause, and its name or factors.
    """
    if cause.name or cause.setting or cause.ends:
        return cause.role, cause.name
    factors = [x.name for x in cause.causes if not x.setting]
    return cause.role, *(factors if len(factors) > 1 else ())


def _differs_before(runs: _Runs, pair: PairedStep, depth: int = COPIES) -> bool:
    """Return whether the two steps of a pair, which only copied values, have copied different ones.

    The records do not contain the copied values. So the function compares the values from which
    they were copied, at most `depth` copies back.
    """
    one, two = pair.this, pair.other
    if one is None or two is None or one.ends or two.ends or not depth:
        return False
    if runs.values(pair) != (None, None):
        return False
    data = ([x for x in y.causes if not x.setting] for y in (one, two))
    return any(_differs(runs, x) or _differs_before(runs, x, depth - 1) for x in _pairs(*data))


def _differs(runs: _Runs, pair: PairedStep) -> bool:
    """Return whether the causes of a pair have different values, or one run lacks the cause.

    If neither cause has a value, compare the steps and their instructions.
    """
    if pair.this is None or pair.other is None:
        return True
    one, two = runs.values(pair)
    if one is None and two is None:
        return pair.this.how != pair.other.how or pair.this.instruction != pair.other.instruction
    return bool(one != two) and not (one != one and two != two)
