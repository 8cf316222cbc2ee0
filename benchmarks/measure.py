"""Measuring: processes with their time and memory, medians, and tables in Markdown.

Times are CPU time, user and system together, of everything measured, so other work on the machine
does not count. This module imports nothing heavy, because a process inherits the greatest memory
size of the process that starts it.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

ROUNDS = 5


@dataclass(frozen=True)
class Cost:
    """The CPU time and the memory that a process took."""

    seconds: float  # user and system
    peak: int  # bytes


def run(command: Sequence[str]) -> Cost:
    """Run a command to its end; its output is lost. Raises `RuntimeError` if it fails."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def side_by_side(
    commands: Mapping[str, Sequence[str]], rounds: int = ROUNDS
) -> dict[str, list[Cost]]:
    """Run each command `rounds` times, one run of each command after the other."""
    found: dict[str, list[Cost]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            found[name].append(run(command))
    return found


def middle(costs: Sequence[Cost]) -> Cost:
    """Return the median of the seconds, and that of the peaks."""
    return Cost(median(x.seconds for x in costs), int(median(x.peak for x in costs)))


def timed(action: Callable[[], object]) -> float:
    """Return the CPU seconds of a call in this process."""
    start = time.process_time()
    action()
    return time.process_time() - start


def output_of(command: Sequence[str]) -> str:
    """Run a command, and return what it prints."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def table(head: Sequence[str], rows: Sequence[Sequence[str]], words: Collection[str] = ()) -> str:
    """Return a Markdown table with the headings `head`.

    All columns are right-aligned but the first one and those whose names are in `words`.
    """
    rules = ["---" if name in words else "---:" for name in head[1:]]
    lines = [head, ["---", *rules], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"
