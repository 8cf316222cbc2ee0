"""Messages about wrong command lines, golden.toml files and arguments are those of files.

`MACAW_GOLDENS=write` writes the files; read them before you keep them.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import macaw
from macaw.errors import InputError
from tests.macaw.generated_commands import prepare, run
from tests.recorded import check
from tests.small_programs import PROGRAMS

pytestmark = pytest.mark.once
RECORDED = Path(__file__).parent / "recorded"
LINES = (
    "", "frob", "--nothing", "--verbose", "asm", "asm none.s", "asm cp.s vc.s", "asm cp.s -o", "asm cp.s -o cp.s",
    "asm cp.s --format x", "asm cp.s --max-errors 0", "asm cp.s --max-errors x", "asm vc.s --device none", "asm vc.s -D 1x=2",
    "asm vc.s -D A=", "asm cp.s --diagnostics x", "dis", "dis cp.s", "dis none.elf", "run", "run none.s", "run vc.s",
    "run vc.s -i x", "run vc.s -i x=none.npy", "run vc.s -i y=input_x.npy", "run vc.s -i x=input_x.npy -i x=input_x.npy",
    "run vc.s -i x=input_x.npy --max-cycles 0", "run vc.s -i x=input_x.npy --max-cycles 10", "run vc.s -i x=input_x.npy --engine x",
    "run vc.s -i x=input_x.npy -o input_x.npy", "run vc.s -i x=input_x.npy --stats", "run vc.s -i x=input_x.npy --json",
    "run vc.s -i x=input_x.npy --jitter -1", "run vc.s --layers", "run cp.s -i x=input_x.npy", "run cp.s", "run cp.s --stats --plain",
    "fmt", "fmt none.s", "fmt cp.s --check", "fmt cp.s --diff", "isa nothing", "isa vadd.b vsum.w", "isa pe mac", "isa --core x add",
    "device none", "device tiny base", "device", "new", "new cp.s", "new a/b --core x", "debug none.s", "debug cp.s -e", "debug cp.s --batch -e nothing",
    "debug cp.s --batch -e 'stepi 2' -e 'print a0'", "debug cp.s --batch --json -e 'stepi x'", "debug vc.s --item 3", "test none", "test .",
    "profile cp.s --limit -1", "profile cp.s --goal cycles", "profile cp.s --goal cycles=-1", "profile cp.s --num 0", "profile cp.s --num x=1",
    "profile cp.s --json a.json --html a.json", "profile cp.s --against none.json", "profile cp.s --layers", "profile cp.s --energy none.toml",
    "annotate cp.s --sort x", "annotate cp.s --min-percent 101", "annotate cp.s --core x", "sweep", "sweep cp.s", "sweep cp.s --lower spmm",
    "lower", "lower nothing", "lower spmm", "compile", "compile none.onnx", "estimate none.onnx", "quantise none.onnx", "concord", "protect",
    "completion x", "help nothing", "help", "lsp --nothing", "dap --nothing", "isa --help", "test --help",
)  # fmt: skip
GOLDEN: tuple[str, ...] = (
    "", "source = 1", "source = []", 'source = "none.s"', 'source = "../cp.s"', 'source = "cp.s"\nformat = 2', 'source = "cp.s"\nformat = "1"',
    'source = "cp.s"\nsouce = 1', 'source = "cp.s"\ninputs = 1', 'source = "cp.s"\n[inputs]\nx = 1', 'source = "cp.s"\n[inputs]\nx = "x.npy"',
    'source = "cp.s"\ndevice = 1', 'source = "cp.s"\ndevice = "none"', 'source = "cp.s"\nmax_cycles = 0', 'source = "cp.s"\nmost_cycles = 1.5',
    'source = "cp.s"\njitter = -1', 'source = "cp.s"\nrecord = []', 'source = "cp.s"\nrecord = ["x"]', 'source = "cp.s"\nrecord = "cycles"',
    'source = "cp.s"\n[expected]\ny = 1', 'source = "cp.s"\n[expected.y]\nfile = "none.npy"\nabsolute = -1', 'source = "cp.s"\n[expected.y]\nunits = 1',
    'source = "cp.s"\n[expected.y]\nfile = "y.npy"\nblock = 4', 'source = "cp.s"\n[expected.y]\nfile = "y.npy"\nbits = 60\nblock = 2',
    'source = "cp.s"\n[expected.z]\nfile = "y.npy"', 'source = "cp.s"\n[expected]\ny = "y.npy"', 'source = "cp.s"\nrecord = ["stdout", "cycles"]', "x = [",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, 0, 1, -1, 2.5, "", "x", b"x", [], {}, (1, 2), np.int8(-1), np.float32(0.5), np.arange(3), "tiny", {"x": 1}, object, 1 << 70, "y" * 99,
)  # fmt: skip


def _lines(part: int, parts: int) -> list[str]:
    return [line for at, line in enumerate(LINES) if at % parts == part]


@pytest.mark.parametrize("part", range(3))
def test_command_lines(part: int, tmp_path: Path) -> None:
    prepare("cp", tmp_path)
    prepare("vc", tmp_path)
    outcomes = {}
    for line in _lines(part, 3):
        words = [word.strip("'") for word in line.replace("'stepi 2'", "stepi_2").replace("'print a0'", "print_a0").replace("'stepi x'", "stepi_x").split()]  # fmt: skip
        words = [
            word.replace("_", " ") if word.startswith(("stepi", "print")) else word
            for word in words
        ]
        outcomes[line] = run(words, tmp_path, lines=12)
    check(RECORDED / f"command_lines_{part}.txt", outcomes)


def test_descriptions_of_golden_tests(tmp_path: Path) -> None:
    PROGRAMS["cp"].write(tmp_path)
    np.save(tmp_path / "y.npy", np.zeros((2, 3), np.int16))
    outcomes = {}
    for text in GOLDEN:
        (tmp_path / "golden.toml").write_text(text, "utf-8")
        outcomes[text.replace("\n", "; ")] = run(["test", "."], tmp_path, lines=12)
    check(RECORDED / "golden_descriptions.txt", outcomes)


def test_arguments_of_public_functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong argument is an InputError with one sentence; no other error leaves a function."""
    monkeypatch.chdir(tmp_path)
    PROGRAMS["vc"].write(Path())
    program = macaw.load("vc.s")
    calls: dict[str, Any] = {
        "load": lambda value: macaw.load(value),
        "load device": lambda value: macaw.load("vc.s", device=value),
        "assemble": lambda value: macaw.assemble(value),
        "run inputs": lambda value: macaw.run(program, value),
        "run x": lambda value: macaw.run(program, x=value),
        "run device": lambda value: macaw.run(program, device=value, x=np.zeros(64, np.int8)),
        "run max_cycles": lambda value: macaw.run(
            program, max_cycles=value, x=np.zeros(64, np.int8)
        ),
        "debug item": lambda value: macaw.debug(program, item=value, x=np.zeros(64, np.int8)),
        "debug engine": lambda value: macaw.debug(program, engine=value, x=np.zeros(64, np.int8)),
    }
    outcomes = {}
    rng = Random("arguments")
    for name, call in calls.items():
        for value in rng.sample(VALUES, 9):
            try:
                call(value)
                text = "accepted"
            except (InputError, macaw.MacawError) as error:
                text = f"{type(error).__name__}: {error}"
            outcomes[f"{name}: {value!r:.60}"] = text
    check(RECORDED / "arguments.txt", outcomes)
