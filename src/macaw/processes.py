"""Calls a function for many arguments in several processes, and yields the results in order."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from macaw.errors import InputError

Argument = TypeVar("Argument")
Result = TypeVar("Result")


def map_in_processes(
    function: Callable[[Argument], Result], arguments: Sequence[Argument], workers: int
) -> Iterator[Result]:
    """Yield the result of `function` for each argument in order, computed in `workers` processes.

    The function, arguments and results must be picklable. An exception of the function is raised in
    the caller, and the processes end. Raises `InputError` if a process is killed.
    """
    # Spawn: a forked process may inherit a lock of one of our threads. Workers ignore Ctrl-C.
    spawn = multiprocessing.get_context("spawn")
    ignored = (signal.SIGINT, signal.SIG_IGN)
    others = set(multiprocessing.active_children())
    count = max(1, min(workers, len(arguments)))
    pool = ProcessPoolExecutor(count, spawn, initializer=signal.signal, initargs=ignored)
    try:
        yield from pool.map(function, arguments)
    except BrokenProcessPool:
        text = "one of several processes was killed"
        raise InputError(text, "fewer --jobs need less memory") from None
    except BaseException:
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
