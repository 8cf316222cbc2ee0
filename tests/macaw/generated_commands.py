"""Generates command lines of `macaw` for small programs, and runs them in a folder.

A command line depends only on the program and the random numbers. What it prints depends on no
folder, no time and no terminal: the widths are in the environment.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

from macaw.isa import config
from tests.macaw.command_runs import run_here
from tests.recorded import shortened
from tests.small_programs import PROGRAMS

WIDTHS = (60, 80, 200)
METRICS = ("cycles", "utilisation", "match", "partial", "blocked", "late", "nothing")
SETTINGS = {  # values that each program can have
    "dma.width": (16, 32, 64),
    "pe.load_queue_1": (2, 4, 8),
    "mem.external_width": (16, 32, 64),
    "mem.external_latency": (5, 20, 80),
}


def prepare(name: str, folder: Path) -> list[str]:
    """Write the files of a program; return the words that name it and its inputs."""
    small = PROGRAMS[name]
    small.write(folder)
    return [small.source, *(word for pair in small.write_inputs(folder) for word in ("-i", pair))]


def device(rng: Random, folder: Path, name: str = "device.toml") -> str:
    """Write a device file that differs from tiny in some settings; return its name."""
    chosen = {key: rng.choice(SETTINGS[key]) for key in SETTINGS if rng.random() < 0.5}
    (folder / name).write_text(config.load("tiny").changed(chosen).to_toml(), "utf-8")
    return name


def profile_options(rng: Random) -> list[str]:
    """Options of `macaw profile`."""
    groups: tuple[tuple[str, ...], ...] = (
        ("--causes",),
        ("--roofline",),
        ("--energy",),
        ("--lines",),
        ("--no-findings",),
        ("--guide",),
        ("--limit", rng.choice(("0", "1", "2", "5", "100"))),
        ("--num", rng.choice(("1", "2", "3", "cp=2", "pe=1", "dma=5"))),
        ("--groups", rng.choice(("1", "2", "4", "7"))),
        ("--goal", f"cycles={rng.choice((0, 100, 217, 275, 332, 598, 5000))}"),
        ("--goal", f"{rng.choice(METRICS)}={rng.choice((0, 0.5, 1))}"),
        ("--threshold", f"{rng.choice(METRICS)}={rng.choice((0, 0.1, 0.99))}"),
        ("--plain",),
        ("--mode", "mark"),
        ("--max-cycles", rng.choice(("1", "100", "1000"))),
        ("--segments", "2", "--jitter", "1"),
        ("--repeat", "2", "--jitter", "3"),
        ("--item", rng.choice(("0", "1"))),
    )
    weights = [3, 3, 2, 2, 3, 2, 4, 3, 2, 2, 2, 2, 1, 1, 1, 2, 1, 1]
    chosen = dict.fromkeys(
        rng.choice([at for at, weight in enumerate(weights) for _ in range(weight)])
        for _ in range(rng.randint(1, 4))
    )
    return [word for at in chosen for word in groups[at]]


def annotate_options(rng: Random) -> list[str]:
    """Options of `macaw annotate`."""
    groups: tuple[tuple[str, ...], ...] = (
        ("--core", rng.choice(("cp", "dma", "vc", "pe", "pe[0]", "nnp", "fim", "fim[0]", "x"))),
        ("--by-core",),
        ("--sort", rng.choice(("cycles", "macs", "bytes", "waits", "x"))),
        ("--limit", rng.choice(("0", "1", "3", "50"))),
        ("--min-percent", rng.choice(("0", "1", "5.5", "50", "100", "101"))),
        ("--context", rng.choice(("0", "1", "9"))),
        ("--plain",),
        ("--max-cycles", rng.choice(("10", "100"))),
    )
    weights = [3, 2, 2, 3, 3, 3, 1, 1]
    chosen = dict.fromkeys(
        rng.choice([at for at, weight in enumerate(weights) for _ in range(weight)])
        for _ in range(rng.randint(0, 3))
    )
    return [word for at in chosen for word in groups[at]]


def run(words: Sequence[str], folder: Path, width: int = 80, lines: int = 24) -> str:
    """Run `macaw`; return its exit status, the words, and what it prints, shortened."""
    done = run_here(words, folder, {"COLUMNS": str(width), "LINES": "40", "NO_COLOR": "1"})
    printed = (done.stdout + done.stderr).replace(str(folder), "FOLDER")
    printed = "\n".join(line.rstrip() for line in printed.splitlines())
    return f"$ macaw {' '.join(words)}  # {width} columns, exit status {done.returncode}\n{shortened(printed, lines)}"
