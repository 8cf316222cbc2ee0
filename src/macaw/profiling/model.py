"""The data of a profile as frozen dataclasses, which reports draw and JSON files store.

Times are device cycles from the start of the program. Intervals are half open: `end` is the first
cycle after the interval. `from_json` is the inverse of `to_json`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from macaw.errors import InputError
from macaw.isa.format_versions import version_problem
from macaw.phrases import one_line, plural
from macaw.profiling.account import Account
from macaw.profiling.annotation import AnnotatedLine, Annotation
from macaw.profiling.earlier import EarlierRun, LineDifference
from macaw.profiling.energy import Energy
from macaw.profiling.work import Work

FORMAT = 10  # version of the JSON format
KIND = "macaw profile"

Interval = tuple[int, int]


@dataclass(frozen=True)
class Slice:
    """Consecutive instructions of a core, with counters, as its trace block recorded them together.

    `row` is the row of the timeline, `name` and `place` belong to the first instruction. `first` is
    the number of this instruction in the order of execution. `waited` are the cycles of the slice
    in which the core waited for other cores.
    """

    core: str  # "cp", "pe[0]"
    row: str  # of the timeline: "cp", "pe"
    begin: int
    end: int
    first: int  # number of the first instruction, in the order executed
    instructions: int
    name: str = ""  # of the first instruction: "dma.wait x0", "transfer 3"
    place: str = ""  # of the first instruction in the source: "layer.s:12"
    counters: Mapping[str, int] = field(default_factory=dict)  # by `macaw.isa.trace.GROUP`
    waited: int = 0  # cycles of the slice in which the core waited for others
    layer: str = ""  # the layer of a network in which the slice began

    @property
    def cycles(self) -> int:
        """The number of cycles from `begin` to `end`."""
        return self.end - self.begin

    @property
    def busy(self) -> int:
        """The number of cycles in which the core did not wait for other cores."""
        return self.cycles - self.waited

    @property
    def last(self) -> int:
        """The number of the last instruction, counted over the run."""
        return self.first + self.instructions - 1

    @property
    def key(self) -> tuple[str, int, int]:
        """A key that is unique in a profile: core, first instruction, start cycle."""
        return self.core, self.first, self.begin

    @property
    def where(self) -> str:
        """The source position and the name, if known, such as `layer.s:12: dma.wait x0`."""
        what = self.name or f"instruction {self.first:,}"
        text = f"{self.place}: {what}" if self.place else what
        return f"{text} (layer {self.layer})" if self.layer else text


@dataclass(frozen=True)
class CoreWait:
    """A wait of a core for other cores."""

    begin: int
    end: int
    cores: tuple[str, ...] = ()  # empty if it waited at a window, which names no core


@dataclass(frozen=True)
class Track:
    """The slices of one core, or of all cores of a row. For a row, `core` is the row's name.

    `busy` are the sorted intervals in which the core, or at least one of the cores, worked. The
    intervals do not touch, and do not include waits for other cores.
    """

    core: str
    row: str
    slices: tuple[Slice, ...] = ()
    busy: tuple[Interval, ...] = ()
    lost: int = 0  # missing records, for example because all register groups were in use
    waits: tuple[CoreWait, ...] = ()  # of one core, sorted; a row of several cores has none

    @property
    def busy_cycles(self) -> int:
        """The number of cycles in all busy intervals."""
        return sum(end - begin for begin, end in self.busy)


@dataclass(frozen=True)
class LayerSpan:
    """A layer of a compiled network: the cycles from its begin to the begin of the next layer.

    `busy` has, by row, the cycles in which the row worked during the layer. `predicted` and `bound`
    are from the compiler's report: the cycles that it expected for the layer, and the least cycles
    that the layer can take.
    """

    name: str  # of the node in the model
    operator: str
    core: str  # that executes the layer
    begin: int
    end: int
    predicted: int  # cycles
    bound: int  # least cycles that the layer can take
    busy: Mapping[str, int] = field(default_factory=dict)

    @property
    def cycles(self) -> int:
        """The number of cycles from `begin` to `end`."""
        return self.end - self.begin


@dataclass(frozen=True)
class Metric:
    """A number that is computed from records, with a sentence that describes it.

    `value` is None if the formula divides by zero. `ok` says whether it meets the threshold.
    """

    key: str  # of `macaw.profiling.metrics.METRICS`
    value: float | None
    threshold: float | None = None  # None: not judged
    ok: bool | None = None  # whether the value meets the threshold
    sentence: str = ""  # what was measured, in words


@dataclass(frozen=True)
class Group:
    """A slice and its metrics."""

    slice: Slice
    metrics: tuple[Metric, ...] = ()

    def metric(self, key: str) -> Metric | None:
        """Return the metric with this key; None if the records do not determine it."""
        return next((metric for metric in self.metrics if metric.key == key), None)


@dataclass(frozen=True)
class Finding:
    """A cause that makes the run longer, at one place of the source, with advice.

    The place is a line, or several lines near each other. Equal findings of the cores of a row form
    one finding. `where` is the line with most cycles of the cause, `others` are the other lines.
    `saved` is an estimate of the cycles that the run would save without the cause.
    """

    core: str  # the row's name if it is for several cores of a row
    cause: str  # a leaf of `macaw.isa.causes`
    where: str  # the line with most of the cycles, such as `layer.s:12: vld vr0, (s0)`
    saved: int  # an estimate: the cycles that the run would save without the cause
    cycles: int  # of the cause in these lines, times the units of the cores
    advice: str
    whom: tuple[str, ...] = ()  # what the cores waited for, most cycles first
    others: tuple[str, ...] = ()  # the other lines, most cycles first


@dataclass(frozen=True)
class MissedThreshold:
    """A metric that misses its threshold at a source position.

    It stands for all slices of this position: `slices` is their number, `cycles` are their busy
    cycles. For the metric `late`, `slices` is the number of starts, and `cycles` are the cycles by
    which these starts were late. If other positions of the same row of the timeline give the same
    sentence, they are in `others`.
    """

    core: str
    where: str  # `Slice.where`
    metric: Metric  # with the worst value
    sentence: str
    cycles: int = 0  # of these slices
    slices: int = 1
    cost: int = 0  # cycles that the run would save at most; 0: unknown
    others: tuple[str, ...] = ()  # the other places, most cycles first


@dataclass(frozen=True)
class Series:
    """A quantity over time, such as the fill level of a queue or a bandwidth.

    Each value is valid until the next point. `most` is the limit, such as the depth of a queue.
    """

    name: str  # "external reads", "transfers of dma"
    unit: str
    points: tuple[tuple[int, float], ...] = ()  # (cycle, value)
    row: str = ""  # the row of the timeline to which the quantity belongs; empty: all rows
    most: float | None = None  # the limit: the depth of a queue, the width of a memory


@dataclass(frozen=True)
class Bottleneck:
    """The row whose work costs the run most cycles, and its instruction that takes longest.

    Three mappings have, by row of the timeline, the cycles that the run would save. `saved`: if all
    work of the row took no time. `sooner`: if the row never started late. `between`, for all rows
    except the bottleneck: if the row's work took no time while the bottleneck is active, that is,
    between the first and the last work of the bottleneck.
    """

    core: str  # the row's name
    slice: Slice | None  # the longest slice of the instruction
    why: str  # a sentence with the cost of the row
    saved: Mapping[str, int] = field(default_factory=dict)  # by row: cycles saved without its work
    # By other row: cycles saved without that row's work between this row's first and last work.
    between: Mapping[str, int] = field(default_factory=dict)
    # By row: cycles saved if the row never started late.
    sooner: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Merge:
    """How segments of several runs were merged into one timeline (seed 001, Fig. 6), and how well.

    `total` is the length of the merged timeline in cycles, `mean` the mean length of the runs, and
    `true` the length of the run that recorded all instructions. `error` is (`total` - `mean`) /
    `mean`. `offsets` are the cycles that were added to the times of each segment of `core`. `shift`
    is the mean distance of slices from the true timeline.
    """

    total: int  # cycles from the first start to the last end
    mean: float  # of `runs`
    error: float  # (total - mean) / mean
    runs: tuple[int, ...]  # the cycles of each run
    true: int  # from first start to last end in the run that recorded all instructions
    offsets: tuple[float, ...] = ()  # added to the times of each segment of `core`
    shift: float = 0.0  # mean distance in cycles of slices from the true timeline
    core: str = ""  # the core with the longest time from first start to last end


@dataclass(frozen=True)
class Goal:
    """A goal of the optimisation (seed 001, step 430), and whether the profile meets it.

    `wanted` is the limit that the user gave, `got` the worst value of all rows.
    """

    key: str  # "cycles", or the key of a metric
    wanted: float  # the limit that the user gave
    got: float | None  # the worst value of all rows; None: no record determines the metric
    met: bool
    sentence: str  # both values in words


@dataclass(frozen=True)
class Step:
    """A step of the optimisation loop (seed 001, Fig. 7).

    `number` is the step's number in the figure; `text` says what to do.
    """

    number: int  # in the figure: 702 to 728
    title: str
    text: str  # what to do, with names and numbers of this program


@dataclass(frozen=True)
class Difference:
    """The values of a quantity in an earlier profile and in this one, and a verdict.

    `what` names the quantity. `better` is the verdict, None without a verdict. `interval` is the
    confidence interval of the change.
    """

    what: str  # the quantity: "cycles", "work of pe", "blocked of vc"; or what differs: "device"
    before: float | None  # None for a difference without numbers
    after: float | None
    better: bool | None  # None: not judged
    sentence: str
    interval: tuple[float, float] | None = None  # of the change, at `bootstrap.LEVEL`


@dataclass(frozen=True)
class Subject:
    """Digests (SHA-256) of the program, the device and the inputs of a profile.

    If two profiles have the same digest of the program, they have the same program; likewise for
    the device and for each input.
    """

    program: str = ""  # of its sections and its entry
    device: str = ""  # of its configuration
    inputs: Mapping[str, str] = field(default_factory=dict)  # by name
    shapes: Mapping[str, str] = field(default_factory=dict)  # of inputs: "int8 4x32"


@dataclass(frozen=True, repr=False)
class Profile:
    """The profile of a program's run, with all data that reports show.

    `against` is the file of the earlier profile with which this one was compared, `earlier` has its
    timeline. `ratios` has the metrics of each row, from all its records. `runs` has the cycles of
    each run.
    """

    program: str
    device: str
    cycles: int  # with `repeat`, the rounded mean
    tracks: tuple[Track, ...]  # six rows; after a row, its several cores with records or losses
    groups: tuple[Group, ...] = ()
    missed_thresholds: tuple[MissedThreshold, ...] = ()
    series: tuple[Series, ...] = ()
    bottleneck: Bottleneck | None = None
    merge: Merge | None = None
    goals: tuple[Goal, ...] = ()
    step: Step | None = None
    differences: tuple[Difference, ...] = ()  # from an earlier profile
    against: str = ""  # the earlier profile's file
    earlier: EarlierRun | None = None  # its timeline
    line_differences: tuple[LineDifference, ...] = ()  # if both profiles have accounts
    mode: str = ""  # "mark", "auto"
    jitter: int | None = None  # the first run's seed
    runs: tuple[int, ...] = ()  # the cycles of each run of which the mean is taken
    exit_code: int = 0  # of the program; with `repeat`, of the first run
    ratios: Mapping[str, tuple[Metric, ...]] = field(
        default_factory=dict
    )  # by row, from all its records
    subject: Subject = Subject()
    layers: tuple[LayerSpan, ...] = ()  # of a compiled network, in the order of execution
    accounts: tuple[Account, ...] = ()  # of all cores, with the option `causes`
    work: Work | None = None  # with the option `roofline`
    energy: Energy | None = None  # with the option `energy`
    annotation: Annotation | None = None  # with the option `lines`
    findings: tuple[Finding, ...] = ()  # with the option `findings`; the most saved first

    def __repr__(self) -> str:
        parts = [plural(self.cycles, "cycle")]
        if self.bottleneck is not None:
            parts.append(f"bottleneck {self.bottleneck.core}")
        parts.append(plural(len(self.findings), "finding"))
        return one_line(f"<profile of {self.program} on {self.device}: {', '.join(parts)}>")

    @property
    def rows(self) -> tuple[Track, ...]:
        """The tracks of the timeline's rows, one for each kind of core."""
        return tuple(track for track in self.tracks if track.core == track.row)

    def cores(self, row: str) -> tuple[Track, ...]:
        """Return the tracks of the single cores of a row; empty if the row is one core."""
        return tuple(track for track in self.tracks if track.row == row and track.core != row)

    @property
    def lines(self) -> tuple[AnnotatedLine, ...]:
        """The lines of the source with their costs; empty without the option `lines`."""
        return () if self.annotation is None else self.annotation.lines

    @property
    def missed(self) -> tuple[Goal, ...]:
        """The goals that the profile does not meet."""
        return tuple(goal for goal in self.goals if not goal.met)


