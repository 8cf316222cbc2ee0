"""Calls a function for many arguments in several processes, and yields the results in order."""

from __future__ import annotations

import atexit
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from ctypes import c_bool
from importlib import import_module
from typing import Any, TypeVar

from macaw.errors import InputError
from macaw.isa.lazy_dataclass import dataclass

Argument = TypeVar("Argument")
Result = TypeVar("Result")
MapAll = Callable[[Callable[[Any], Any], Sequence[Any]], Iterator[Any]]
_taken: Any = None  # in another process: `_Processes.taken`


@dataclass(frozen=True)
class _Processes:
    """Other processes that work for this one.

    Each sets `has_started` when it starts. `taken` counts the arguments of a call of a `MapAll`
    that processes have taken.
    """

    pool: ProcessPoolExecutor
    has_started: c_bool
    taken: Any  # a number with a lock


def map_in_processes(
    function: Callable[[Argument], Result], arguments: Sequence[Argument], workers: int
) -> Iterator[Result]:
    """Yield the result of `function` for each argument in order, computed in `workers` processes.

    The function, arguments and results must be picklable. An exception of the function is raised in
    the caller, and the processes end. Raises `InputError` if a process is killed, or if no process
    starts. Each process first imports the caller's main module; if that fails, it does not start.
    """
    count = max(1, min(workers, len(arguments)))
    with _processes(count) as others, _broken_pool_reported(others.has_started):
        yield from others.pool.map(function, arguments)


@contextmanager
def process_map(workers: int, module: str) -> Iterator[MapAll]:
    """Yield a function `map_all(function, arguments)` that works in `workers` processes.

    `workers` is at least 2. The present process is one of them. The others start at once and import
    `module`, while the caller does other work; they end with the `with` block.

    `map_all` returns at once an iterator over the result of `function` for each argument, in order.
    The present process works when the caller waits for the first result. The caller takes all
    results before it calls `map_all` again. Errors are those of `map_in_processes`.
    """
    with _processes(workers - 1, module) as others:
        for _ in range(workers - 1):
            others.pool.submit(int)  # each task starts a process

        def map_all(
            function: Callable[[Argument], Result], arguments: Sequence[Argument]
        ) -> Iterator[Result]:
            others.taken.value = 0
            with _broken_pool_reported(others.has_started):
                parts = [
                    others.pool.submit(_part_in_process, function, arguments)
                    for _ in range(workers - 1)
                ]
            return _all_parts(function, arguments, others, parts)

        yield map_all


@contextmanager
def _processes(workers: int, module: str = "") -> Iterator[_Processes]:
    """Yield `workers` other processes, which start with their first tasks and import `module`."""
    # Spawn: a forked process may inherit a lock of one of our threads.
    spawn = multiprocessing.get_context("spawn")
    has_started, taken = spawn.RawValue(c_bool), spawn.Value("q")
    before = set(multiprocessing.active_children())
    shared = has_started, taken, module
    pool = ProcessPoolExecutor(workers, spawn, initializer=_start, initargs=shared)
    try:
        yield _Processes(pool, has_started, taken)
    except BaseException:
        for process in set(multiprocessing.active_children()) - before:
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _all_parts(
    function: Callable[[Argument], Result],
    arguments: Sequence[Argument],
    others: _Processes,
    parts: Sequence[Future[dict[int, Result]]],
) -> Iterator[Result]:
    """Compute a part of the results in this process. Yield all results in order.

    `parts` are those of the other processes.
    """
    results = _part(function, arguments, others.taken)
    with _broken_pool_reported(others.has_started):
        for part in parts:
            results |= part.result()
    yield from (results[number] for number in range(len(arguments)))


def _part(
    function: Callable[[Argument], Result], arguments: Sequence[Argument], taken: Any
) -> dict[int, Result]:
    """Return the results for those arguments that this process takes, by number.

    A process takes the next argument when it has computed the last one. So no process waits while
    there are arguments. `taken` counts the arguments that all processes have taken.
    """
    results: dict[int, Result] = {}
    while True:
        with taken:
            number = taken.value
            taken.value += 1
        if number >= len(arguments):
            return results
        results[number] = function(arguments[number])


def _part_in_process(
    function: Callable[[Argument], Result], arguments: Sequence[Argument]
) -> dict[int, Result]:
    return _part(function, arguments, _taken)


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
        hint = "fewer processes need less memory"
        raise InputError(text, hint) from None


def _start(has_started: c_bool, taken: Any, module: str) -> None:
    """Set `has_started`, keep `taken` (`_Processes`), and let this process ignore Ctrl-C.

    Then import `module`, unless it is empty. If the caller's process is killed, this process ends
    too. At its end, this process does not free its objects, for which the caller would wait.
    """
    global _taken
    _taken = taken
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
