"""The packets and steps of `pe_timed`, a model of the time of packet lists.

What an exe computes enters only as flags and counts: which activations of a mac are not zero, and
how many PEs have results for a special function or a store.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.emu.pe_untimed import BLOCKS, Exe, Program

ALL_SUMS = frozenset(range(4))
Names = frozenset[int]
NONE: Names = frozenset()
Span = tuple[int, int]  # the least and the greatest value of an operand over the PEs


@dataclass(frozen=True)
class Data:
    """A segment of an exe: its kind, its place in memory, and its bytes.

    `entries` has, for each cluster of the packet and each PE, the number of weights, and `greatest`
    the greatest index of the weights of each cluster. `dense` weights have no indices. Each PE gets
    `elements` activations or partial sums.
    """

    kind: str
    offset: int
    length: int
    entries: Sequence[Sequence[int]] = ()
    greatest: Sequence[int] = ()
    dense: bool = False
    elements: int = 0


@dataclass(frozen=True)
class Config:
    """A packet that stores a sequence in an instruction buffer of all clusters.

    `segments` has place and length of the sequence, and perhaps of scales and a table.
    """

    program: Program
    segments: Sequence[tuple[int, int]]


@dataclass(frozen=True)
class Work:
    """An exe packet with its segments.

    `hits` has the macs of each of its clusters in their order: for each PE, a flag for each weight
    entry, whether its activation is not zero. `readers` has the number of PEs with results for each
    decoupled special function of a cluster, `writers` the PEs that write in each store.
    """

    exe: Exe
    segments: Sequence[Data]
    hits: Sequence[Sequence[Sequence[Sequence[bool]]]]
    readers: Sequence[Sequence[int]]
    writers: Sequence[Sequence[Sequence[int]]]


@dataclass(frozen=True)
class Sizes:
    """The sizes of a row. `first` is the cycle of the first beat of a list, in the row's cycles."""

    clusters: int
    pes: int
    inputs: int
    outputs: int
    weights: int
    width: int  # bytes of a beat
    design: str
    queue_1: int
    queue_2: int
    threshold: int
    rate: int
    latency: int
    first: int
    divider: int
    banks: int
    bank_width: int


@dataclass(eq=False)
class Step:
    """One execution of an instruction, or a step that follows from the flags of the exe."""

    place: int
    unit: str  # ld, mac, spu, st, or none
    explicit: bool = True
    streams: bool = False
    segments: list[int] = field(default_factory=list)
    sums: Names = NONE
    results: Names = NONE  # blocks of the output queue
    fills: Names = NONE  # blocks of the input buffer
    base: Span = (0, 0)
    cycles: int = 1
    chained: bool = False  # the special function copies the accumulator at its start
    results_of_each: int = 0  # what a decoupled special function takes of each PE
    number: int = 0  # of a mac, a decoupled function or a store of the run
    start: int | None = None
    end: int | None = None
    first_beat: int | None = None
    last_beat: int | None = None
    beats: list[list[int]] = field(default_factory=list)  # words that a store has left to write

    def ended(self, now: int) -> bool:
        return self.end is not None and self.end < now

    def uses(self, now: int) -> Names:
        """The accumulators that the step uses in a cycle."""
        copied = self.chained and self.start is not None and self.start < now
        return NONE if copied else self.sums


@dataclass(eq=False)
class Run:
    """The execution of an exe in one cluster."""

    work: Work
    order: int
    cluster: int
    rank: int  # of the cluster among those of the exe
    entries: list[int]
    issue: dict[bool, int] = field(default_factory=dict)  # earliest start, by `Step.streams`
    link: int = 0  # how many buffers of the chain have ended
    iteration: int = 0
    taken: int = 0
    looped: bool = False
    reserves: bool = False
    has_weights: bool = False
    steps: list[Step] = field(default_factory=list)
    written: dict[int, int] = field(default_factory=dict)  # cycle of WB, by place
    greatest: int = -1
    macs: int = 0
    functions: int = 0
    stores: int = 0
    stored: int = 0  # elements of each PE

    @property
    def program(self) -> Program:
        return self.work.exe.chain[self.link]

    @property
    def following(self) -> tuple[Program, ...]:
        """The programs that the present one triggers, in their order."""
        return self.work.exe.chain[self.link + 1 :]

    @property
    def live(self) -> bool:
        return bool(self.issue)

    @property
    def buffers(self) -> set[int]:
        """The instruction buffers that the run still needs."""
        return {program.buffer for program in self.work.exe.chain[self.link :]}


