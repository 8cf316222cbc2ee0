"""The goals of speed as data; docs/benchmarks.md compares them with the figures.

A goal names the figures of a case by their column (and their rows). The worst of them counts. A
calibrated goal is for a machine of speed 1.0: a rate is divided by the machine's speed, a time is
multiplied by it. `limits` says what takes the time; it has no figures, which would age.
"""

from __future__ import annotations

from dataclasses import dataclass

AT_LEAST, AT_MOST = "at least", "at most"
INTERPRETER, NUMPY = "interpreter", "NumPy"  # kinds of work of the calibration


@dataclass(frozen=True)
class Goal:
    """A goal for figures of a case.

    `floor` names (case, row, column) of a figure that limits this one; docs/benchmarks.md says how.
    """

    what: str
    case: str
    column: str
    sense: str
    value: float
    rows: tuple[str, ...] = ()  # empty: all rows that have the column
    table: str = ""
    calibrated: str = ""
    peer: str = ""
    floor: tuple[str, str, str] | None = None
    limits: str = ""


_PYTHON = "macaw, from Python, first time, 100,000 lines"
_PLAIN = "each line is split, looked up and encoded by the interpreter"
GOALS = (
    Goal(
        "assembling from Python, first time, 100,000 lines",
        "assembling",
        "of llvm-mc's rate",
        AT_LEAST,
        0.4,
        (_PYTHON,),
        peer="llvm-mc",
        limits=_PLAIN,
    ),
    Goal(
        "whole command, 10,000 lines",
        "assembling",
        "of llvm-mc's rate",
        AT_LEAST,
        0.18,
        ("macaw asm, 10,000 lines",),
        peer="llvm-mc",
        floor=("assembling", "macaw asm of an empty program, 10,000 lines", "of llvm-mc's rate"),
        limits="the start of Python and its imports",
    ),
    Goal(
        "whole command, 100,000 lines",
        "assembling",
        "of llvm-mc's rate",
        AT_LEAST,
        0.4,
        ("macaw asm, 100,000 lines",),
        peer="llvm-mc",
        floor=("assembling", "macaw asm of an empty program, 100,000 lines", "of llvm-mc's rate"),
        limits=_PLAIN,
    ),
    Goal(
        "macros and `.rept`",
        "repeating",
        "times",
        AT_MOST,
        4,
        peer="GNU as",
        limits="bodies whose bytes differ from round to round are read line by line",
    ),
    Goal(
        "disassembly from Python",
        "disassembling",
        "of llvm-objdump's rate",
        AT_LEAST,
        0.5,
        ("macaw, from Python",),
        peer="llvm-objdump",
        floor=(
            "disassembling",
            "a formatted string for each instruction",
            "of llvm-objdump's rate",
        ),
        limits="a dictionary look-up and a formatted string for each instruction",
    ),
    Goal(
        "cp with exact cycles",
        "scalar",
        "of Unicorn's rate",
        AT_LEAST,
        0.25,
        ("macaw, cp on base",),
        peer="Unicorn, without cycles",
        floor=("floors", "the loop of cp in plain Python", "floor"),
        limits="translated code is Python: each instruction is an expression of the interpreter",
    ),
    Goal(
        "vc, the loop with external memory",
        "scalar",
        "of Unicorn's rate",
        AT_LEAST,
        0.12,
        ("macaw, vc on base, the same loop",),
        peer="Unicorn, without cycles",
        floor=("floors", "the loop of cp in plain Python", "floor"),
        limits="translated code is Python: addresses of external memory are not small integers",
    ),
    Goal(
        "pmac.u8, thousand products a second",
        "scalar",
        "fast",
        AT_LEAST,
        40_000,
        ("u8",),
        "pmac",
        INTERPRETER,
        floor=("floors", "one NumPy call for each pmac", "floor"),
        limits="the interpreter: the instructions around the inner loop, its first and last pass",
    ),
    Goal(
        "sparse product 256³ on `large`, 50% zero",
        "sparse",
        "times",
        AT_MOST,
        40,
        ("50%",),
        peer="SciPy",
        floor=("floors", "macs, cp and dma of the sparse product, 50% zero", "floor"),
        limits="the interpreter: cp, transfers of results, and a lockstep group and its stores for each tile",
    ),
    Goal(
        "sparse product 256³ on `large`, 80% zero",
        "sparse",
        "times",
        AT_MOST,
        60,
        ("80%",),
        peer="SciPy",
        floor=("floors", "the sparse product outside lockstep groups, 80% zero", "floor"),
        limits="the interpreter: cp, transfers of results, and a lockstep group and its stores for each tile",
    ),
    Goal(
        "sparse product 256³ on `large`, 90% zero",
        "sparse",
        "times",
        AT_MOST,
        80,
        ("90%",),
        peer="SciPy",
        floor=("floors", "the sparse product outside lockstep groups, 90% zero", "floor"),
        limits="the interpreter: cp, transfers of results, and a lockstep group for each tile of each row",
    ),
    Goal(
        "convolution with bias",
        "network_layers",
        "bias, ratio",
        AT_LEAST,
        0.8,
        peer="without bias",
        limits="macs that begin with a sum other than zero",
    ),
    Goal(
        "convolution with bias and K split",
        "network_layers",
        "split f, ratio",
        AT_LEAST,
        0.8,
        peer="without bias",
        floor=("network_layers", "ResNet-50, 1×1, 64 → 256 at 28²", "split f, ratio of cycles"),
        limits="the split takes 2.8 times the cycles; each exe that adds sums needs a lockstep group of its own",
    ),
    Goal(
        "engines of the array, all rows",
        "engines",
        "times as fast",
        AT_LEAST,
        10,
        peer="reference engine",
        limits="NumPy calls for each cycle of a row whose PEs do not work in lockstep",
    ),
    Goal(
        "dma, 16 strided rows of 64",
        "dma",
        "of contiguous",
        AT_LEAST,
        0.35,
        ("the same, 16 rows of 64, strided",),
        peer="contiguous, 64 KiB",
        limits="the interpreter: cp requests, the dma starts and ends each transfer of 1 KiB",
        floor=("floors", "requests of transfers without bytes", "floor"),
    ),
    Goal(
        "dma, external to external",
        "dma",
        "of contiguous",
        AT_LEAST,
        0.35,
        ("external to external, 64 KiB",),
        peer="contiguous, 64 KiB",
        limits="the beats that fill and empty the buffer are simulated one by one",
    ),
    Goal(
        "LSTM-2048 step on nnp",
        "nnp",
        "times",
        AT_MOST,
        1.5,
        tuple(f"LSTM step, 2048, {bits} bits" for bits in (16, 8, 5)),
        peer="NumPy float32",
        floor=("floors", "products of the LSTM step in float64", "floor"),
        limits="the memory bandwidth for weights of 16 bits, whose products are exact in float64 only",
    ),
    Goal(
        "1×1 convolution on nnp",
        "nnp",
        "times",
        AT_MOST,
        1.8,
        tuple(f"1×1 convolution, {bits} bits" for bits in (16, 8, 5)),
        peer="NumPy float32",
        floor=("floors", "convolution in float64 with fp16 in and out", "floor"),
        limits="products of 16-bit mantissas, which are exact in float64 only; quantisation and rounding",
    ),
    Goal(
        "product of 1024 × 4096 on an island",
        "fim",
        "times",
        AT_MOST,
        5,
        peer="NumPy fp16",
        floor=("floors", "each product of the island rounded to fp16", "floor"),
        limits="each product and each sum is rounded to fp16",
    ),
    Goal(
        "ResNet-50, one image, s",
        "resnet50",
        "run, s",
        AT_MOST,
        120,
        calibrated=NUMPY,
        limits="the cycles of the array's rows",
    ),
    Goal(
        "first `why y[0,3]` on digits_mlp",
        "causes",
        "times the plain run",
        AT_MOST,
        0.5,
        ("first why y[0,3]",),
        peer="plain run",
        limits="the reference engine repeats the run from the last checkpoint; earlier steps need more",
    ),
    Goal(
        "a frame gathered and redrawn at 200 × 50, ms",
        "debugger_screen",
        "both",
        AT_MOST,
        16,
        ("200 x 50",),
        calibrated=INTERPRETER,
        limits="prompt-toolkit composes every cell of the screen",
    ),
    Goal(
        "language server, an edit in 10,000 lines, ms",
        "editing",
        "ms",
        AT_MOST,
        15,
        ("an edit",),
        calibrated=INTERPRETER,
        limits="the labels and references of all lines, of which only edited ones are read again",
    ),
    Goal(
        "`macaw run layer.s`, whole command",
        "commands",
        "times its peer",
        AT_MOST,
        2.1,
        ("macaw run layer.s",),
        peer="Python, import numpy and click",
        limits="the imports of assembler and emulator",
    ),
    Goal(
        "`macaw test --jobs 2`",
        "golden",
        "times one process",
        AT_LEAST,
        1.8,
        peer="one process",
        limits="the processors are shared with other work",
    ),
    Goal(
        "`macaw sweep --jobs 2`",
        "sweeps",
        "times one process",
        AT_LEAST,
        1.8,
        peer="one process",
        limits="the processors are shared with other work",
    ),
    Goal(
        "`macaw compile --jobs 2`",
        "compiling",
        "times one process",
        AT_LEAST,
        1.8,
        peer="one process",
        limits="one process reads the model and writes the sources; the start of the processes",
        floor=("compiling", "24 convolutions", "at most"),
    ),
)
