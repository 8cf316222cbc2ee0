"""Profiles a program: plans and records runs, merges segments, names slices, judges metrics."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any

from numpy.typing import NDArray

from macaw import api, arguments
from macaw.arguments import check_arguments
from macaw.asm.program import Program
from macaw.errors import InputError
from macaw.execution import configuration_of
from macaw.input_binding import join_inputs
from macaw.isa.config import ConfigError, Configuration
from macaw.profiling import (
    accounting,
    advice,
    bottleneck,
    comparison,
    findings,
    jobs,
    layer_spans,
    measuring,
    metrics,
    recording,
    replay,
    segments,
    timeline,
)
from macaw.profiling.accounting import ChargedRun
from macaw.profiling.annotating import annotate_job
from macaw.profiling.annotation import Annotation
from macaw.profiling.energy import Energy
from macaw.profiling.energy_estimate import estimate_energy
from macaw.profiling.energy_table import load_table
from macaw.profiling.model import Merge, MissedThreshold, Profile, Series
from macaw.profiling.option_kinds import KINDS
from macaw.profiling.recording import Job, Parameters, ProfileError, Record, Recording
from macaw.profiling.work import Work

MODES = ("auto", "mark")
MOST_RUNS = 100_000
MOST_RECORDS = 512  # most records of a core without --num that executes more than MOST_SINGLE
MOST_SINGLE = 4096  # a core with at most these instructions has a record for each
MOST_GROUPS = 400  # the most slices whose metrics are kept


def default_record_size(executed: int) -> int:
    """Return how many instructions a record has if a core executes `executed` instructions."""
    return 1 if executed <= MOST_SINGLE else -(-executed // MOST_RECORDS)


@dataclass(frozen=True)
class ProfileOptions:
    """The options of a profile.

    `num` has the number of instructions in a record, by core; the name "" is for all other cores.
    `shared` register groups are in two neighbouring segments. With `guide`, the profile says the
    next step of the optimisation loop. `allow` says what may differ from the profile `against`.
    """

    mode: str = MODES[0]  # "auto" records all instructions, "mark" those between markers
    num: Mapping[str, int] = field(default_factory=dict)
    groups: int | None = None  # register groups; None: those of the device
    segments: int | None = None  # number of runs, each of one segment; None: one run records all
    shared: int = 1  # register groups that neighbouring segments share
    jitter: int | None = None  # first seed of noise in the timing of DRAM; None: no noise
    repeat: int = 1  # runs, with consecutive seeds, of which the mean is taken
    workers: int = 1  # processes that run
    scheduler: str | None = None  # address of a Dask cluster that runs in place of processes
    goals: Mapping[str, float] = field(default_factory=dict)  # limits by "cycles" or metric
    thresholds: Mapping[str, float] = field(default_factory=dict)  # by metric, in place of defaults
    guide: bool = False  # also say the next step of the optimisation loop
    against: Profile | None = None  # the earlier profile to compare with
    against_name: str = "the earlier profile"  # its file
    max_cycles: int | None = None  # a run that takes longer is an error; None: no limit
    item: int = 0  # index on the batch axis
    causes: bool = False  # also account for the cycles of each core
    roofline: bool = False  # also measure operations and bytes
    energy: api.FilePath | None = None  # also estimate energy: a table's file, "" for the default
    allow: Collection[str] = ()  # of `comparison.ALLOWABLE`: what may differ from `against`
    lines: bool = False  # also annotate the lines of the source
    findings: bool = True  # in auto mode: also say which causes make the run longer

    def check(self) -> None:
        """Raise `InputError` if options have unknown values or cannot be combined."""
        arguments.check_values(vars(self), KINDS)
        if self.mode not in MODES:
            raise InputError(f"no mode is called '{self.mode}', there are {', '.join(MODES)}")
        if self.repeat > 1 and self.jitter is None:
            text = (
                "'repeat' takes the mean of runs that differ, and without jitter all are the same"
            )
            raise InputError(text, "'jitter' with a seed")
        if self.repeat * (1 + (self.segments or 0)) > MOST_RUNS:
            text = f"a profile has {MOST_RUNS:,} runs at most, here 'repeat' times 1 + 'segments'"
            raise InputError(text)
        if self.mode == "mark" and (self.num or self.segments):
            what = "num" if self.num else "segments"
            text = f"'{what}' is for auto mode: in mark mode the markers say what is recorded"
            raise InputError(text)
        if self.segments is not None and self.num:
            raise InputError("'segments' says how many instructions make a record: leave 'num' out")
        if self.shared > 1 and self.segments is None:
            raise InputError(
                "'shared' is for neighbouring segments", "'segments' with their number"
            )
        comparison.check_allowed(self.allow)
        if self.allow and self.against is None:
            raise InputError("'allow' is for a comparison", "'against' with an earlier profile")
        advice.check_goals(self.goals)
        metrics.thresholds(self.thresholds)


Progress = Callable[[str, int, int], object]  # activity, steps done, steps in all


@check_arguments(
    program=arguments.program_or_path,
    inputs=arguments.optional(arguments.mapping(arguments.anything, "arrays by name")),
    options=arguments.optional(
        arguments.instance(
            "a ProfileOptions of macaw",
            "macaw.profiling.profiler:ProfileOptions",
        )
    ),
    device=arguments.optional(arguments.device),
    watch=arguments.function,
    name=arguments.word,
    keyword_inputs=arguments.anything,
)
def profile(
    program: Program | api.FilePath,
    inputs: Mapping[str, object] | None = None,
    options: ProfileOptions | None = None,
    *,
    device: api.DeviceLike | None = None,
    watch: Progress = lambda what, done, total: None,
    name: str = "",
    **keyword_inputs: object,
) -> Profile:
    """Return the profile of a program, or of the program in a file, with arrays for its inputs.

    The inputs are given in a mapping, as keywords, or both. To report progress, the function calls
    `watch(what, done, total)`. `name` is the program's name in the report. Raises `InputError` for
    options or inputs that do not fit, `ProfileError` if the program does not exit, and for a file
    the errors of `macaw.load`.
    """
    options = options or ProfileOptions()
    options.check()
    options = replace(options, **arguments.python_numbers(vars(options)))
    inputs = join_inputs(inputs, keyword_inputs)
    if not isinstance(program, Program):
        name = name or str(program)
        program = api.load(program, device=device)
    config = _config(program, device, options)
    arrays = recording.item_inputs(program, inputs, options.item)
    name = name or recording.program_name(program)
    return _Profiler(name, program, config, arrays, options, watch).profile()


def _config(
    program: Program, device: api.DeviceLike | None, options: ProfileOptions
) -> Configuration:
    """Return the device's configuration with the number of register groups in `options`."""
    config = configuration_of(program, device)
    try:
        if options.groups is not None:
            config = config.changed({"trace.groups": options.groups})
    except ConfigError as error:
        raise InputError(str(error)) from None
    if not config["trace.recording"]:
        raise InputError(
            f"the trace blocks of {config.name} do not record", "trace.recording = true"
        )
    return config


