"""Commands without the package onnx: those that need it say so, all others work."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NETWORK = ROOT / "programs" / "network"
LAYER = ROOT / "programs" / "layer"
CODE = """
import json, sys
sys.modules["onnx"] = None  # an import raises ModuleNotFoundError
from macaw.cli import run_command
for words in json.loads(sys.argv[1]):
    print("status", run_command(words), file=sys.stderr)
"""
NET = (str(NETWORK / "net"), "-i", f"image={NETWORK / 'image.npy'}")
MODEL = str(NETWORK / "digits_int8.onnx")
NEEDING_ONNX = {
    "a compiled network": (
        ["run", *NET],
        ["run", "--layers", *NET],
        ["profile", *NET],
        ["annotate", *NET],
        ["debug", "--batch", "-e", "continue", *NET],
        ["sweep", "--set", "cp.alu_cycles=1,2", *NET],
    ),
    "an ONNX model": (
        ["estimate", MODEL],
        ["compile", MODEL],
        ["compile", "--core", "nnp", MODEL],
        ["quantise", MODEL, "--data", str(NETWORK / "image.npy"), "-o", "q.onnx"],
    ),
    "an ONNX graph": (
        ["compile", "--core", "fim", MODEL],
        ["lower", "--target", "fim", MODEL],
    ),
}


def without_onnx(commands: list[list[str]], folder: Path) -> tuple[str, str]:
    """What commands print in a process that cannot import onnx: standard output and error."""
    words = [sys.executable, "-c", CODE, json.dumps(commands)]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout, done.stderr


@pytest.mark.once
def test_commands_that_need_onnx_say_so(tmp_path: Path) -> None:
    cases = [(what, words) for what, commands in NEEDING_ONNX.items() for words in commands]
    _, errors = without_onnx([words for _, words in cases], tmp_path)
    for (what, words), answer in zip(cases, errors.split("status 2\n"), strict=False):
        message = f"macaw: error: {what} needs the package onnx\n"
        assert answer.endswith(f"{message}hint: pip install 'macaw-npu[onnx]'\n"), words
    assert errors.count("status 2\n") == len(cases)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.once
def test_a_sweep_of_a_program_needs_no_onnx(tmp_path: Path) -> None:
    inputs = ["-i", f"x={LAYER / 'x.npy'}"]
    sweep = ["sweep", str(LAYER / "layer.s"), *inputs, "--set", "cp.alu_cycles=1,2"]
    output, errors = without_onnx([sweep], tmp_path)
    assert errors.endswith("status 0\n")
    assert "cp.alu_cycles" in output


@pytest.mark.once
def test_the_public_names_can_be_listed_without_onnx() -> None:
    """As `help(macaw)` lists them; a name that needs onnx is no attribute, and says why."""
    code = """
import inspect, sys
sys.modules["onnx"] = None
import macaw
missing = {*dir(macaw)} - dict(inspect.getmembers(macaw)).keys()
print(*sorted(missing))
print(hasattr(macaw, "sweep"), hasattr(macaw, "compile"), hasattr(macaw, "load_network"))
macaw.CompiledNetwork
"""
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [
        "CompiledNetwork NetworkRun NnpLayer NnpNetwork NnpRun",
        "True True True",
    ]
    assert done.stderr.splitlines()[-1] == (
        "AttributeError: macaw.CompiledNetwork needs the package onnx:"
        " pip install 'macaw-npu[onnx]'"
    )


@pytest.mark.once
def test_the_public_names_can_be_imported_without_onnx() -> None:
    code = """
import sys
sys.modules["onnx"] = None
from macaw import *
print(assemble.__name__, "CompiledNetwork" in globals())
"""
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout == "assemble False\n"
