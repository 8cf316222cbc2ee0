"""Lets profiles in this process share the runs of equal jobs.

A run depends only on its job: the program, the device, the inputs, the seed of the noise, and what
is recorded. A page or a recorded file has many commands for one program, and each would run it
again, several times.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TypeVar
from unittest import mock

from macaw.profiling import accounting, annotating, jobs, measuring, profiler, replay
from macaw.profiling.annotation import Annotation
from macaw.profiling.model import Series, Slice
from macaw.profiling.recording import Job, Recording, run_job

Result = TypeVar("Result")


def _key(job: Job, *rest: object) -> bytes:
    """What a run depends on; the folders of the arrays that the program has read are not."""
    program = replace(job.program, read_files=(), warnings=())
    data = io.BytesIO()
    pickler = pickle.Pickler(data)
    pickler.fast = True  # equal objects have equal bytes, also if they are one object elsewhere
    pickler.dump((replace(job, program=program), rest))
    return data.getvalue()


def _kept(function: Callable[..., Result]) -> Callable[..., Result]:
    """The function of a job and other arguments, which keeps its results."""
    results: dict[bytes, Result] = {}

    def kept(job: Job, *rest: object) -> Result:
        key = _key(job, *rest)
        if key not in results:
            results[key] = function(job, *rest)
        return results[key]

    return kept


@contextmanager
def shared_runs() -> Iterator[None]:
    """Run equal jobs once until the context ends, except in other processes."""
    record, replay_run = _kept(run_job), _kept(replay.replay_run)
    annotate: Callable[[Job, str], Annotation] = _kept(annotating.annotate_job)
    run_all = jobs.run_all

    def run_jobs(
        todo: Sequence[Job],
        workers: int,
        scheduler: str | None,
        watch: jobs.Progress = lambda done: None,
    ) -> list[Recording]:
        if workers > 1 or scheduler is not None:
            return run_all(todo, workers, scheduler, watch)
        return [record(job) for job in todo]

    def replay_job(
        job: Job, slices: Iterable[Slice], cycles: int, watch: object
    ) -> tuple[dict[replay.Key, replay.Name], list[Series]]:
        names, series = replay_run(job, tuple(slices), cycles)
        return names, list(series)  # the profiler adds to it

    with ExitStack() as stack:
        for module, name, function in (
            (accounting, "charge_job", _kept(accounting.charge_job)),
            (annotating, "annotate_job", annotate),
            (jobs, "run_all", run_jobs),
            (measuring, "measure_job", _kept(measuring.measure_job)),
            (profiler, "annotate_job", annotate),
            (replay, "replay_run", replay_job),
        ):
            stack.enter_context(mock.patch.object(module, name, function))
        yield
