"""Writes one file of each format: `python -m tests.compatibility.write_files FOLDER`.

The folder of a release is written before the release and never changed later.
"""

from __future__ import annotations

import contextlib
import shutil
import sys
from pathlib import Path

import numpy as np

import macaw
from macaw import samples
from macaw.cli import run_command
from tests.lowering.net.models import ModelBuilder

SAMPLE = Path(samples.__file__).parent / "pe"
EXIT = "        .core cp\n_start: li a0, 0\n        li a7, 93\n        ecall\n"
COMMANDS = (
    ("asm", "golden/layer.s", "-o", "layer.elf"),
    ("test", "--update", "golden"),
    ("profile", "exit.s", "--json", "profile.json"),
    ("debug", "golden", "--batch", "-e", "goto 100", "-e", "save session session.macaw"),
    ("protect", "golden/weights.npy", "-o", "shuffled.npy", "--order", "orders.npy", "--seed", "1"),
    ("sweep", "golden", "--set", "mem.onchip_latency=2,4", "-o", "sweep"),
)  # fmt: skip


def write_files(folder: Path) -> None:
    """Write the files of all formats into a new folder."""
    golden = folder / "golden"
    golden.mkdir(parents=True)
    for name in ("layer.s", "weights.npy", "x.npy"):
        shutil.copyfile(SAMPLE / name, golden / name)
    text = (SAMPLE / "golden.toml").read_text("utf-8")
    (golden / "golden.toml").write_text(f"format = 1\n{text}", "utf-8")
    (folder / "exit.s").write_text(EXIT, "utf-8")
    device = 'format = 1\nname = "slow"\n\n[mem]\nexternal_latency = 40\n'
    (folder / "device.toml").write_text(device, "utf-8")
    with contextlib.chdir(folder):
        for words in COMMANDS:
            if run_command(list(words)):
                raise SystemExit(f"macaw {' '.join(words)} failed")
    builder = ModelBuilder(0, (1, 2, 4, 4))
    builder.flatten()
    builder.gemm("classes", 4)
    network = macaw.compile(builder.model(), name="small")
    network.write(folder / "net")
    image = np.random.default_rng(5).normal(size=(1, 2, 4, 4)).astype(np.float32)
    np.save(folder / "image.npy", image)


if __name__ == "__main__":
    write_files(Path(sys.argv[1]))
