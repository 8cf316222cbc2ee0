"""Runs jobs in this process, in several processes, or on a Dask cluster, with the same results."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from macaw.errors import InputError
from macaw.processes import map_in_processes
from macaw.profiling.recording import Job, Recording, run_job

TIMEOUT = 10.0  # seconds for a scheduler to answer
Progress = Callable[[int], object]  # called with the number of runs done


def run_all(
    jobs: Sequence[Job],
    workers: int = 1,
    scheduler: str | None = None,
    watch: Progress = lambda done: None,
) -> list[Recording]:
    """Run all jobs and return their recordings in the order of the jobs.

    The jobs run in `workers` processes, or on the Dask cluster at `scheduler`, whose workers must
    be able to import this version of Macaw. The function calls `watch` with the number of finished
    jobs. Raises `InputError` if processes or cluster fail.
    """
    if scheduler is not None:
        recordings = _by_dask(jobs, scheduler)
    elif workers > 1 and len(jobs) > 1:
        recordings = map_in_processes(run_job, jobs, min(workers, len(jobs)))
    else:
        recordings = map(run_job, jobs)
    results = []
    for result in recordings:
        results.append(result)
        watch(len(results))
    return results


def _check_address(scheduler: str) -> None:
    """Raise `OSError` or `ValueError` unless a server accepts connections at the address."""
    address = re.fullmatch(r"(?:(\w+)://)?\[?([^/]*?)\]?:(\d{1,5})", scheduler)
    if address is None:
        raise ValueError("it is no PROTOCOL://HOST:PORT")
    protocol, host, port = address.groups()
    if protocol != "inproc":
        with socket.create_connection((host, int(port)), TIMEOUT):
            pass


def _connect(scheduler: str) -> Any:
    """Return a client of a Dask scheduler.

    Raises `OSError`, `ValueError`, and `ImportError` if Dask is not installed.
    """
    import distributed

    # Without __del__: closing a client that could not connect would wait for the scheduler.
    unclosed = {"__del__": lambda client: None}
    client_type: Any = type("Client", (distributed.Client,), unclosed)
    _check_address(scheduler)
    outcomes: list[Any] = []

    def connect() -> None:
        try:
            outcomes.append(client_type(scheduler, timeout=TIMEOUT, set_as_default=False))
        except (OSError, ValueError) as error:
            outcomes.append(error)

    # In a thread: with a silent listener that is no scheduler, Dask would wait for ever.
    thread = threading.Thread(target=connect, daemon=True)
    thread.start()
    thread.join(2 * TIMEOUT)
    if not outcomes:
        raise TimeoutError("what listens there does not answer as one")
    if isinstance(outcomes[0], Exception):
        raise outcomes[0]
    return outcomes[0]


def _by_dask(jobs: Sequence[Job], scheduler: str) -> Iterator[Recording]:
    try:
        client = _connect(scheduler)
    except ImportError:
        text = "--scheduler needs Dask, which is not installed"
        raise InputError(text, "pip install 'macaw-npu[dask]', or --jobs N for processes") from None
    except (OSError, ValueError) as error:
        text = f"no Dask scheduler answers at {scheduler}: {error}"
        hint = "its address is as `dask scheduler` prints it: tcp://HOST:8786"
        raise InputError(text, hint) from None
    with client:
        futures = client.map(run_job, jobs, pure=False)
        try:
            for future in futures:
                yield future.result()
        except ImportError as error:
            text = f"a worker of {scheduler} cannot run the program: {error}"
            raise InputError(text, "its environment needs the same macaw") from None
