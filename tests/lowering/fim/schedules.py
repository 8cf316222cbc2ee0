"""Random graphs with options of random cycles, for tests of the scheduler without islands."""

from __future__ import annotations

import random
from dataclasses import replace

from macaw.lowering.fim.graph import Graph
from macaw.lowering.fim.plan import Option, Refusal


def graph(rng: random.Random, tasks: int) -> Graph:
    """Products of one size, each of which reads one or two earlier tensors."""
    found = Graph()
    there = [found.tensor(name, 4, 4) for name in "ab"]
    for _ in range(tasks):
        recent = there[-3:] if rng.random() < 0.7 else there
        there.append(found.product(rng.choice(recent), rng.choice(there)))
    return found


def asking(seed: int, islands: int = 3, host: bool = True, constants: bool = False):
    """Return a function that gives each unit of tasks random options, equal at each call.

    With `constants`, a part of the cycles to bring is for constants, and units of equal numbers of
    tasks have the same constants.
    """

    def ask(unit, _config):
        rng = random.Random(f"{seed} {[task.output.name for task in unit]}")
        if len(unit) > 2 or (len(unit) == 2 and rng.random() < 0.5):
            return [Refusal(unit, 0, 0, "no room")]
        size = rng.randint(20, 200) * len(unit)
        scale = 0.7 if len(unit) == 2 else 1
        found = [
            Option(
                unit,
                island,
                rng.choice((1, 2)),
                bring=round(size * rng.uniform(0.2, 1) * scale),
                compute=round(size * rng.uniform(0.3, 4) * scale),
                fetch=round(size * rng.uniform(0.1, 0.6) * scale),
                banks=rng.choice((1, 3, 12, 15)),
                buffer=4 * (len(unit) - 1),
            )
            for island in range(islands)
            if rng.random() < 0.7 or not island
        ]
        if constants:
            early = rng.choice((0, 12 * len(unit)))
            placed = [(option.island, option.layout, len(unit)) for option in found]
            found = [
                replace(option, bring=option.bring + early, constants=early, placed=place)
                for option, place in zip(found, placed, strict=True)
            ]
        if host and len(unit) == 1:
            found.append(Option(unit, None, 0, size, rng.choice((0, 3 * size)), 0))
        return found

    return ask
