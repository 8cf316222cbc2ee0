"""`macaw.processes.process_map`: the present process takes part in the work of the others."""

from __future__ import annotations

import multiprocessing
import os
import time
from pathlib import Path

import pytest

from macaw.errors import InputError
from macaw.processes import process_map

pytestmark = pytest.mark.once
COUNT = 12


def slow_square(number: int) -> tuple[int, int]:
    """Return the square and the number of this process."""
    time.sleep(0.05)
    return number * number, os.getpid()


def write_process(path: Path) -> Path:
    """Write the number of this process into a file, which has its name only when it is complete."""
    temporary = path.with_suffix(".tmp")
    temporary.write_text(str(os.getpid()))
    return temporary.replace(path)


def refuse_seven(number: int) -> int:
    if number == 7:
        raise ValueError("seven")
    return number


def end_in_another_process(number: int) -> int:
    if multiprocessing.parent_process() is not None:
        os._exit(1)
    time.sleep(0.2)
    return number


def test_all_processes_work_and_results_are_in_order() -> None:
    with process_map(2, "math") as map_all:
        for _ in range(2):
            squares, processes = zip(*map_all(slow_square, range(COUNT)), strict=True)
            assert squares == tuple(number * number for number in range(COUNT))
            assert os.getpid() in processes
        assert list(map_all(slow_square, [])) == []


def test_another_process_works_before_the_first_result_is_taken(tmp_path: Path) -> None:
    paths = [tmp_path / str(number) for number in range(COUNT)]
    with process_map(2, "math") as map_all:
        results = map_all(write_process, paths)
        deadline = time.monotonic() + 60
        while not paths[0].exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        assert paths[0].read_text() != str(os.getpid())
        assert list(results) == paths


def test_an_error_of_the_function_is_raised_and_the_processes_end() -> None:
    before = set(multiprocessing.active_children())
    with pytest.raises(ValueError, match="seven"), process_map(3, "math") as map_all:
        list(map_all(refuse_seven, range(COUNT)))
    assert set(multiprocessing.active_children()) <= before


def test_a_process_that_is_killed_is_reported() -> None:
    message = "one of several processes was killed"
    with pytest.raises(InputError, match=message), process_map(2, "math") as map_all:
        list(map_all(end_in_another_process, range(COUNT)))
