"""Computes metrics from records: characteristic parameters and trace-back ratios (seed 001).

A metric's sentence gives only the measured value, because the counters do not show which cost a
missed threshold has, or how to improve the program.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from macaw.errors import InputError
from macaw.isa.config import Configuration
from macaw.isa.trace import GROUP
from macaw.phrases import plural, suggestion
from macaw.profiling.model import Group, Metric, Slice
from macaw.profiling.timeline import CoreTraits

Counters = Mapping[str, int]
_TIMES = {row.name: row.takes for row in GROUP if row.takes != "count"}
_COUNT_OF = {row.of: row.name for row in GROUP if row.takes == "count"}
_OF = {row.name: row.of for row in GROUP}


@dataclass(frozen=True)
class MetricRow:
    """The definition of a metric: its formula with the letters of seed 001, and its threshold.

    `sense` says which values are good: "most" if the threshold is the greatest good value, "least"
    if it is the least one, and "near" if a good value is at most the threshold away from a whole
    number. It is empty for a metric without a threshold.
    """

    key: str  # the name in options and JSON files
    formula: str
    sense: str  # of the threshold: "most", "least", "near" a whole number; "": none
    threshold: float | None
    meaning: str


# fmt: off
METRICS = (
    MetricRow("reads",       "m·n/(t2−t1)",  "",      None, "bytes that a core reads from external memory per cycle, while it reads"),
    MetricRow("computes",    "p·q/(t4−t3)",  "",      None, "bytes that a core computes on per cycle, while it computes"),
    MetricRow("match",       "p·q·(t2−t1)/(m·n·(t4−t3))", "near", 0.1,  "bytes computed on for each byte read; good if within the threshold of a whole number"),
    MetricRow("partial",     "a1/b1",        "most",  0.1,  "share of external writes that are narrower than the memory; not judged for cores whose widest write is narrower"),
    MetricRow("blocked",     "a2/b2",        "most",  0.1,  "cycles for each access to on-chip memory in which another access had the bank; for a core with its own memory, cycles of waiting beyond those of the densest stream"),
    MetricRow("utilisation", "a3/(b3·c)",    "least", 0.5,  "share of the array's compute units that work, in the cycles in which the array works"),
    MetricRow("late",        "",             "most",  0.05, "share of the run by which a row started later than it could"),
)
# fmt: on

BY_KEY = {row.key: row for row in METRICS}
KEYS_WITH_THRESHOLD = tuple(row.key for row in METRICS if row.sense)
TRACE_BACK_KEYS = ("partial", "blocked", "utilisation")  # trace-back ratios (step 718)


def thresholds(changes: Mapping[str, float]) -> dict[str, float]:
    """Return the threshold of each metric by its key: from `changes`, or else the default.

    Raises `InputError` for an unknown key in `changes`.
    """
    for key in changes:
        if key not in KEYS_WITH_THRESHOLD:
            hint = suggestion(key, KEYS_WITH_THRESHOLD)
            raise InputError(f"no metric with a threshold is called '{key}'", hint)
    defaults = {row.key: row.threshold for row in METRICS if row.threshold is not None}
    return {**defaults, **changes}


@dataclass(frozen=True)
class DeviceSizes:
    """The sizes of the device that the formulas of metrics use.

    `width` is the number of bytes that external memory transfers in a beat. `banks` is the number
    of banks in half of an on-chip unit, `bank_width` their width in bytes.
    """

    width: int  # m: bytes of a beat of external memory
    banks: int  # of a half of a unit
    bank_width: int  # bytes
    cores: Mapping[str, CoreTraits]

    @classmethod
    def of(cls, config: Configuration, cores: Mapping[str, CoreTraits]) -> DeviceSizes:
        """Return the sizes of a device with this configuration and these cores."""
        width, banks, bank_width = (
            int(config[f"mem.{name}"]) for name in ("external_width", "banks", "bank_width")
        )
        return cls(width, banks, bank_width, cores)


def measure_slices(
    slices: Iterable[Slice], machine: DeviceSizes, limits: Mapping[str, float]
) -> list[Group]:
    """Return each slice with its metrics.

    `machine` has the sizes of the device, `limits` the thresholds by key of the metric.
    """
    return [Group(item, measure(item.core, item.counters, machine, limits)) for item in slices]


def measure(
    core: str, counters: Counters, machine: DeviceSizes, limits: Mapping[str, float]
) -> tuple[Metric, ...]:
    """Return the metrics that can be computed from the counters of a core.

    `machine` has the sizes of the device, `limits` the thresholds by key of the metric.
    """
    member = machine.cores[core]
    reads = _rate(
        (member.beat or machine.width) * counters["e_bus"], counters, "t_rd_begin", "t_rd_end"
    )
    computes = _rate(member.width * counters["e_cu"], counters, "t_cu_begin", "t_cu_end")
    results = [
        _unjudged("reads", reads, "{:.3g} bytes a cycle come from external memory"),
        _unjudged("computes", computes, "{:.3g} bytes a cycle are computed on"),
        _match(reads, computes, limits["match"]),
        _partial(counters, machine, member, limits["partial"]),
        _blocked(counters, machine, member, limits["blocked"]),
        _utilisation(core, counters, member, limits["utilisation"]),
    ]
    return tuple(item for item in results if item.value is not None)


def sum_counters(slices: Iterable[Slice]) -> dict[str, int]:
    """Return the combined counters of several slices.

    Counts are added. The result has the earliest start time and the latest end time.
    """
    sums = dict.fromkeys(_OF, 0)
    for item in slices:
        for name, takes in _TIMES.items():
            value = item.counters[name]
            counted = _COUNT_OF.get(_OF[name])
            if counted is None:  # t_begin or t_end: no counter counts instructions
                some, first = True, not sums["t_end"]
            else:
                some, first = bool(item.counters[counted]), not sums[counted]
            if some:
                better = min if takes == "first" else max
                sums[name] = value if first else better(sums[name], value)
        for name in _COUNT_OF.values():
            sums[name] += item.counters[name]
    return sums


def _rate(amount: int, counters: Counters, begin: str, end: str) -> float | None:
    """Return `amount` divided by the cycles between two recorded times.

    `begin` and `end` are the names of these times in `counters`. Returns None if `amount` or the
    number of cycles is 0.
    """
    cycles = counters[end] - counters[begin]
    return amount / cycles if amount and cycles > 0 else None


def _unjudged(key: str, value: float | None, text: str) -> Metric:
    return Metric(key, value, sentence="" if value is None else text.format(value))


def _match(reads: float | None, computes: float | None, tolerance: float) -> Metric:
    """Return the metric `match`: how often the core computes on each byte that it reads.

    `reads` and `computes` are bytes per cycle; the value is `computes` / `reads`. The metric meets
    its threshold if the value is at most `tolerance` from a whole number.
    """
    if reads is None or computes is None:
        return Metric("match", None)
    ratio = computes / reads
    whole = max(1, round(ratio))
    ok = abs(ratio - whole) <= tolerance
    if ok:
        times = "once" if whole == 1 else f"{whole} times"
        text = f"each byte that is read is computed on {times}: reading and computing match"
    elif ratio < 1:
        text = f"it reads {1 / ratio:.3g} bytes for each one that it computes on"
    else:
        text = f"it computes {ratio:.3g} times on each byte that it reads, no whole multiple"
    return Metric("match", ratio, tolerance, ok, text)


def _partial(counters: Counters, machine: DeviceSizes, member: CoreTraits, most: float) -> Metric:
    """Return the metric `partial`: the share of external writes that are narrower than the memory.

    The threshold is `most`. For a core whose widest write is narrower than the memory, the result
    has no threshold, because such a core cannot do better.
    """
    part, whole = counters["e_xwr_partial"], counters["e_xwr"]
    if not whole:
        return Metric("partial", None)
    value = part / whole
    narrow = "is narrower" if part == 1 else "are narrower"
    text = f"{part:,} of {plural(whole, 'external write')} {narrow} than the memory's {machine.width} bytes"
    if member.store and member.store < machine.width:
        text += f", of which {member.name} writes at most {member.store} at once"
        return Metric("partial", value, sentence=text)
    return Metric("partial", value, most, value <= most, text)


def _blocked(counters: Counters, machine: DeviceSizes, member: CoreTraits, most: float) -> Metric:
    waited = counters["e_rd_blocked"] + counters["e_wr_blocked"]
    whole = counters["e_rd"] + counters["e_wr"]
    if not whole:
        return Metric("blocked", None)
    usual = member.spacing * whole
    value = max(waited - usual, 0) / whole
    accesses = f"{whole:,} access{'' if whole == 1 else 'es'}"
    if member.has_own_memory:
        text = f"{accesses} of its own memory waited {plural(waited, 'cycle')} in all"
        if member.spacing:
            text += f", {min(usual, waited):,} of them as in the densest stream"
    else:
        text = f"{accesses} of on-chip memory lost a bank to others for {plural(waited, 'cycle')} in all"
    if value > most and not member.has_own_memory:
        text += (
            f" (a bank is {machine.bank_width} bytes wide, and what lies"
            f" {machine.banks * machine.bank_width} bytes apart is in the same one)"
        )
    return Metric("blocked", value, most, value <= most, text)


def _utilisation(core: str, counters: Counters, member: CoreTraits, least: float) -> Metric:
    uses, arrays = counters["e_cu"], counters["e_array"]
    if not arrays:
        return Metric("utilisation", None)
    value = uses / (arrays * member.units)
    text = (
        f"{uses / arrays:.3g} of {member.units:,} compute units of {core} are at work on average,"
        " in the cycles in which its array works"
    )
    return Metric("utilisation", value, least, value >= least, text)