def to_json(profile: Profile) -> dict[str, Any]:
    """Return the profile as a JSON object."""
    return {"kind": KIND, "format": FORMAT, **_to_json_value(profile)}


def from_json(data: object, source: str = "the profile") -> Profile:
    """Return the profile that a JSON object describes.

    Raises `InputError`, whose message starts with `source`, if the object is not a profile.
    """
    if not isinstance(data, dict) or data.get("kind") != KIND:
        raise InputError(f"{source} holds no profile", "`macaw profile --json FILE` writes one")
    problem = version_problem(data.get("format"), FORMAT, "`macaw profile --json FILE`", FORMAT)
    if problem:
        raise InputError(f"{source}: {problem[0]}", problem[1])
    try:
        return _parse_dataclass(
            Profile, {k: v for k, v in data.items() if k not in ("kind", "format")}
        )
    except _TypeMismatchError as error:
        raise InputError(f"{source} holds no profile: {error}") from None


class _TypeMismatchError(ValueError):
    """A JSON value does not have the type of its field; the error's text names the field."""


def _to_json_value(value: object) -> Any:
    if is_dataclass(value):
        return {row.name: _to_json_value(getattr(value, row.name)) for row in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _to_json_value(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [_to_json_value(item) for item in value]
    return value


T = TypeVar("T")
_HINTS: dict[type, dict[str, Any]] = {}  # by dataclass, as they are asked for


def _parse_dataclass(kind: type[T], data: object) -> T:
    """Return the object of the dataclass `kind` that the JSON object `data` describes."""
    if not isinstance(data, dict):
        raise _TypeMismatchError(f"{kind.__name__} is {data!r:.40}")
    hints = _HINTS.get(kind) or _HINTS.setdefault(kind, get_type_hints(kind))
    if data.keys() != hints.keys():
        odd = sorted(map(str, data.keys() ^ hints.keys()))
        raise _TypeMismatchError(f"{kind.__name__} has other fields: {', '.join(odd)}")
    values = {}
    for name, hint in hints.items():
        try:
            values[name] = _parse_value(hint, data[name])
        except _TypeMismatchError as error:
            raise _TypeMismatchError(f"{name}: {error}") from None
    return kind(**values)


def _parse_value(hint: Any, value: object) -> Any:
    """Return a value of the type `hint` that a JSON value stands for."""
    origin, arguments = get_origin(hint), get_args(hint)
    if isinstance(hint, UnionType):
        if value is None and NoneType in arguments:
            return None
        return _parse_value(next(item for item in arguments if item is not NoneType), value)
    if origin is tuple:
        if not isinstance(value, list):
            raise _TypeMismatchError(f"{value!r:.40} is no list")
        if arguments[-1] is Ellipsis:
            return tuple(_parse_value(arguments[0], item) for item in value)
        if len(value) != len(arguments):
            raise _TypeMismatchError(f"{value!r:.40} has not {len(arguments)} items")
        return tuple(_parse_value(item, part) for item, part in zip(arguments, value, strict=True))
    if origin is Mapping:
        if not isinstance(value, dict):
            raise _TypeMismatchError(f"{value!r:.40} is no object")
        return {str(key): _parse_value(arguments[1], item) for key, item in value.items()}
    if isinstance(hint, type) and is_dataclass(hint):
        return _parse_dataclass(hint, value)
    if hint is float and type(value) is int:
        return value
    if type(value) is not hint:
        raise _TypeMismatchError(f"{value!r:.40} is no {hint.__name__}")
    return value