class _Profiler:
    def __init__(
        self,
        name: str,
        program: Program,
        config: Configuration,
        inputs: Mapping[str, NDArray[Any]],
        options: ProfileOptions,
        watch: Progress,
    ) -> None:
        self.name, self.program, self.config, self.options = name, program, config, options
        self.watch = watch
        self.limits = metrics.thresholds(options.thresholds)
        self.table = None if options.energy is None else load_table(os.fspath(options.energy))
        job = recording.make_job(program, config, inputs, options.max_cycles)
        self.job = job.with_jitter(options.jitter)
        self.subject = recording.digest_subject(job)
        if options.against is not None:
            comparison.refuse_other_subject(
                options.against, options.against_name, self.subject, name, options.allow
            )
        self.cores = timeline.core_traits(self.job.machine())
        self.machine = metrics.DeviceSizes.of(config, self.cores)
        timeline.check_core_names(filter(None, options.num), self.cores)
        self.register_groups = int(config["trace.groups"])
        if options.segments is not None:
            segments.check_segments(options.segments, self.register_groups, options.shared)
        self.charged: ChargedRun | None = None

    # Runs

    def profile(self) -> Profile:
        """Run all jobs and return the profile."""
        options = self.options
        charged = self.charged = self._charge()
        unrecorded: Recording | ChargedRun | None = None
        if options.mode == "auto":
            unrecorded = charged or self._run("counting instructions", [self.job])[0]
        if unrecorded is None:
            plans = [self._recording_job(recording.marker_parameters(self._core_numbers()), {})]
        else:
            plans = [self._recording_job(*self._plan_all(unrecorded))]
        if options.segments is not None and unrecorded is not None:
            plans += [self._recording_job(*plan) for plan in self._plan_segments(unrecorded)]
        jobs_of_plans = [self._repeat(job, number) for number, job in enumerate(plans)]
        recordings = self._run("recording", [job for each in jobs_of_plans for job in each])
        results = [[recordings.pop(0) for _ in each] for each in jobs_of_plans]
        full_runs = results[0]
        if unrecorded is not None:
            self._check_unchanged(unrecorded, full_runs[0], jobs_of_plans[0][0])
        records = {
            core: segments.mean_records([run.records[core] for run in full_runs])
            for core in plans[0].parameters
        }
        merge = None
        if options.segments is not None:
            records, merge = self._merge(records, results[1:])
        lost_records = self._count_lost(unrecorded, records, full_runs)
        return self._judge(records, full_runs, jobs_of_plans[0][0], lost_records, merge)

    def _count_lost(
        self,
        unrecorded: Recording | ChargedRun | None,
        records: Mapping[str, Sequence[Record]],
        full_runs: Sequence[Recording],
    ) -> dict[str, int]:
        """Return by core how many records are missing, because the memory for them was full.

        `unrecorded` is a run that counted instructions; it is None in mark mode.
        """
        if unrecorded is None:
            return dict(full_runs[0].lost)
        expected = {
            core: -(-executed // self._record_size(core, executed))
            for core, executed in unrecorded.begun.items()
            if executed
        }
        return {core: max(0, count - len(records[core])) for core, count in expected.items()}

    def _core_numbers(self) -> dict[str, int]:
        return {name: member.number for name, member in self.cores.items()}

    def _recording_job(self, parameters: Mapping[str, Parameters], needs: Mapping[str, int]) -> Job:
        """Return a job that records with `parameters`; `needs` is the number of records by core."""
        ready = recording.add_spill_areas(self.program, self.config, parameters, needs)
        return replace(self.job, parameters=ready)

    def _plan_all(
        self, unrecorded: Recording | ChargedRun
    ) -> tuple[dict[str, Parameters], dict[str, int]]:
        """Return {core: trace parameters} and {core: number of records} to record everything."""
        parameters, needs = {}, {}
        for core, executed in unrecorded.begun.items():
            if not executed:
                continue
            num = self._record_size(core, executed)
            parameters[core] = recording.cycling_parameters(num, self.register_groups)
            needs[core] = -(-executed // num) + self.register_groups
        return parameters, needs

    def _record_size(self, core: str, executed: int) -> int:
        """Return how many instructions a record has if `core` executes `executed` instructions."""
        options = self.options
        if options.segments is not None:
            return segments.record_size(
                executed, options.segments, self.register_groups, options.shared
            )
        option = options.num.get(core, options.num.get(self.cores[core].row, options.num.get("")))
        if option is not None:
            return option
        return default_record_size(executed)

    def _plan_segments(
        self, unrecorded: Recording | ChargedRun
    ) -> list[tuple[dict[str, Parameters], dict[str, int]]]:
        assert self.options.segments is not None
        plans = segments.parameters_of_segments(
            unrecorded.begun, self.options.segments, self.register_groups, self.options.shared
        )
        return [(each, dict.fromkeys(each, self.register_groups)) for each in plans]

    def _repeat(self, job: Job, number: int) -> list[Job]:
        """Return `job` once for each repetition; its index `number` decides the jitter's seeds."""
        if job.jitter is None:
            return [job]
        first = job.jitter + number * self.options.repeat
        return [job.with_jitter(first + turn) for turn in range(self.options.repeat)]

    def _run(self, what: str, todo: Sequence[Job]) -> list[Recording]:
        options = self.options
        self.watch(what, 0, len(todo))
        recordings = jobs.run_all(
            todo, options.workers, options.scheduler, lambda done: self.watch(what, done, len(todo))
        )
        for result in recordings:
            recording.check_recording(result)
        return recordings

    def _check_unchanged(
        self, unrecorded: Recording | ChargedRun, recorded: Recording, job: Job
    ) -> None:
        """Raise `InputError` if recording changed the run; `recorded` is the result of `job`.

        Recording takes no cycles, but a program may use the memory of the spill area.
        """
        if unrecorded.cycles != recorded.cycles or unrecorded.begun != recorded.begun:
            spill = min((values[recording.SPILL] for values in job.parameters.values()), default=0)
            raise InputError(
                f"the program took {recorded.cycles:,} cycles while it was recorded,"
                f" {unrecorded.cycles:,} without: it uses external memory from {spill:#010x} on,"
                " where records are spilled",
                "a device with more mem.external_bytes has room for both",
            )

    # Evaluation

    def _merge(
        self, true: Mapping[str, Sequence[Record]], results: Sequence[Sequence[Recording]]
    ) -> tuple[dict[str, list[Record]], Merge]:
        """Return by core the records merged from segments, and how they differ from `true`.

        `true` are the records of the run with all instructions, `results` the runs of each segment.
        """
        records_by_core, offsets, shifts = {}, {}, {}
        for core in true:
            runs = [
                segments.mean_records([run.records.get(core, ()) for run in each])
                for each in results
            ]
            records_by_core[core], offsets[core] = segments.merge_segments(core, runs)
            shifts[core] = segments.mean_shift(records_by_core[core], true[core])
        longest = max(
            records_by_core, key=lambda core: _time_span(records_by_core[core]), default=""
        )
        cycles = tuple(run.cycles for each in results for run in each)
        mean = fmean(cycles)
        total = _time_span([item for each in records_by_core.values() for item in each])
        weights = {core: len(items) for core, items in records_by_core.items()}
        shift = sum(shifts[core] * weights[core] for core in records_by_core) / max(
            sum(weights.values()), 1
        )
        error = (total - mean) / mean if mean else 0.0
        true_span = _time_span([item for each in true.values() for item in each])
        return records_by_core, Merge(
            total, mean, error, cycles, true_span, tuple(offsets.get(longest, ())), shift, longest
        )

    def _judge(
        self,
        records: Mapping[str, Sequence[Record]],
        full_runs: Sequence[Recording],
        job: Job,
        lost_records: Mapping[str, int],
        merge: Merge | None,
    ) -> Profile:
        """Return the profile for `records`, which `merge` describes if they come from segments.

        `full_runs` are the runs that recorded all instructions; `job` is the job of the first one.
        """
        options, first = self.options, full_runs[0]
        runs = tuple(run.cycles for run in full_runs)
        cycles = round(fmean(runs)) if merge is None else merge.total
        waits = {
            core: segments.move_waits(first.waits[core], first.records[core], items)
            for core, items in records.items()
        }
        tracks = timeline.tracks(self.cores, records, waits, lost_records)
        names, series = self._name_slices(first, job, lost_records)
        layers = layer_spans.layer_spans(self.program.network, first.layers, tracks)
        tracks = layer_spans.with_layers(replay.with_names(tracks, names), layers)
        series += replay.bandwidth(tracks, cycles, self.machine.width)
        slices = [item for track in timeline.core_tracks(tracks) for item in track.slices]
        if options.mode == "mark" and not slices:
            text = "no instruction was recorded: the program reached no marker, or only empty pairs"
            hint = "bracket instructions with trace_begin and trace_end, or record in auto mode"
            raise ProfileError(text, hint)
        groups = metrics.measure_slices(
            sorted(slices, key=lambda x: -x.busy), self.machine, self.limits
        )
        rows = advice.row_metrics(tracks, self.machine, self.limits)
        metrics_by_row = dict(rows)
        late: list[MissedThreshold] = []
        worst = None
        if options.mode == "auto":
            commander = next(member.row for member in self.cores.values() if member.commands)
            all_starts = timeline.starts(tracks, commander, waits)
            worst = bottleneck.find_bottleneck(tracks, waits, self.cores, all_starts)
            sooner = worst.sooner if worst else {}
            by_row, late = advice.lateness(all_starts, tracks, cycles, self.limits["late"], sooner)
            for row, metric in by_row.items():
                metrics_by_row[row] = (*metrics_by_row.get(row, ()), metric)
        work, energy = self._work_and_energy()
        report = Profile(
            self.name,
            self.config.name,
            cycles,
            tracks,
            tuple(groups[:MOST_GROUPS]),
            advice.sort_missed([*late, *advice.collect_missed(groups)]),
            tuple(series),
            worst,
            merge,
            advice.judge_goals(options.goals, cycles, metrics_by_row),
            mode=options.mode,
            jitter=options.jitter,
            runs=runs,
            exit_code=full_runs[0].exit_code,
            ratios=rows,
            subject=self.subject,
            layers=layers,
            accounts=self.charged.accounts if self.charged and options.causes else (),
            work=work,
            energy=energy,
            annotation=self._annotation(),
            findings=findings.find(self.charged) if self.charged and self._wants_findings else (),
        )
        if options.against is not None:
            report = comparison.compare(options.against, report)
            report = replace(report, against=options.against_name)
        if options.guide:
            report = replace(report, step=advice.next_step(report))
        return report

    def _charge(self) -> ChargedRun | None:
        """Return a run in which each cycle is charged to a cause, for accounts or findings.

        Return None if the options request neither. With jitter, the run has the first seed.
        """
        if not self.options.causes and not self._wants_findings:
            return None
        self.watch("accounting for cycles", 0, 1)
        charged = accounting.charge_job(self.job)
        self.watch("accounting for cycles", 1, 1)
        return charged

    @property
    def _wants_findings(self) -> bool:
        return self.options.findings and self.options.mode == "auto"

    def _annotation(self) -> Annotation | None:
        """Return the costs of the lines in one run; None if the options do not request them."""
        if not self.options.lines:
            return None
        self.watch("annotating lines", 0, 1)
        return annotate_job(self.job, self.name)

    def _work_and_energy(self) -> tuple[Work | None, Energy | None]:
        """Return the work of all cores, and the energy of the run.

        A result is None if the options do not request it.
        """
        table = self.table
        if not self.options.roofline and table is None:
            return None, None
        self.watch("measuring work", 0, 1)
        run = measuring.measure_job(self.job)
        work = measuring.work_of(run) if self.options.roofline else None
        return work, None if table is None else estimate_energy(self.job, run, table)

    def _name_slices(
        self, first: Recording, job: Job, lost_records: Mapping[str, int]
    ) -> tuple[dict[replay.Key, replay.Name], list[Series]]:
        """Replay `job`, whose recording is `first`; return names of slices and levels of queues."""
        first_tracks = timeline.tracks(self.cores, first.records, {}, lost_records)
        what = "looking at instructions"
        return replay.replay_run(
            job,
            replay.choose_slices(timeline.core_tracks(first_tracks)),
            first.cycles,
            lambda cycle: self.watch(what, cycle, first.cycles),
        )


def _time_span(records: Sequence[Record]) -> int:
    """Return the number of cycles from the first start to the last end."""
    return max((x.end for x in records), default=0) - min((x.begin for x in records), default=0)
