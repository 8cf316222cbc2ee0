"""The digits perceptron with its weights in a random order, on the emulated SIMD core.

Draws new orders, compares every logit with the plain network's, shows what the weights
are worth without their orders, and what each scope costs. Exits with 1 if a logit differs.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parent))
import protected

import macaw
from macaw.terminal.progress_bar import ProgressBar

THIEVES = 20


def right(run: macaw.Run, labels: NDArray[np.uint8]) -> float:
    """The share of images that the run reads right."""
    return float((run.outputs["y"].argmax(axis=-1) == labels).mean())


def row(name: str, found: macaw.Protection | None, run: macaw.Run, plain: macaw.Run) -> list[str]:
    """A row of the table: a scope, its orders, how many orders are possible, and its cycles."""
    more = run.cycles - plain.cycles
    scope = str(found.layout.scope) if found else name
    orders = f"{len(found.order)}" if found else ""
    bits = f"2^{found.bits:,.0f}" if found else ""
    price = f"{more:+,} ({more / plain.cycles:+.2%})" if found else ""
    return [scope, orders, bits, f"{run.cycles:,}", price]


def main() -> int:
    """Run all programs; return 0 if every output is the plain network's, else 1."""
    console = Console(highlight=False)
    images, labels = protected.reference.load_test_set()
    expected = protected.reference.forward(images)
    table = Table(box=None, pad_edge=False)
    for title in ("scope", "orders", "possible", "cycles of 80 images", "more than plain"):
        table.add_column(title, justify="left" if title == "scope" else "right")
    different = 0
    accuracies = []
    with ProgressBar("groups of 80 images", 2 * len(images) + 3 + THIEVES) as bar:
        # Plain and protected on the whole test set, the other scopes on a group of it.
        plain = protected.program("plain")
        whole = protected.run(plain, protected.plain_inputs(), images)
        different += int((whole.outputs["y"] != expected).sum())
        bar.count += len(images)
        one = protected.run(plain, protected.plain_inputs(), images[0])
        table.add_row(*row("plain", None, one, one))
        for name in protected.SCOPES:
            program, found = protected.program(name), protected.protect(name)
            values = protected.inputs(found)
            if name == "net":
                every = protected.run(program, values, images)
                different += int((every.outputs["y"] != whole.outputs["y"]).sum())
                bar.count += len(images)
            run = protected.run(program, values, images[0])
            different += int((run.outputs["y"] != expected[0]).sum())
            bar.count += 1
            table.add_row(*row(name, found, run, one))
        # Somebody has the program and the shuffled weights, and tries orders.
        program, found = protected.program("net"), protected.protect("net")
        for thief in range(THIEVES):
            guess = protected.inputs(found, protected.protect("net").order)
            group = thief % len(images)
            accuracies.append(right(protected.run(program, guess, images[group]), labels[group]))
            bar.count += 1
    verdict = f"{different:,} logits differ from" if different else "every logit is that of"
    console.print(f"digits_protected on {plain.device}: {verdict} the plain network\n")
    console.print(f"accuracy of the plain network         {right(whole, labels):.2%}")
    console.print(f"with weights in a random order        {right(every, labels):.2%}")
    mean, best = np.mean(accuracies), max(accuracies)
    console.print(f"with wrong orders, mean of {THIEVES}         {mean:.2%}  (best {best:.2%})\n")
    console.print(table)
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
