"""What the demos of the digits networks share: run the test set, compare, print.

A demo gives its program, its images as the program takes them, the logits of its reference and the
number of dense products; it exits with 1 if a logit differs.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.columns import Columns
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

import macaw
from macaw.terminal.progress_bar import ProgressBar

SHADES, SHADES_ASCII = " ░▒▓█", " .:*#"
SHOWN = 8  # images


def draw(image: NDArray[Any], shades: str) -> Text:
    """An 8×8 image of pixels 0 to 16, two characters a pixel."""
    top = len(shades) - 1
    rows = image.reshape(8, 8).astype(int)
    return Text("\n".join("".join(shades[(p * top + 8) // 16] * 2 for p in row) for row in rows))


def gallery(
    images: NDArray[Any], labels: NDArray[Any], digits: NDArray[Any], which: list[int], shades: str
) -> Columns:
    """Images side by side, each with its label and the digit that the device reads."""
    panels = []
    for i in which:
        right = digits[i] == labels[i]
        caption = f"{labels[i]}: read as {digits[i]}"
        style = "green" if right else "bold red"
        panels.append(
            Panel(draw(images[i], shades), subtitle=Text(caption, style), expand=False, padding=0)
        )
    return Columns(panels)


def demonstrate(
    source: Path,
    images: NDArray[Any],
    labels: NDArray[Any],
    expected: NDArray[np.int32],
    dense: int,
) -> int:
    """Run `source` for all groups of images; return 0 if all logits are `expected`, else 1.

    images (runs, images of a run, ...), labels (images,), expected (runs, images of a run, 10);
    dense: products if no zero is skipped.
    """
    console = Console(highlight=False)
    shades = SHADES if (console.encoding or "").lower().startswith("utf") else SHADES_ASCII
    program = macaw.assemble(source)

    begin = time.perf_counter()
    with ProgressBar(f"groups of {images.shape[1]} images", len(images)) as bar:

        def started(index: int, device: object) -> None:
            bar.count = index

        run = macaw.run(program, x=images, on_start=started)
    seconds = time.perf_counter() - begin

    logits = run.outputs["y"]
    different = int((logits != expected).sum())
    digits = logits.argmax(axis=-1).ravel()
    flat = images.reshape(-1, 64)
    wrong = [int(i) for i in np.flatnonzero(digits != labels)]

    config = run.device.config
    pes = config["pe.rows"] * config["pe.clusters"] * config["pe.pes"]
    rows = [values for core, values in run.counters.items() if core.startswith("pe[")]
    done = sum(values["macs"] for values in rows)
    count = labels.size

    array = f"{config['pe.rows']} rows × {config['pe.clusters']} clusters × {config['pe.pes']} PEs"
    device = Path(str(program.device)).stem
    console.print(f"{source.stem} on {device} ({array}) reads its first images:")
    console.print(gallery(flat, labels, digits, list(range(SHOWN)), shades))
    if wrong:
        console.print("And those that it reads wrong:")
        console.print(gallery(flat, labels, digits, wrong[:SHOWN], shades))

    right = count - len(wrong)
    verdict = f"{different:,} of {expected.size:,} logits differ from"
    if not different:
        verdict = f"all {expected.size:,} logits identical to"
    skipped = f"{1 - done / dense:.1%} of {dense:,}: a zero on either side"
    busy = f"of all cycles of {pes} MACs took a product"
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column()
    table.add_row("accuracy", f"{right / count:.2%}  ({right} of {count} images)")
    table.add_row("outputs", f"{verdict} the NumPy integer reference")
    table.add_row("cycles", f"{run.cycles:,}  ({run.cycles / count:.1f} an image)")
    table.add_row("MACs done", f"{done:,}")
    table.add_row("MACs skipped", f"{dense - done:,}  ({skipped})")
    table.add_row("utilisation", f"{done / (run.cycles * pes):.1%}  ({busy})")
    table.add_row("emulated in", f"{seconds:.1f} s here")
    console.print(table)
    return 1 if different else 0
