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

Two of the peers, GNU as and llvm-mc, come from Debian's packages `binutils-riscv64-unknown-elf` and `llvm`. Peers that
are not installed are omitted. The benchmarks are not tests: a build does not fail on a slow machine. `make bench` saves
the results after each benchmark.

All benchmarks measure in the same way:

- Times are CPU time, user and system together, unless a section says wall-clock time. A figure is the median of five
  rounds, unless docs/benchmarks.json has another number of samples for it; each round runs all tools one after another.
- *Whole command* measures a process from its start to its end. *From Python* measures `assemble` and writing the ELF
  file, in a process that has already imported the modules: the first call (*first time*, without caches) and later
  calls (*again*, as in a language server).
- A peer may do less than Macaw: none of the emulators among the peers counts cycles; SciPy and NumPy only compute a
  product that Macaw emulates cycle by cycle. A MAC counts if neither factor is zero.

## This run
"""

GOALS = """A goal is a speed that Macaw should reach. Each goal has several figures. The table shows the worst of them,
which decides whether the goal is *met* or *missed*. *Met when idle* means that this figure meets the goal on an idle
machine, but misses it on a machine with a load of 4. A *floor* is the time that NumPy or the Python interpreter needs
for work that no implementation can omit, measured in the same way, in the units of the goal. In the row *convolution
with bias and K split*, the floor is not such a limit: it is the number of emulated cycles without the split, divided by
that with the split. An emulator that takes the same time for each emulated cycle has this ratio; some layers have a
greater one. The floors of *sparse product* with 80 and 90% zeros include work of the emulator that another emulator
might omit ([floors](#floors)).
"""

PUBLISHED = """## Published figures of other simulators

We did not run the simulators of this table: their figures are from their authors and from other machines.

| simulator | published figure | source, machine | difference |
| --- | --- | --- | --- |
| ONNXim | up to 384 times as fast as Accel-sim | arXiv 2406.08051, abstract; the abstract names no machine | it assumes known cycles for a dense tile, and computes no values; its DRAM and network on chip are cycle-level |

A comparison with Macaw must consider that Macaw computes each value, skips zeros, and counts the cycles within a tile.
We also looked for published times of three more simulators, in their abstracts and README files, but found no time with
the name of the machine on which it was measured:

- STONNE (C++) computes values and compares them with a CPU's.
- SCALE-Sim (Python) computes cycles and memory accesses of systolic arrays.
- PIMSimulator (C++) computes cycles of function units in HBM2 banks, and values, unless it is built without them.
"""

CALIBRATION = """## Calibration

`python -m benchmarks calibration` measures the speed of a machine. It runs a fixed mix of work of the Python
interpreter (integers, attributes, calls, dictionaries, strings) and of NumPy (arithmetic, sorting, indices and sums,
from 64 elements to a million). The machine of the first version of this page has the speed 1.0. To compare absolute
figures of two machines, divide each rate by the machine's speed, and multiply each time by it; the calibrated goals do
so.

Three peers define the speed 1.0 of a machine. On the first machine, bronzebeard assembled 21.6 thousand lines a second
of a source of 10,000 lines. tinyrv emulated 447 thousand instructions a second. SciPy took 4.27, 1.62 and 1.13 ms for
sparse products with 50, 80 and 90% zeros.

`python -m benchmarks.calibration` runs three peers (bronzebeard, tinyrv, SciPy) and the fixed mix of `python -m
benchmarks calibration` on one machine. From that we know how many seconds the mix takes on a machine of the speed 1.0:
0.073 for the interpreter's part, 0.101 for NumPy's (`SECONDS` in benchmarks/calibration.py). Peers of one kind gave
speeds that differed by a factor of up to 1.5, so a speed is accurate to about 25%.
"""

# By case, in the order of the page: its heading and what it measures.
SECTIONS = {
    "calibration": ("The speed of this machine", """\
The seconds that the fixed mix of calibration takes, and the speed that follows from them.
"""),
    "assembling": ("Assembling", """\
The figures are thousands of lines in a second, and bytes of memory for each line. The sources (`benchmarks/sources.py`)
are distinct plain lines: random registers, constants, loads and stores, branches to labels near by, calls,
pseudo-instructions, data, comments. GNU as, llvm-mc and Macaw read the same text and write an executable or object with
line information. bronzebeard gets the same text with its own words for data, and writes no line information. Memory is
the peak of the process minus the peak of the same command on an empty program.

The rows *of an empty program* show what the start of Python and the import of Macaw's modules cost: the rate that the
whole command would have if it did nothing else, divided by llvm-mc's rate. Macaw's whole command cannot reach a higher
rate.
"""),
    "repeating": ("Repeating", """\
The figures are CPU seconds of whole commands on sources whose lines come from `.rept` and macros. Macaw reads the body
of a repetition only once if its bytes follow from its text, from symbols that each pass counts (`.set n, n + 1`) and
from addresses that do not depend on the place of the line. It reads other bodies, for example those with labels, line
by line in each pass. *times* is Macaw's time divided by that of GNU as.
"""),
    "disassembling": ("Disassembling", """\
The rates are thousands of instructions a second, of a program of 100,000 lines.
"""),
    "scalar": ("cp and vc", """\
The rates are thousands of emulated instructions in a second, without tracing. Macaw counts exact cycles at the same
time; none of the peers counts cycles. tinyrv and riscv-model are emulators in Python for the same machine code;
riscv-model gets the code already decoded. py65 emulates a 6502, which does the same work in more and smaller steps.
Unicorn is QEMU's translator.

The cores cp and vc, and the peers, run a loop of ten instructions that reverses an array, with two loads, two stores
and a branch. For vc the array is in external memory. The table *pmac* has thousands of products a second, in a loop of
two loads, a pmac, three sums and a branch, which has 64 passes. The program runs this loop 128 times with the reference
engine and 2,048 times with the fast engine, so that the translation of the loop takes a small share of the time.
"""),
    "array": ("The PE array", """\
The rates are thousands of effective MACs in a second. For Macaw a whole run is measured, including cp and the dma; for
SciPy and NumPy only the product. The products have 1024 inputs, one output for each PE (256 on `base`, 4096 on
`large`), 16 rows of activations, and the given density of both weights and activations. For the lines with `balance`,
this word is added to every mac of the source.

A row of n PEs has n PE cycles in each cycle. *macs at work* is the share of PE cycles in which the PE's cluster
executes a mac. The table *convolution* is for a 3×3 convolution of 56×56×64 to 64 channels, with half of the weights
zero, in a process that lowers it, runs it and compares the result.
"""),
    "network_layers": ("Layers of networks on the array", """\
The rates are millions of dense MACs for each second of CPU time, in whole runs on `base`. Each layer runs in three
forms: without a bias, with a bias, and with a bias and split f. In split f, the clusters of a row divide the inputs and
add their sums. *Split f, ratio of cycles* divides the emulated cycles without split f by those with it.
"""),
    "sparse": ("A product of sparse matrices", """\
The product is 256 × 256 × 256, int8, with the given share of zeros in both operands, lowered for `large` as `macaw
lower spmm` does; the whole run is measured. SciPy computes `csr @ csr` of the same operands (int32). All have the same
result, and the reference engine has the same cycles and counters as the fast one. *Packets* and *lockstep groups* are
sums over the rows of the array: how many packets the rows read, and how many groups the fast engine formed.
"""),
    "engines": ("The engines of the PE array", """\
The figures are microseconds for one emulated cycle of a row, and thousands of effective MACs in a second, while the row
multiplies. Each mac has 512 inputs; the product is repeated eight times in one sequence, and loading is not measured.
The fast engine simulates all clusters of the row together, as one lockstep group (docs/timing-pe.md).
"""),
    "dma": ("The dma", """\
The rates are megabytes for each second of CPU time. cp starts the same transfer again until 256 KiB have been moved.
The emulator executes a transfer beat by beat until the times of the beats form a periodic pattern; from then on, it
executes whole periods together. Two kinds of transfers are always executed beat by beat: transfers whose beats may
overlap, and all transfers while vc, or another core that is not a row of the array, runs.
"""),
    "editing": ("Language server", """\
The figures are milliseconds of wall-clock time between a message of the editor and the diagnostics of the language
server, for a source of 10,000 lines. The edits insert a wrong line at a random place and remove it. The table
*requests* has the time between a request and its answer, just after an edit, for a program of 1,300 lines in four files
(`program_of_four_files` in `benchmarks/sources.py`).
"""),
    "nnp": ("Layers on nnp", """\
The table compares the time to emulate whole programs on the matrix-vector processor nnp, with exact cycles, with the
time of the same layers in NumPy float32 (BLAS with one thread). The processor has N = 128 and uses block floating point
in the multiplier and fp16 elsewhere. The LSTM step has eight products of 2048 × 2048 and four gates; its weights are
loaded before the measurement. The convolution is 1×1, for 56 × 56 positions, from 512 channels to 512, with relu, from
external memory to external memory.
"""),
    "deepbench": ("DeepBench layers of nnp", """\
The table compares the times that the authors of seed 003 published for their processor with those of our timing model
of nnp, on the preset `bw_s10` (250 MHz). All rows use the same pipeline latencies (*depths*), those of the preset. *s*
is the CPU time of the emulation.

`benchmarks/deepbench.py` writes the program of a recurrent layer with all its time steps unrolled. The dma sends the
inputs to NetInQ and takes the hidden state of each step from NetOutQ. The cycles do not depend on the numbers, so all
weight tiles are the same and the inputs are zeros. The cycles for loading the weights are subtracted; the benchmark
measures them with the same program without steps.

TFLOPS are 10^12 operations a second, where the product and the sum of a weight are two operations; padding does not
count. "Of the peak" is their share of what all lanes could do in each cycle. The published row of one step (GRU 512/1)
includes start-up, which the model does not have.

In each time step of a recurrent layer, a chain of instructions at the end computes the hidden state. The program
computes two input products of the next step before this chain, and the other products after it. If all products were
after the chain, the multiplier would wait for the chain. If all were before it, the chain would wait for them in the
multi-function units. For example, on a device that is a tenth as wide as `bw_s10`, a step of GRU 2560/375 takes 741,
694 or 718 cycles with 1, 2 or 3 products before the chain (the parameter `before` of `source` in
benchmarks/deepbench.py; tests/emu/nnp/test_deepbench.py).

The setting `nnp.mapping` decides which tile engine of nnp multiplies which tile of a matrix. The times and rates of the
table are for `tiles`: the tiles go to the engines in turn. The columns *by rows* and *by columns* have the cycles of a
step for the settings `rows` and `columns`, with which the row or the column of a tile in the matrix decides which
engine gets it (docs/timing-nnp.md, "Engines and tiles").

We fitted the pipeline latencies of `bw_s10` by hand, because the publication does not describe the units of its
processor; other latencies would be possible, too. An activation takes 120 cycles, four times as many as an addition
(30). A step of a GRU passes 2 reads, the multiplier, 6 crossbars, 4 additions, 2 activations, 2 multiplications and 3
writes, one after the other. A step of an LSTM has one activation more and one addition less. The large GRU layers are
limited by the multiplier, not by these latencies.
"""),
    "fim": ("A product on islands", """\
The product of a 1024 × 4096 matrix and a vector in fp16 is computed by dots on the 16 banks of island 0 of the preset
`base`. Every product and sum is rounded to fp16, and the timing of the memory is exact. The time of a word does not
depend on data, so the fast engine records the products of many words and computes them together
(`emu/fim/deferred_data.py`). *Million operations/s* counts operations of one circuit with 16 lanes.
"""),
    "resnet50": ("ResNet-50", """\
ResNet-50 is the network of the package onnx with random weights, quantised and compiled for `base`, and run with one
image. Each layer is equal to the reference.
"""),
    "floors": ("Floors", """\
A floor is the time that NumPy or the Python interpreter needs for work that no implementation of Macaw can omit. The
table has it as a share of the peer's time or in the unit of the goal. The rows *outside lockstep groups* are an
exception: they are a floor only for emulators that simulate one row of the array after the other.

- *The loop of cp in plain Python*: the time of a function that only makes the changes of cp's loop to the array and to
  the sum.
- *One NumPy call for each pmac*: how many thousands of products a second NumPy computes with one call for the sixteen
  products of a pmac instruction, without the instruction's permutation and additions.
- *Requests of transfers without bytes*: the time to request the transfers of 1 KiB in the dma benchmark's strided rows,
  without moving their bytes. The contiguous rows need fewer requests, because each of their transfers moves 64 KiB.
- *Convolution with fp16 in and out*: the time of NumPy's product in float32 and of the conversions from and to fp16,
  without block floating point. With mantissas of 16 bits the product is computed *in float64*, because sums of such
  products need more than the 24 bits of float32 to be exact.
- *Products of the LSTM step in float64*: the time of the eight products of 2048 × 2048 matrices and a vector, without
  the gates.
- *Each product of the island rounded to fp16*: the time to compute and round the products, without the sums and their
  roundings.
- *Macs, cp and dma of the sparse product*: the sum of two times. The first is the time in which NumPy computes the sums
  and the numbers of cycles of all macs. The second is the time of a run of the program minus the time in which the
  emulator simulates rows of the array (control units, buses and counters).
- *The sparse product outside lockstep groups*: the sum of two times. The first is again the time of NumPy. The second
  is the time of a run of the program minus the time in which the emulator computes lockstep groups: their detection,
  their cycles, and their sums. What remains is cp, the dma, and the packets, buses and stores of each row, with exact
  cycles. A faster computation of groups cannot get below this time; an emulator that simulates packets and buses of
  several rows at once might.
"""),
    "protection": ("Weight protection", """\
The digits network classifies 80 images on the SIMD core (`programs/digits_protected`), with permuted and with plain
weights. The cycles are those of the core; they are the same on every machine.
"""),
    "tracing": ("Recording", """\
The tables show how much the trace blocks slow down the emulation. *off* is the CPU time of a run with `trace.recording
= false`, in seconds. The other columns are multiples of that time, measured in the same rounds:

- *at rest*: trace blocks that record nothing;
- *one window*: one record of the whole run for each core;
- *as profiled*: the records that `macaw profile` makes (one for each instruction of a core with up to 4,096
  instructions, else about 512 records);
- *groups*: one record for each 1,000 instructions, made by four register groups in turn. In the rows *pe*, *dma* and
  *nnp* there is one record for each instruction: an exe, a transfer or a chain.

With trace blocks *at rest*, the emulator does exactly what it does without recording: it reads `trace.recording` only
when a program starts or stops the timer of a trace block, or sets a parameter of it. The column *at rest* therefore
shows the noise of the measurement. For comparison with goals: a loss of 30% of the speed is 1.43 times the time.

To record fast, the emulator of cp and vc computes the records of a loop from the times of one pass, if all passes take
the same time. If register groups often end in a loop, it translates the loop a second time, to code that can continue
across the end of a group.

The table *8 times as many passes* has longer runs of the loops, to separate two parts of the time that recording adds.
The *constant* part, in milliseconds, does not grow with the number of passes. The *slope* is the time of the further
passes with recording, divided by their time without recording. For *as profiled* the constant is the time of the
records themselves: `macaw profile` makes as many records for a long run as for a short one. For *groups* the constant
is near zero, because longer runs make more records.

In the row of the strided dma, longer runs do not bring the time with recording nearer to the time without it, because
each transfer makes four records: one of the dma, and three for the instructions of cp's loop. The fast engine moves
such a transfer in some tens of microseconds.
"""),
    "debugger": ("Debugging", """\
The figures are milliseconds of CPU time. The table *cp* is for a loop of ten instructions, executed 51,200 times. The
table *digits_mlp* is for this sample program with eighty images. The table *sessions* has checkpoints, steps back, and
interrupts (wall-clock time).
"""),
    "debugger_screen": ("The debugger's screen", """\
The figures are milliseconds of CPU time for the sample digits_mlp, medians of 100 steps of one cycle each. A frame is
the data that the worker thread collects for the visible panels. A redraw is everything from the frame to the characters
sent to the terminal.
"""),
    "causes": ("The first why", """\
The first `why` of a debugging session takes longer than later ones: the debugger runs the program again from the last
checkpoint, and records the steps that made each value. Steps further back may need a record of more of the run, or of
the whole run. Later questions read the same record. The benchmark runs the sample digits_mlp with eighty images to its
end, and asks `why` there.
"""),
    "startup": ("Start", """\
The figures are milliseconds to start a command, medians of 21 runs. Python's standard imports are the modules of the
standard library that `macaw asm` imports.
"""),
    "commands": ("Whole commands", """\
The figures are milliseconds of `macaw run` and `macaw asm` for the program of the README (programs/layer), medians of
11 runs. The peer is Python that only imports numpy and click. Commit 07c9edbe took 4.2 times as long as this peer; the
goal is half the time of that commit.
"""),
    "golden": ("Golden tests in two processes", """\
The figures are wall-clock seconds of `macaw test programs`, which runs all sample programs. Two processes can only be
twice as fast if two processors are idle.
"""),
    "sweeps": ("A sweep in two processes", """\
The figures are wall-clock seconds of `macaw sweep` for the sample digits_mlp.
"""),
    "compiling": ("A compilation in two processes", """\
The figures are wall-clock seconds of `macaw compile` for a chain of 24 convolutions (3×3, 14 × 14 positions, 20 to 112
channels) with random weights, quantised. No two layers have the same shape. Two processes share the search for the
plans of the layers. *At most* is the ratio that they would reach if they shared this search evenly on two idle
processors, and all other work took as long as with one process.
"""),
}  # fmt: skip

END = """## Why goals are missed

- Assembling: code in Python splits, looks up and encodes each plain line. A label (its definition, its symbol in the
  file, its size), a branch, and a line of data or a constant of 32 bits take several times as long as a plain line.
- All rates: if other work runs on the machine, they fall by more than the share of time that this work takes.
- Language server: after an edit, it spends nearly all of its time on assembling the lines again.
- vc: the fast engine computes a loop with few NumPy calls if the loop only loads vector registers and adds products to
  other vector registers. For other vector instructions, the translated code of a loop calls the same functions as the
  reference engine, and only the code around these calls is faster.
- Sparse products with 80 and 90% zeros: they have twice as many tiles as the product with 50% zeros, and the emulator
  spends much of its time on each tile of each row, however few numbers it has. More than a third of this time is
  outside the lockstep groups, and is longer than the goal. A simulation of several rows at once could save it; that
  would be a second implementation of buses and control units.

Words of the field and of Macaw: [glossary.md](glossary.md).
"""
