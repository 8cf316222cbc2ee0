"""Calls a function for many arguments in several processes, and yields the results in order."""

from __future__ import annotations

import atexit
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from ctypes import c_bool
from importlib import import_module
from typing import Any, TypeVar

from macaw.errors import InputError

Argument = TypeVar("Argument")
Result = TypeVar("Result")
MapAll = Callable[[Callable[[Any], Any], Sequence[Any]], Iterator[Any]]


def map_in_processes(
    function: Callable[[Argument], Result], arguments: Sequence[Argument], workers: int
) -> Iterator[Result]:
    """Yield the result of `function` for each argument in order, computed in `workers` processes.

    The function, arguments and results must be picklable. An exception of the function is raised in
    the caller, and the processes end. Raises `InputError` if a process is killed, or if no process
    starts. Each process first imports the caller's main module; if that fails, it does not start.
    """
    with process_map(max(1, min(workers, len(arguments)))) as map_all:
        yield from map_all(function, arguments)


@contextmanager
def process_map(workers: int, module: str = "") -> Iterator[MapAll]:
    """Yield a function `map_all(function, arguments)` whose calls share `workers` processes.

    It returns an iterator over the result of `function` for each argument, in order. A call returns
    at once, while the processes work. With a `module`, the processes start at once and import it,
    while the caller does other work. Otherwise they start with the first call. They end with the
    `with` block.
    """
    # Spawn: a forked process may inherit a lock of one of our threads.
    spawn = multiprocessing.get_context("spawn")
    has_started = spawn.RawValue(c_bool)
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(workers, spawn, initializer=_start, initargs=(has_started, module))

    def map_all(
        function: Callable[[Argument], Result], arguments: Sequence[Argument]
    ) -> Iterator[Result]:
        with _broken_pool_reported(has_started):
            return _results(pool.map(function, arguments), has_started)

    try:
        for _ in range(workers if module else 0):
            pool.submit(int)  # each task starts a process
        yield map_all
    except BaseException:
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _results(results: Iterator[Result], has_started: c_bool) -> Iterator[Result]:
    with _broken_pool_reported(has_started):
        yield from results


@contextmanager
def _broken_pool_reported(has_started: c_bool) -> Iterator[None]:
    """Raise `InputError` if the `with` block finds that a process was killed or did not start.

    Each process sets `has_started` when it starts. If this is false, no process has started.
    """
    try:
        yield
    except BrokenProcessPool:
        if not has_started.value:
            text = "none of several processes started: each imports the main module first"
            hint = 'write the call in a file, below `if __name__ == "__main__":`'
            raise InputError(text, hint) from None
        text = "one of several processes was killed"
        hint = "fewer --jobs (in Python: a lower jobs=) need less memory"
        raise InputError(text, hint) from None


def _start(has_started: c_bool, module: str) -> None:
    """Set `has_started`, which all processes share, and let this process ignore Ctrl-C.

    Then import `module`, unless it is empty. If the caller's process is killed, this process ends
    too. At its end, this process does not free its objects, for which the caller would wait.
    """
    atexit.register(os._exit, 0)  # last of all exit functions
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    has_started.value = True
    if module:
        import_module(module)


def _end_with_parent() -> None:
    """Wait for the end of the caller's process, then end this process."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)  # sys.exit would end this thread only