def iterations_of(program: Program) -> int:
    return program.of("inner") * program.of("outer")


def blocks(span: Span, size: int) -> Names:
    """The blocks of the entries from the first to the last of a span."""
    first, last = max(span[0], 0), min(span[1], BLOCKS * size - 1)
    return frozenset(range(first // size, last // size + 1))


class Sequencer:
    """The steps of a program in a cluster, by the rules of *Loops* and *Results*."""

    def __init__(self, sizes: Sizes, work: Work, program: Program, cluster: int) -> None:
        self.sizes, self.work, self.program, self.cluster = sizes, work, program, cluster
        self.words = [line.split() for line in program.lines]
        self.last_mac = max((i for i, w in enumerate(self.words) if w[0] == "mac"), default=-1)
        self.moves = any(word[0] == "spu" for word in self.words)
        exe = work.exe
        self.skips, self.raw = not exe.shift and not exe.last, bool(exe.shift and not exe.last)
        self.streams = bool(exe.shift and exe.last)
        self.count = max(exe.count, 1)
        self.input_size, self.output_size = sizes.inputs // BLOCKS, sizes.outputs // BLOCKS
        self.scalar = program.of("reduction") > 2

    def operand(self, place: int, which: int, n: int) -> int:
        """An operand of PE 0 in iteration n, in entries."""
        word = self.words[place]
        named = dict(part.split("=") for part in word if "=" in part)
        names = (("base", "src"), ("acc", "dst"))[which]
        value = next((int(named[name]) for name in names if name in named), 0)
        if which == 0 and (word[0] == "mac" or word[:2] in (["ld", "activations"], ["ld", "both"])):
            value *= self.input_size
        elif word[0] in ("st", "ld") or (word[0] == "spu" and not self.is_number(word, which)):
            value *= self.output_size
        inner, outer = self.program.steps.get((place, which), (0, 0))
        _, apart = self.program.strides.get((place, which), (0, 0))
        return value + n * inner + n // self.program.of("inner") * outer + self.cluster * apart

    def is_number(self, word: Sequence[str], which: int) -> bool:
        """Whether an operand of an spu is the number of an accumulator."""
        return word[1] == "nonsf" if which == 0 else word[1] == "reduce" and self.scalar

    def span(self, place: int, which: int, n: int) -> Span:
        """The least and the greatest value of an operand over the PEs."""
        value = self.operand(place, which, n)
        each, _ = self.program.strides.get((place, which), (0, 0))
        other = value + each * (self.sizes.pes - 1)
        return min(value, other), max(value, other)

    def results(self, span: Span, count: int) -> Names:
        return blocks((span[0], span[1] + count - 1), self.output_size)

    def steps(self, n: int, taken: int) -> tuple[list[Step], int]:
        """The steps of iteration n, and the number of the first segment that is left after it."""
        steps: list[Step] = []
        line: list[int] = []  # accumulators that chained functions will take
        taken_from_line: dict[int, int] = {}
        for place, word in enumerate(self.words):  # the spus that take an accumulator of the line
            if word[0] == "mac" and "sfu" in word:
                number = self.operand(place, 1, n)
                line += [number] * (number not in line)
            elif word[0] == "spu" and not (place > self.last_mac and self.skips):
                if word[1] == "nonsf":
                    line = [x for x in line if x != self.operand(place, 0, n)]
                elif line:
                    taken_from_line[place] = line.pop(0)
        for place, word in enumerate(self.words):
            after = place > self.last_mac
            if word[0] == "ld":
                step, taken = self.load(place, word[1], n, taken)
                steps.append(step)
            elif word[0] == "mac":
                sums = frozenset([self.operand(place, 1, n)])
                steps.append(Step(place, "mac", sums=sums, base=self.span(place, 0, n)))
                if place == self.last_mac and not self.moves and not self.skips:
                    for acc in sorted({next(iter(s.sums)) for s in steps if s.unit == "mac"}):
                        steps += self.implied_move(place, acc, acc in line and not self.raw)
            elif after and self.skips:
                continue
            elif word[0] == "spu":
                steps += self.special(place, n, taken_from_line)
            elif not (after and self.streams):
                steps.append(
                    Step(place, "st", results=self.results(self.span(place, 0, n), self.count))
                )
        return steps, taken

    def implied_move(self, place: int, acc: int, function: bool) -> list[Step]:
        """The move of an accumulator that a sequence without spu implies, and its stream."""
        at = acc * self.output_size
        cycles = self.function_cycles(self.sizes.pes) if function else 1
        move = Step(place, "spu", False, sums=frozenset([acc]), cycles=cycles, chained=function)
        move.results = self.results((at, at), 1)
        return [move, *self.stream(place, (at, at))]

    def stream(self, place: int, span: Span) -> list[Step]:
        """The store of results, if they are streamed."""
        if not self.streams:
            return []
        return [Step(place, "st", False, True, results=self.results(span, self.count))]

    def function_cycles(self, results: int) -> int:
        """How long a special function takes for results of all PEs."""
        return -(-results // self.sizes.rate) + self.sizes.latency - 1

    def load(self, place: int, kind: str, n: int, taken: int) -> tuple[Step, int]:
        segments, span = self.work.segments, self.span(place, 0, n)
        step = Step(place, "ld")
        if kind == "psums":
            step.sums, step.results = ALL_SUMS, self.results(span, 4)
            if taken < len(segments) and segments[taken].kind == "psums":
                step.segments = [taken]
                step.sums = frozenset(range(segments[taken].elements))
            else:
                step.cycles = 4
            return step, taken + len(step.segments)
        for wanted in ("weights", "activations"):
            fits = taken < len(segments) and segments[taken].kind == wanted
            if kind in (wanted, "both") and fits:
                step.segments.append(taken)
                if wanted == "activations":
                    last = span[1] + segments[taken].elements - 1
                    step.fills = blocks((span[0], last), self.input_size)
                taken += 1
        if not step.segments:
            step.unit = "none"
        return step, taken

    def special(self, place: int, n: int, line: dict[int, int]) -> list[Step]:
        """The step of an spu, and the stream of its results; `line` has the chained spus."""
        function, raw = self.words[place][1], self.raw and place > self.last_mac
        to_scalar = function == "reduce" and self.scalar
        source, target = self.span(place, 0, n), self.span(place, 1, n)
        step = Step(place, "spu")
        if function == "nonsf":
            number = self.operand(place, 0, n)
            step.sums = NONE if number >= 8 else frozenset([number])
            step.results = self.results(target, 1)
        elif to_scalar and raw:
            return []
        elif place in line:
            step.sums, step.chained = frozenset([line[place]]), not raw
            step.results = NONE if to_scalar else self.results(target, 1)
            step.cycles = 1 if raw else self.function_cycles(self.sizes.pes)
        else:
            step.results = self.results(source, self.count)
            if not to_scalar:
                step.results |= self.results(target, self.count)
            step.cycles, step.results_of_each = self.count, self.count
        if place < self.last_mac or to_scalar:
            return [step]
        own = self.operand(place, 1, n), self.program.strides.get((place, 1), (0, 0))[0]
        for other in range(place + 1, len(self.words)):
            if self.words[other][0] == "spu" and self.words[other][1] != "nonsf":
                each, _ = self.program.strides.get((other, 0), (0, 0))
                if other not in line and own == (self.operand(other, 0, n), each):
                    return [step]
        return [step, *self.stream(place, target)]

    def reserved(self) -> tuple[set[int], set[int], list[int], bool]:
        """What the iterations may use: accumulators, output blocks, bases of macs, and stores."""
        sums, results, bases, stores = set[int](), set[int](), list[int](), False
        every = range(iterations_of(self.program))
        for place, word in enumerate(self.words):
            first, second = (
                (min(span[0] for span in spans), max(span[1] for span in spans))
                for spans in ([self.span(place, which, n) for n in every] for which in (0, 1))
            )
            numbers = set(range(max(first[0], 0), min(first[1], 3) + 1))
            targets = set(range(max(second[0], 0), min(second[1], 3) + 1))
            if word[0] == "mac":
                bases += first
                sums |= targets
                results |= set() if self.moves else targets
            elif word[0] == "st":
                results |= self.results(first, self.count)
            elif word[0] == "spu":
                results |= self.results(second, self.count)
                if word[1] == "nonsf":
                    sums |= numbers
                else:
                    sums |= ALL_SUMS
                    results |= self.results(first, self.count)
            elif word[1] == "psums":
                sums |= ALL_SUMS
                results |= self.results(first, 4)
            stores |= word[0] != "ld"
        return sums, results, bases, stores

    def stores(self) -> int:
        """The number of stores in all iterations."""
        steps, _ = self.steps(0, 0)
        return sum(step.unit == "st" for step in steps) * iterations_of(self.program)
