"""`python -m tests.fuzz --target source --count 1000000 --seed 1`: a long session.

Prints the rate while it runs and, for each kind of failure, its first example in reduced form;
`--only N` repeats one example. The exit status is 1 if an example failed.
"""

from __future__ import annotations

import argparse
import math
import resource
import sys
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from tests.fuzz import runner
from tests.fuzz.target import attempt
from tests.fuzz.targets import TARGETS


def _bound_memory(most: int) -> None:
    """Limit the address space; if the process needs more, it gets a MemoryError."""
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _session(
    name: str, count: int, seed: int, seconds: float, first: int = 0, step: int = 1
) -> runner.Result[Any]:
    _bound_memory(TARGETS[name].memory)
    return runner.run(
        TARGETS[name], count, seed, first=first, step=step, seconds=seconds, say=runner.print_now
    )


def _only(name: str, seed: int, number: int) -> int:
    """Show one example, and raise its error if it has one."""
    target = TARGETS[name]
    example = runner.example_of(target, seed, number)
    print(repr(example.data) if len(example.data) < 20_000 else f"{len(example.data)} long")
    error = runner.failure_of(target, example)
    if error is None:
        print(attempt(target, example))
        return 0
    raise error


def main() -> int:
    """Run what the command line asks for; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--target", choices=list(TARGETS), required=True)
    parser.add_argument("--count", type=int, default=10_000, help="examples")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=math.inf, help="stop after so long")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--only", type=int, metavar="N", help="example N alone")
    given = parser.parse_args()
    if given.only is not None:
        return _only(given.target, given.seed, given.only)
    seconds = 60 * given.minutes
    if given.jobs == 1:
        results = [_session(given.target, given.count, given.seed, seconds)]
    else:
        with ProcessPoolExecutor(given.jobs) as pool:
            shares = [
                pool.submit(
                    _session, given.target, given.count, given.seed, seconds, job, given.jobs
                )
                for job in range(given.jobs)
            ]
            results = [share.result() for share in shares]
    total = results[0]
    for other in results[1:]:
        total.outcomes += other.outcomes
        total.failures += other.failures
        total.examples += other.examples
        total.seconds = max(total.seconds, other.seconds)
    print(runner.summary(given.target, total))
    for name, times in total.failures.most_common():
        print(f"  {times} times {name}")
    return 1 if total.failures else 0


if __name__ == "__main__":
    sys.exit(main())
