"""Compares emulator and software: `python -m tests.lowering.concord --count 2000 --seed 1`.

Each random program is converted for each target (all four, or those of `--target`). Its results for
random tensors are compared with the emulator's. The exit status is 1 if a bit differs. `--all` goes
on after a difference; only the first differing program is printed.
"""

import argparse
import os
import sys
import time
from collections import Counter

import numpy as np

from macaw import api
from macaw.asm.source import Source
from macaw.concordance import concordance
from macaw.concordance.generated_file import same_bits
from macaw.errors import InputError, RunError
from macaw.lowering.concord.arithmetic import TARGETS
from tests.lowering.concord import programs

SEEDS = 1 << 20  # programs of a seed


def one(number, targets, seconds):
    """Try one program; return the outcome, the number of compared elements, and its text.

    The outcome is "equal", "differs", "refused" or "faults". `seconds` gets the time of the
    software.
    """
    rng = np.random.default_rng(number)
    config = programs.device(rng)
    chains, repeats = programs.lengths(rng)
    text = programs.program(rng, config, chains, repeats)
    program = api.assemble(Source(text, f"random{number}.s"), device=config)
    data, emulated = None, {}
    for target in targets:
        try:
            found = concordance.concord(program, target)
        except InputError as error:
            return "refused", 0, f"{error}\n{text}"
        if data is None:
            data = programs.tensors(rng, found)
            try:
                emulated = found.emulate(data)
            except RunError:  # a NaN at a quantiser, a sum that leaves the accumulator
                return "faults", 0, text
        start = time.perf_counter()
        given = found.run(data)
        seconds[target] += time.perf_counter() - start
        for name, array in emulated.items():
            if not same_bits(array, given[name]).all():
                return "differs", 0, f"{target}: {name} differs\n{text}"
    return "equal", sum(array.size for array in emulated.values()), text


def main(arguments):
    """Run the programs; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.lowering.concord")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--target", action="append", choices=TARGETS)
    parser.add_argument("--all", action="store_true")
    given = parser.parse_args(arguments)
    targets = given.target or TARGETS
    seconds, elements = dict.fromkeys(targets, 0.0), 0
    became: Counter[str] = Counter()
    differing = []
    for place in range(given.count):
        number = given.seed * SEEDS + place
        what, size, text = one(number, targets, seconds)
        became[what] += 1
        elements += size
        if what == "differs":
            differing.append(place)
            if len(differing) == 1:
                print(f"program {place}, {text}")
            if not given.all:
                break
    print(
        f"{sum(became.values())} random programs: {became['equal']} equal in {elements} elements,"
        f" {became['refused']} refused, {became['faults']} fault, {became['differs']} differ"
    )
    if differing:
        print("differ:", *differing)
    for target in targets:
        print(f"    {target:<11} {seconds[target]:6.1f} s")
    return int(bool(differing))


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    sys.exit(main(sys.argv[1:]))
