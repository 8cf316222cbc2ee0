"""Runs in several processes or on a Dask cluster give the profile of runs one after another."""

from __future__ import annotations

import gc
import multiprocessing
import signal
import socket
import sys
from dataclasses import replace
from os import getpid, kill, mkfifo
from pathlib import Path
from subprocess import PIPE, Popen, run
from textwrap import indent
from typing import Any

import pytest

from macaw import clusters
from macaw.errors import InputError
from macaw.execution import configuration_of
from macaw.profiling import jobs, recording
from macaw.profiling.model import Profile
from macaw.profiling.profiler import ProfileOptions, profile
from macaw.profiling.recording import Job, Recording, make_job
from tests.macaw.profile.programs import copies

OPTIONS = ProfileOptions(segments=3, jitter=7)


def made(options: ProfileOptions) -> Profile:
    return profile(copies(6), {}, options)


def a_job() -> Job:
    program = copies(1)
    return make_job(program, configuration_of(program), {})


def test_processes_give_the_same() -> None:
    """Two processes give the same profile as one (seed 001 ¶108)."""
    one, two = made(OPTIONS), made(replace(OPTIONS, workers=2))
    assert one == two
    assert one.merge is not None
    assert len(set(one.merge.runs)) > 1


def test_results_come_in_the_order_of_the_jobs() -> None:
    todo = [a_job().with_jitter(seed) for seed in (3, 1, 2, None)]
    told: list[int] = []
    found = jobs.run_all(todo, watch=told.append, workers=1, scheduler=None)
    assert [item.cycles for item in found] == [
        jobs.run_all([job], workers=1, scheduler=None)[0].cycles for job in todo
    ]
    assert told == [1, 2, 3, 4]


UNGUARDED = """
from macaw.errors import InputError
from macaw.processes import map_in_processes
try:
    print(list(map_in_processes(abs, [1, -2], 2)))
except InputError as error:
    print(error, error.hint, sep="\\n")
"""


def _killed(job: Job) -> Recording:
    kill(getpid(), signal.SIGKILL)
    raise AssertionError(job)


def test_a_process_that_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "run_job", _killed)
    with pytest.raises(InputError, match="one of several processes was killed") as caught:
        jobs.run_all([a_job()] * 2, workers=2, scheduler=None)
    assert caught.value.hint == "fewer processes need less memory"


NOT_STARTED = (
    "none of several processes started: each imports the main module first\n"
    'write the call in a file, below `if __name__ == "__main__":`\n'
)
GUARDED = f"if __name__ == '__main__':\n{indent(UNGUARDED, ' ')}"
SCRIPTS = {
    "without the guard": ("script.py", UNGUARDED, NOT_STARTED),
    "no file": ("-", GUARDED, NOT_STARTED),
    "a file with the guard": ("script.py", GUARDED, "[1, 2]\n"),
}


@pytest.mark.parametrize("case", SCRIPTS)
def test_a_main_module_that_processes_import(case: str, tmp_path: Path) -> None:
    """A process cannot import a main module that starts processes again, or that has no file."""
    word, script, shown = SCRIPTS[case]
    (tmp_path / "script.py").write_text(script)
    words = [sys.executable, word]
    assert run(words, cwd=tmp_path, input=script, stdout=PIPE, text=True).stdout == shown


WAITING = """
import sys, time
from macaw.processes import map_in_processes
def wait(name):
    with open(name, "w") as file:
        print("job", file=file, flush=True)
        time.sleep(600)
if __name__ == "__main__":
    list(map_in_processes(wait, sys.argv[1:], 2))
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_processes_end_after_their_caller_was_killed(number: int, tmp_path: Path) -> None:
    """A pipe ends when the two processes that have opened it for writing have ended."""
    script, pipe = tmp_path / "script.py", tmp_path / "pipe"
    script.write_text(WAITING)
    mkfifo(pipe)
    with Popen([sys.executable, script, pipe, pipe]) as caller, pipe.open() as file:
        assert [file.readline() for _ in range(2)] == ["job\n", "job\n"]
        caller.send_signal(number)
        assert file.read() == ""
    assert caller.returncode == -number


@pytest.fixture
def cluster() -> Any:
    """A Dask cluster in this process: a scheduler with an address, and a worker."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        protocol="tcp",
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
    ) as found:
        yield found


def test_a_dask_cluster_gives_the_same(cluster: Any) -> None:
    """A Dask cluster gives the same profile as this process (seed 001 ¶108)."""
    assert cluster.scheduler_address.startswith("tcp://127.0.0.1:")
    assert made(replace(OPTIONS, scheduler=cluster.scheduler_address)) == made(OPTIONS)


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("tcp://127.0.0.1:1", r"\[Errno 111\] Connection refused"),
        ("127.0.0.1:1", r"\[Errno 111\] Connection refused"),
        ("nonsense", "it is no PROTOCOL://HOST:PORT"),
    ],
)
def test_no_scheduler_answers(address: str, why: str) -> None:
    pytest.importorskip("distributed")
    with pytest.raises(
        InputError, match=f"no Dask scheduler answers at {address}: {why}"
    ) as caught:
        jobs.run_all([a_job()], scheduler=address, workers=1)
    assert "dask scheduler" in caught.value.hint


def test_something_else_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr(clusters, "TIMEOUT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(InputError, match=f"no Dask scheduler answers at {address}: "):
            jobs.run_all([a_job()], scheduler=address, workers=1)


def test_dask_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match="needs Dask, which is not installed") as caught:
        jobs.run_all([a_job()], scheduler="tcp://127.0.0.1:8786", workers=1)
    assert caught.value.hint == "pip install 'macaw-npu[dask]', or use several processes here"
    # Without a scheduler nobody asks for it.
    assert jobs.run_all([a_job()], workers=1, scheduler=None)[0].cycles > 0


def test_a_program_that_does_not_end() -> None:
    with pytest.raises(
        recording.ProfileError, match="the program does not end by itself: cycle limit: 50 cycles"
    ):
        made(ProfileOptions(max_cycles=50))


def test_an_interrupt_ends_the_processes() -> None:
    before = set(multiprocessing.active_children())

    def interrupt(done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        jobs.run_all([a_job()] * 4, workers=2, watch=interrupt, scheduler=None)
    gc.collect()
    for process in set(multiprocessing.active_children()) - before:
        process.join(10)
        assert not process.is_alive()


def test_progress_starts_at_0_and_ends_with_all() -> None:
    told: list[tuple[str, int, int]] = []
    profile(copies(2), {}, OPTIONS, watch=lambda *step: told.append(step))
    for what in dict.fromkeys(name for name, _, _ in told):
        done = [number for name, number, _ in told if name == what]
        assert done[0] == 0, what
        assert done == sorted(done), what
    runs = [step for step in told if step[0] == told[0][0]]
    assert runs[-1][1] == runs[-1][2]
