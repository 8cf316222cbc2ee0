"""Runs jobs in this process, in several processes, or on a Dask cluster, with the same results."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from macaw.clusters import map_on_cluster
from macaw.processes import map_in_processes
from macaw.profiling.recording import Job, Recording, run_job

Progress = Callable[[int], object]  # called with the number of runs done


def run_all(
    jobs: Sequence[Job],
    workers: int,
    scheduler: str | None,
    watch: Progress = lambda done: None,
) -> list[Recording]:
    """Run all jobs and return their recordings in the order of the jobs.

    The jobs run in `workers` processes, or on the Dask cluster at `scheduler`, whose workers must
    be able to import this version of Macaw. The function calls `watch` with the number of finished
    jobs. Raises `InputError` if processes or cluster fail.
    """
    if scheduler is not None:
        recordings = map_on_cluster(run_job, jobs, scheduler)
    elif workers > 1 and len(jobs) > 1:
        recordings = map_in_processes(run_job, jobs, workers)
    else:
        recordings = map(run_job, jobs)
    results = []
    for result in recordings:
        results.append(result)
        watch(len(results))
    return results
