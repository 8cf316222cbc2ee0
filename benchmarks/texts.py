"""The text of docs/benchmarks.md, which says what each case measures; it contains no figures."""

from __future__ import annotations

HEAD = """# Benchmarks

`make bench` measures Macaw and comparable tools ("peers") in one run on one machine, and writes this page. Nobody edits
it: the figures are those of docs/benchmarks.json, and a test compares the page with that file.

| command | what it does |
|---|---|
| `make bench` | run all benchmarks; install the peers of the extra `bench` first |
| `make bench BENCH="scalar startup"` | run only the named benchmarks |
| `make bench BENCH=--short` | omit the long benchmarks: deepbench, network_layers, resnet50, tracing |
| `make bench BENCH=--resume` | omit the benchmarks that have results of the same commit |
| `make bench BENCH="--load 4"` | repeat the benchmarks that have a goal, beside four busy processes |
| `make bench PYTHON=python3.13` | repeat the benchmarks that have a goal on Python 3.13, for a column of this page |
| `python -m benchmarks --compare OLD.json` | name the figures that became slower by more than the noise |
| `python -m benchmarks --smoke` | run each benchmark once, on small inputs; keep nothing |

GNU as and llvm-mc come from Debian's packages `binutils-riscv64-unknown-elf` and `llvm`. Peers that are not installed
are omitted. The benchmarks are not tests: a build does not fail on a slow machine. `make bench` saves the results after
each benchmark.

How it is measured:

- Times are CPU time, user and system together, unless a section says wall-clock time. A figure is the median of five
  rounds, or of as many rounds as docs/benchmarks.json has samples; each round runs all tools one after another.
- *Whole command* measures a process from its start to its end. *From Python* measures `assemble` and writing the ELF
  file, in a process that has already imported the modules: the first call (*first time*, without caches) and later
  calls (*again*, as in a language server).
- A peer may do less than Macaw: none of the emulators among the peers counts cycles; SciPy and NumPy only compute a
  product that Macaw emulates cycle by cycle. A MAC counts if neither factor is zero.

## This run
"""

GOALS = """Each goal has several figures; the worst of them decides whether the goal is *met* or *missed*, and is shown. *Met when
idle* means that the figure misses the goal on a machine with a load of 4. A *floor* is the time that NumPy or the
interpreter needs for work that no implementation can omit, measured in the same run, in the units of the goal.
"""

PUBLISHED = """## Published figures of other simulators

We did not run these simulators: their figures are from their authors and from other machines.

| simulator | published figure | source, machine | difference |
| --- | --- | --- | --- |
| ONNXim | up to 384 times as fast as Accel-sim | arXiv 2406.08051, abstract; the abstract names no machine | it assumes known cycles for a dense tile, and computes no values; its DRAM and network on chip are cycle-level |

Macaw computes each value, skips zeros, and counts the cycles within a tile. We looked for published times of a
simulation, with the machine, in the abstracts and README files of three more simulators, and found none: STONNE (C++;
computes values and compares them with a CPU's), SCALE-Sim (Python; cycles and memory accesses of systolic arrays) and
PIMSimulator (C++; cycles of function units in HBM2 banks, values, unless it is built without them).
"""

CALIBRATION = """## Calibration

`python -m benchmarks calibration` measures how fast a machine is. It runs a fixed mix of work of the interpreter
(integers, attributes, calls, dictionaries, strings) and of NumPy (arithmetic, sorting, indices and sums, from 64
elements to a million). The machine of the first version of this page has the speed 1.0. Before you compare absolute
figures of two machines, divide rates by the speed, and multiply times by it; the calibrated goals do so.

The speed 1.0 is defined by peers: bronzebeard assembled 21.6 thousand lines a second of a source of 10,000, tinyrv
emulated 447 thousand instructions a second, and SciPy took 4.27, 1.62 and 1.13 ms for sparse products with 50, 80 and
90% zeros. `python -m benchmarks.calibration` runs these peers beside the mix. The seconds that the mix takes at a speed
of 1.0 follow from that: 0.073 and 0.101 (`SECONDS` in benchmarks/calibration.py). Peers of one kind gave speeds that
differed by a factor of up to 1.5, so a speed is accurate to about 25%.
"""

# By case, in the order of the page: its heading and what it measures.
SECTIONS = {
    "calibration": ("The speed of this machine", "Seconds that the mix takes, and the speed computed from them.\n"),
    "assembling": ("Assembling", """\
Thousands of lines in a second, and bytes of memory for each line. The sources (`benchmarks/sources.py`) are distinct
plain lines: random registers, constants, loads and stores, branches to labels near by, calls, pseudo-instructions,
data, comments. GNU as, llvm-mc and Macaw read the same text and write an executable or object with line information.
bronzebeard gets the same text with its own words for data, and writes no line information. Memory is the peak of the
process minus the peak of the same command on an empty program. The rows *of an empty program* are an upper bound for
Macaw's whole command: its rate if it only started Python and imported its modules, as a share of llvm-mc's rate.
"""),
    "repeating": ("Repeating", """\
CPU seconds of whole commands on sources whose lines come from `.rept` and macros. Macaw reads a body once if its bytes
follow from its text, from symbols that each pass counts (`.set n, n + 1`) and from addresses that do not depend on the
place of the line. It reads other bodies, for example those with labels, line by line in each pass. *times* is Macaw's
time divided by that of GNU as.
"""),
    "disassembling": ("Disassembling", "Thousands of instructions a second of a program of 100,000 lines.\n"),
    "scalar": ("cp and vc", """\
Thousands of instructions in a second, without tracing. Macaw counts exact cycles at the same time; none of the peers
counts cycles. The loop of ten instructions reverses an array with two loads, two stores and a branch. For vc the array
is in external memory. tinyrv and riscv-model are emulators in Python for the same machine code; riscv-model gets the
code already decoded. py65 emulates a 6502, which does the same work in more and smaller steps. Unicorn is QEMU's
translator. The table *pmac* has thousands of products a second, in a loop of two loads, a pmac, three sums and a
branch, which has 64 passes. The fast engine runs the loop more often, so that its translation takes a small share.
"""),
    "array": ("The PE array", """\
Thousands of effective MACs in a second. For Macaw a whole run is measured, including cp and the dma; for SciPy and
NumPy only the product. The products have 1024 inputs, one output for each PE (256 on `base`, 4096 on `large`), 16 rows
of activations, and the given density of both weights and activations. For the lines with `balance`, this word is added
to every mac of the source. A row of n PEs does n PE cycles in each cycle; *macs at work* is the share of PE cycles in
which the cluster multiplies. The table *convolution* is for a 3×3 convolution of 56×56×64 to 64 channels, with half of
the weights zero, in a process that lowers it, runs it and compares the result.
"""),
    "network_layers": ("Layers of networks on the array", """\
Million dense MACs for each second of CPU time of whole runs on `base`, without a bias, with a bias, and with a bias and
the inputs split over the clusters, which add their sums (split f). *Split f, ratio of cycles* divides the emulated
cycles without the split by those with it.
"""),
    "sparse": ("A product of sparse matrices", """\
The product is 256 × 256 × 256, int8, with the given share of zeros in both operands, lowered for `large` as `macaw
lower spmm` does; the whole run is measured. SciPy computes `csr @ csr` of the same operands (int32). All have the same
result, and the reference engine has the same cycles and counters as the fast one.
"""),
    "engines": ("The engines of the PE array", """\
Microseconds for one cycle of a row, and thousands of effective MACs in a second, while the row multiplies. Each mac has
512 inputs; the product is repeated eight times in one sequence, and loading is not measured. The fast engine simulates
all clusters as one lockstep group.
"""),
    "dma": ("The dma", """\
Megabytes for each second of CPU time. cp starts the same transfer again until 256 KiB have been moved. A transfer
between local and external memory, or within one of them, is emulated beat by beat until the times of the beats form a
periodic pattern; from then on, whole periods are done together. Two kinds of transfers are always emulated beat by
beat: transfers whose beats may overlap, and all transfers while vc, or another core that is not a row of the array,
runs.
"""),
    "editing": ("Language server", """\
Milliseconds of wall-clock time between a message and the diagnostics, for a source of 10,000 lines. The edits insert a
wrong line at a random place and remove it. The table *requests* has the time between a request and its answer, just
after an edit, for a program of 1,300 lines in four files (`program_of_four_files` in `benchmarks/sources.py`).
"""),
    "nnp": ("Layers on nnp", """\
The time to emulate whole programs on the matrix-vector processor, with exact cycles, and that of the same layers in
NumPy float32 (BLAS with one thread). The processor has N = 128 and uses block floating point in the multiplier and fp16
elsewhere. The LSTM step has eight products of 2048 × 2048 and four gates; its weights are loaded before the
measurement. The convolution is 1×1, for 56 × 56 positions, from 512 channels to 512, with relu, from external memory to
external memory.
"""),
    "deepbench": ("DeepBench layers of nnp", """\
The times that the authors of seed 003 published for their processor, and those of our timing model on the preset
`bw_s10` (250 MHz); all rows use the one set of depths (pipeline latencies) in the preset. *s* is the CPU time of the
emulation.

`benchmarks/deepbench.py` writes a layer's program with all its steps unrolled. The dma sends the inputs to NetInQ and
takes the hidden state of each step from NetOutQ. The cycles do not depend on the numbers, so all weight tiles are the
same and the inputs are zeros. The same program without steps only loads weights; its cycles are subtracted. TFLOPS are
10^12 operations a second, where the product and the sum of a weight are two operations; padding does not count. "Of the
peak" is their share of what all lanes could do in each cycle. The published row of one step (GRU 512/1) includes
start-up, which the model does not have.

A chain at the end of a step computes its hidden state. The program computes two input products of the next step before
this chain, and the other products after it. If all products were after the chain, the multiplier would wait for the
chain. If all were before it, the chain would wait for them in the multi-function units. On a device that is a tenth as
wide as `bw_s10`, a step of GRU 2560/375 takes 741, 694 or 718 cycles with 1, 2 or 3 products before the chain (the
parameter `before` of `source` in benchmarks/deepbench.py; tests/emu/nnp/test_deepbench.py).

The tiles of a matrix go to the tile engines in turn (`nnp.mapping` is `tiles`). The columns *by rows* and *by columns*
have the cycles of a step if the row or the column of a tile decides which engine multiplies it (`nnp.mapping` is `rows`
or `columns`; docs/timing-nnp.md, "Engines and tiles"). *s*, *our ms* and the rates are those of `tiles`.

The depths were fitted by hand. A step of a GRU passes 2 reads, the multiplier, 6 crossbars, 4 additions, 2 activations,
2 multiplications and 3 writes, one after the other. A step of an LSTM has one activation more and one addition less.
The large GRU layers are limited by the multiplier, not by these latencies. An activation takes 120 cycles, four times
as many as an addition (30). The units of the published processor are not described, so other depths would be possible
too.
"""),
    "fim": ("A product on islands", """\
The product of a 1024 × 4096 matrix and a vector in fp16 is computed by dots on the 16 banks of island 0 of the preset
`base`. Every product and sum is rounded to fp16, and the timing of the memory is exact. The time of a word does not
depend on data, so the fast engine records the products of many words and computes them together
(`emu/fim/deferred_data.py`). *Million operations/s* counts operations of one circuit with 16 lanes.
"""),
    "resnet50": ("ResNet-50", """\
The network of the package onnx with random weights, quantised and compiled for `base`, and run with one image. Each
layer is equal to the reference.
"""),
    "floors": ("Floors", """\
The time that NumPy or the interpreter needs for work that no implementation can omit, as a share of the peer's time or
in the unit of the goal.

- *The loop of cp in plain Python*: a function that only makes the changes of cp's loop to the array and to the sum.
- *One NumPy call for each pmac*: sixteen products (thousands of products a second); a pmac also permutes, and adds.
- *Requests of transfers without bytes*: as many transfers as the strided rows need, beside the contiguous transfers.
- *Convolution with fp16 in and out*: NumPy's product in float32 with the conversions, without block floating point.
  Sums of products of 16-bit mantissas need more than 24 digits: they are exact *in float64* only.
- *Products of the LSTM step in float64*: the eight products of 2048 × 2048 matrices and a vector, without the gates.
- *Each product of the island rounded to fp16*: without the sums and their roundings.
- *Macs, cp and dma of the sparse product*: the sums and the cycles of all macs, by NumPy, and a run of the program
  without the time in which rows of the array simulate cycles: without their control units, buses and counters.
"""),
    "protection": ("Weight protection", """\
The digits network classifies 80 images on the SIMD core (`programs/digits_protected`), with permuted and with plain
weights. The cycles are those of the core; they are the same on every machine.
"""),
    "tracing": ("Recording", """\
How much the trace blocks slow down the emulation. *off* is the CPU time of a run with `trace.recording = false`, in
seconds. The other columns are multiples of that time, measured side by side:

- *at rest*: blocks that record nothing;
- *one window*: the whole run in one group of each core;
- *as profiled*: the records that `macaw profile` makes (one for each instruction of a core with up to 4,096
  instructions, else about 512 records);
- *groups*: one record for each 1,000 instructions, made by four register groups in turn. In the rows *pe*, *dma* and
  *nnp* there is one record for each instruction: an exe, a transfer or a chain.

The emulator reads `trace.recording` only when the timer or a parameter changes. So a run at rest does exactly what a
run without recording does, and its column shows the noise of the measurement. A loss of 30% of the speed is 1.43 times
the time. If all passes of a loop take the same time, the emulator computes the records from the times of one pass. If
groups often end in another loop, the emulator translates that loop twice: the second code continues across the end of a
group.

The table *8 times as many passes* has longer runs of the loops. A recording adds time to both runs; the line through
both added times has a *constant* part, in milliseconds, which does not grow with the passes, and a *slope*: how many
times as long the further passes take. For *as profiled* the constant is the time of the records themselves: `macaw
profile` makes as many of them for a long run as for a short one. For *groups* it is near zero, because longer runs make
more records. Code that counts is translated in place of code that does not, so its translation adds time only if a loop
is translated twice. In the row of the strided dma, four records are made for each transfer, which the fast engine moves
in some tens of microseconds: one for the transfer and three for the instructions of cp's loop. A longer run has as many
records for each transfer, so its ratio is not lower.
"""),
    "debugger": ("Debugging", """\
Milliseconds of CPU time. The table *cp* is for a loop of ten instructions, executed 51,200 times; *digits_mlp* for that
sample with eighty images; *sessions* has checkpoints, steps back, and interrupts (wall-clock time).
"""),
    "debugger_screen": ("The debugger's screen", """\
Milliseconds of CPU time for the sample digits_mlp, medians of 100 steps of one cycle each. A frame is the data that the
worker collects for the visible panels. A redraw is everything from the frame to the characters sent to the terminal.
"""),
    "causes": ("The first why", """\
The first `why` of a session records the end of the run again, from the last checkpoint on. Steps further back may need
a record of more of the run, or of the whole run. Later questions read the same record. The sample is digits_mlp with
eighty images, at its end.
"""),
    "startup": ("Start", """\
Milliseconds, as medians of 21 runs. Python's standard imports are the modules of the standard library that `macaw asm`
imports.
"""),
    "commands": ("Whole commands", """\
Milliseconds of `macaw run` and `macaw asm` of the program of the README (programs/layer), as medians of 11 runs. The
goal is half of 4.2 times the peer's time; commit 07c9edbe took 4.2 times.
"""),
    "golden": ("Golden tests in two processes", """\
Wall-clock seconds of `macaw test programs`, all sample programs. Two processes can only be twice as fast if two
processors are idle.
"""),
    "sweeps": ("A sweep in two processes", "Wall-clock seconds of `macaw sweep` of digits_mlp.\n"),
    "compiling": ("A compilation in two processes", """\
Wall-clock seconds of `macaw compile` of a chain of 24 convolutions (3×3, 14 × 14 positions, 20 to 112 channels) with
random weights, quantised. No two layers have the same shape. The search for the plans of the layers takes more than
nine tenths of the time; two processes share it, and can only be twice as fast if two processors are idle.
"""),
}  # fmt: skip

END = """## Why goals are missed

- A plain line that is assembled is split, looked up and encoded by the interpreter; a label (its definition, its symbol
  in the file, its size), a branch, and a line of data or a constant of 32 bits take several times as long.
- If other work runs on the machine, rates fall by more than the share of time that this work takes.
- After an edit, the language server spends nearly all of its time on assembling the lines again.
- A loop of vc that only loads vector registers and adds products to others is computed with few NumPy calls. Other
  vector instructions are not specialised: translated code calls the interpreter's functions for them, and only the code
  around these calls is faster than in the interpreter.

Words of the field and of Macaw: [glossary.md](glossary.md).
"""
