"""A model without time of packet lists: packet after packet, instruction after instruction.

It is written from the specification and docs/timing-pe.md alone, for integers, in plain Python. The
engine must leave the same memory, accumulators and output queues, although it runs several buffers at once.
"""

from __future__ import annotations

import copy
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

BLOCKS = 16
Entry = tuple[int, int]
Operand = tuple[str, list[list[list[Entry] | list[int]]] | tuple[int, int]]


class Place(int):
    """An operand of PE 0, and the difference from each PE to the next."""

    each = 0

    def of(self, k: int) -> int:
        return int(self) + k * self.each


def place_of(value: int, each: int = 0) -> Place:
    place = Place(value)
    place.each = each
    return place


class Refused(Exception):
    """The program would cause a fault here."""


@dataclass(frozen=True)
class Program:
    """A sequence: instructions as texts, fields of its header, steps by (instruction, operand)."""

    lines: tuple[str, ...]
    header: dict[str, int]
    steps: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    buffer: int = 0
    strides: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)  # PE, cluster
    scales: list[float] = field(default_factory=list)  # by PE of the row; empty: a shift
    table: list[int] = field(default_factory=list)  # by the byte of a value

    def of(self, name: str) -> int:
        return self.header.get(name, 1 if name in ("inner", "outer") else 0)


@dataclass(frozen=True)
class Exe:
    """One exe: the sequences that trigger each other, flags, operands, addresses of results.

    An operand is a kind and, for each cluster and PE, its data, such as ("weights", [(index,
    value), ...]); or the offset in memory of activations that all PEs of all clusters get.
    """

    chain: tuple[Program, ...]
    shift: int
    last: int
    clusters: tuple[int, ...]
    operands: tuple[Operand, ...]
    offset: int
    stride: int
    step: int
    count: int


def wrapped(value: int, bits: int = 32) -> int:
    return (value + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))


def half_even(value: int, shift: int) -> int:
    floor, rest = divmod(value, 1 << shift)
    double = 2 * rest
    return floor + (double > 1 << shift or (double == 1 << shift and floor % 2 == 1))


def single(value: float) -> float:
    """The float32 nearest to a number."""
    found: float = struct.unpack("<f", struct.pack("<f", value))[0]
    return found


def scaled(value: int, scale: float) -> int:
    """The float32 of the value, times float32 `scale`, rounded to float32, then to an integer."""
    return round(single(single(value) * scale))


@dataclass
class Model:
    """The PEs of a row (input buffers, accumulators, output queues) and the unit's memory."""

    clusters: int
    pes: int
    inputs: int
    outputs: int
    weights: int  # entries of a weight queue
    memory: dict[int, bytes] = field(default_factory=dict)  # 8 bytes at an offset

    def __post_init__(self) -> None:
        every = [(c, k) for c in range(self.clusters) for k in range(self.pes)]
        self.input: dict[tuple[int, int], list[int | None]] = {
            at: [None] * self.inputs for at in every
        }
        self.sums = {at: [0] * 4 for at in every}
        self.output = {at: [0] * self.outputs for at in every}
        self.scalars: dict[tuple[int, int], dict[int, int]] = {}  # by cluster and buffer
        self.written = {at: [False] * self.outputs for at in every}

    def copy(self) -> Model:
        """An independent model in the same state."""
        made = copy.copy(self)
        made.memory = dict(self.memory)
        made.input = {at: list(held) for at, held in self.input.items()}
        made.sums = {at: list(sums) for at, sums in self.sums.items()}
        made.output = {at: list(values) for at, values in self.output.items()}
        made.scalars = {at: dict(held) for at, held in self.scalars.items()}
        made.written = {at: list(marks) for at, marks in self.written.items()}
        return made

    def configure(self, buffer: int) -> None:
        """Empty the scalar accumulators of the buffer, as its config does."""
        for cluster in range(self.clusters):
            self.scalars[cluster, buffer] = {}

    def run(self, exe: Exe) -> list[One]:
        """Execute an exe, and return its executions in the clusters.

        Raises `Refused` if it would fault (the model cannot be used afterwards).
        """
        executions = [One(self, cluster, exe) for cluster in exe.clusters]
        for execution in executions:
            execution.run()
        return executions


class One:
    """Executes an exe in one cluster.

    `hits` has the macs in their order: for each PE, a flag for each weight entry, whether its
    activation is not zero. `readers` has the number of PEs with results for each decoupled special
    function, `writers` the numbers of the PEs that write in each store.
    """

    def __init__(self, model: Model, cluster: int, exe: Exe) -> None:
        self.m, self.c, self.exe = model, cluster, exe
        self.rank = exe.clusters.index(cluster)
        self.pes = range(model.pes)
        self.segments = list(exe.operands)
        self.queue: list[list[Entry]] = [[] for _ in self.pes]
        self.loaded = False  # weights of this run are in the queue
        self.stored = 0
        self.hits: list[list[list[bool]]] = []
        self.readers: list[int] = []
        self.writers: list[list[int]] = []
        self.kept = not exe.shift and not exe.last
        self.raw = bool(exe.shift and not exe.last)
        self.streams = bool(exe.shift and exe.last)

    def run(self) -> None:
        for number, program in enumerate(self.exe.chain):
            total = program.of("inner") * program.of("outer")
            for n in range(total):
                self.iteration(program, n)
                state, ends_inner = program.of("state"), (n + 1) % program.of("inner") == 0
                following = self.exe.chain[number + 1 :]
                stay = n + 1 < total or (following and following[0].of("state") == state)
                if state == 0 or not stay:
                    self.queue, self.loaded = [[] for _ in self.pes], False
                elif state == 2 and n + 1 < total and self.loaded:
                    amount = program.of("window" if ends_inner else "pop")
                    if any(len(entries) < amount for entries in self.queue):
                        raise Refused
                    self.queue = [entries[amount:] for entries in self.queue]
        if self.segments:
            raise Refused

    def operand(self, program: Program, n: int, i: int, which: int, first: int) -> Place:
        inner, outer = program.steps.get((i, which), (0, 0))
        each, cluster = program.strides.get((i, which), (0, 0))
        stepped = first + n * inner + n // program.of("inner") * outer
        return place_of(stepped + self.c * cluster, each)

    def iteration(self, program: Program, n: int) -> None:
        m = self.m
        words = [line.split() for line in program.lines]
        last_mac = max((i for i, word in enumerate(words) if word[0] == "mac"), default=-1)
        moves = any(word[0] == "spu" for word in words)
        inputs, outputs = m.inputs // BLOCKS, m.outputs // BLOCKS
        where: list[tuple[Place, Place]] = []
        for i, word in enumerate(words):
            given = {k: int(v) for k, _, v in (part.partition("=") for part in word[1:]) if v}
            a, b = given.get("base", given.get("src", 0)), given.get("acc", given.get("dst", 0))
            ends = (m.outputs, m.outputs)
            scale = (outputs, outputs)
            if word[0] == "mac" or (word[0] == "ld" and word[1] != "psums"):
                ends, scale = (m.inputs, 4), (inputs, 1)
            if word[0] == "spu" and word[1] == "nonsf":
                ends, scale = (4 if a < 8 else 16, m.outputs), (1, outputs)
            scalar = word[:2] == ["spu", "reduce"] and program.of("reduction") > 2
            if scalar:
                ends, scale = (m.outputs, 8), (outputs, 1)
            first = self.operand(program, n, i, 0, a * scale[0])
            second = self.operand(program, n, i, 1, b * scale[1])
            low = 8 if ends[0] == 16 else 0
            for k in self.pes:
                if not low <= first.of(k) < ends[0] or not 0 <= second.of(k) < ends[1]:
                    raise Refused
            where.append((first, second))
        chained = self.chains(words, where)
        for i, word in enumerate(words):
            first, second = where[i]
            after = i > last_mac
            if word[0] == "ld":
                self.load(program, word[1], first, n == 0)
            elif word[0] == "mac":
                self.mac(program, first, second)
                if i == last_mac and not moves and not self.kept:
                    for acc in sorted({where[j][1] for j, w in enumerate(words) if w[0] == "mac"}):
                        mine = [w for j, w in enumerate(words) if where[j][1] == acc]
                        sfu = any(w[0] == "mac" and "sfu" in w for w in mine)
                        if sfu and not self.raw:
                            self.chained(program, "activation", acc, place_of(acc * outputs))
                        else:
                            self.move(acc, place_of(acc * outputs))
                        if self.streams:
                            self.store(place_of(acc * outputs))
            elif after and self.kept:
                continue
            elif word[0] == "spu":
                raw = after and self.raw
                scalar = word[1] == "reduce" and program.of("reduction") > 2
                if scalar and raw:
                    continue
                if word[1] == "nonsf" and first >= 8:
                    held = m.scalars[self.c, program.buffer]
                    if first - 8 not in held:
                        raise Refused
                    self.give_first([held.pop(first - 8)], second)
                elif word[1] == "nonsf":
                    self.move(first, second)
                elif i in chained:
                    if raw:
                        self.move(chained[i], second)
                    else:
                        self.chained(program, word[1], chained[i], second)
                else:
                    self.special(program, "" if raw else word[1], first, second)
                later = [j for j in range(i + 1, len(words)) if words[j][0] == "spu"]
                readers = [j for j in later if words[j][1] != "nonsf" and j not in chained]
                sources = [where[j][0] for j in readers]
                read = (second, second.each) in [(source, source.each) for source in sources]
                if self.streams and i >= last_mac and not scalar and not read:
                    self.store(second)
            elif not (after and self.streams):
                self.store(first)

    def chains(self, words: list[list[str]], where: list[tuple[Place, Place]]) -> dict[int, int]:
        """The accumulator of each spu in chained mode, by the number of the spu's instruction."""
        line: list[int] = []
        found = {}
        for i, word in enumerate(words):
            if word[0] == "mac" and "sfu" in word:
                if where[i][1] not in line:
                    line.append(where[i][1])
            elif word[0] == "spu" and word[1] == "nonsf":
                line = [acc for acc in line if acc != where[i][0]]
            elif word[0] == "spu" and line:
                found[i] = line.pop(0)
        return found

    def store(self, place: Place) -> None:
        m, exe = self.m, self.exe
        members = self.members(place, exe.count) if exe.count else []
        self.writers.append(members)
        for k in members:
            for x in range(exe.count):
                at = exe.offset + (self.c * m.pes + k) * exe.stride + (self.stored + x) * exe.step
                value = m.output[self.c, k][place.of(k) + x]
                m.memory[at] = value.to_bytes(8, "little", signed=True)
        self.stored += exe.count

    def members(self, place: Place, count: int) -> list[int]:
        """The PEs that have `count` results from `place` on.

        Raises `Refused` if a PE has only some of them.
        """
        if any(place.of(k) + count > self.m.outputs for k in self.pes):
            raise Refused
        found = []
        for k in self.pes:
            held = self.m.written[self.c, k][place.of(k) : place.of(k) + count]
            if any(held) and not all(held):
                raise Refused
            if all(held):
                found.append(k)
        if not found:
            raise Refused
        return found

    def mark(self, k: int, place: int, count: int) -> None:
        size = self.m.outputs // BLOCKS
        if place + count > self.m.outputs:
            raise Refused
        for x in range(place, -(-(place + count) // size) * size):
            self.m.written[self.c, k][x] = x < place + count

    def move(self, acc: int, place: Place) -> None:
        for k in self.pes:
            self.m.output[self.c, k][place.of(k)] = self.m.sums[self.c, k][acc]
            self.m.sums[self.c, k][acc] = 0
            self.mark(k, place.of(k), 1)

    def load(self, program: Program, kind: str, start: Place, first: bool) -> None:
        if kind == "psums":
            self.psums(start)
            return
        for what in ("weights", "activations"):
            if kind not in (what, "both"):
                continue
            if not self.segments or self.segments[0][0] != what:
                if first:
                    raise Refused
                continue
            operand = self.segments.pop(0)[1]
            if what == "activations":
                self.activations(start, operand)
                continue
            assert isinstance(operand, list)
            for k in self.pes:
                fresh = operand[self.rank][k]
                dense = bool(fresh) and not isinstance(fresh[0], tuple)
                if fresh and dense != (program.of("state") == 2):
                    raise Refused  # or rather: nobody knows what these bytes would mean
                if program.of("state") == 2:  # dense values
                    self.queue[k] += [(0, x) for x in fresh]  # type: ignore[misc]
                else:
                    self.queue[k] += fresh  # type: ignore[arg-type]
            if any(len(entries) > self.m.weights for entries in self.queue):
                raise Refused
            self.loaded = True

    def activations(self, place: Place, operand: object) -> None:
        m = self.m
        if isinstance(operand, tuple):  # place in memory, bytes
            data = b"".join(m.memory[at] for at in range(operand[0], operand[0] + operand[1], 8))
            same = [x - 256 if x > 127 else x for x in data]
            values = [same] * m.pes
        else:
            assert isinstance(operand, list)
            values = operand[self.rank]
        size = m.inputs // BLOCKS
        for k in self.pes:
            held, start = m.input[self.c, k], place.of(k)
            end = start + len(values[k])
            if end > m.inputs or None in held[start // size * size : start]:
                raise Refused
            whole = -(-end // size) * size
            held[start:whole] = values[k] + [None] * (whole - end)

    def psums(self, place: Place) -> None:
        m = self.m
        members: Sequence[int] = self.pes
        if self.segments and self.segments[0][0] == "psums":
            operand = self.segments.pop(0)[1]
            assert isinstance(operand, list)
            count = len(operand[self.rank][0])
            for k in self.pes:
                at = place.of(k)
                self.mark(k, at, count)
                sums = [entry for entry in operand[self.rank][k] if isinstance(entry, int)]
                assert len(sums) == count
                m.output[self.c, k][at : at + count] = sums
            numbers: Sequence[int] = range(count)
        else:
            numbers = [x for x in range(4) if any(self.holds(k, place.of(k) + x) for k in self.pes)]
            if not numbers:
                raise Refused
        for k in members:
            for x in numbers:
                at = place.of(k) + x
                if self.holds(k, at):
                    total = m.sums[self.c, k][x] + m.output[self.c, k][at]
                    m.sums[self.c, k][x] = wrapped(total)

    def holds(self, k: int, at: int) -> bool:
        return at < self.m.outputs and self.m.written[self.c, k][at]

    def mac(self, program: Program, bases: Place, a: int) -> None:
        m = self.m
        if not self.loaded:
            raise Refused
        self.hits.append([])
        for k in self.pes:
            held, entries, base = m.input[self.c, k], self.queue[k], bases.of(k)
            if program.of("state") == 2:
                window = program.of("window")
                if len(entries) < window:
                    raise Refused
                entries = [(x, value) for x, (_, value) in enumerate(entries[:window])]
            self.hits[-1].append([bool(held[base + x]) for x, _ in entries if base + x < m.inputs])
            for index, value in entries:
                if None in held[base : base + index + 1] or base + index >= m.inputs:
                    raise Refused
                activation = held[base + index]
                assert activation is not None
                m.sums[self.c, k][a] = wrapped(m.sums[self.c, k][a] + value * activation)

    def function(self, program: Program, name: str, x: int, k: int) -> int:
        if name == "activation" and program.table:
            return program.table[min(max(x, -128), 127) % 256]
        if name == "activation" and program.of("activation"):
            return max(x, 0)
        if name == "requantise" and program.scales:
            return min(max(scaled(x, program.scales[self.c * self.m.pes + k]), -128), 127)
        if name == "requantise":
            return min(max(half_even(x, program.of("shift")), -128), 127)
        return x

    def chained(self, program: Program, name: str, acc: int, place: Place) -> None:
        """Send the accumulators through the special function, with one result for each PE."""
        m, values = self.m, []
        for k in self.pes:
            values.append(m.sums[self.c, k][acc])
            m.sums[self.c, k][acc] = 0
        self.finish(program, name, list(self.pes), [[x] for x in values], place)

    def special(self, program: Program, name: str, source: Place, place: Place) -> None:
        count = max(self.exe.count, 1)
        members = self.members(source, count)
        self.readers.append(len(members))
        rows = [(self.m.output[self.c, k], source.of(k)) for k in members]
        values = [row[at : at + count] for row, at in rows]
        self.finish(program, name, members, values, place)

    def finish(
        self, program: Program, name: str, members: list[int], values: list[list[int]], place: Place
    ) -> None:
        m, count = self.m, len(values[0])
        scalar = name == "reduce" and program.of("reduction") > 2
        if any(place.of(k) + count > (8 if scalar else m.outputs) for k in members):
            raise Refused
        if name == "reduce":
            add = program.of("reduction") in (1, 3)
            columns = list(zip(*values, strict=True))
            results = [wrapped(sum(column)) if add else max(column) for column in columns]
            if not scalar:
                self.give_first(results, place)
                return
            held = m.scalars[self.c, program.buffer]
            for x, value in enumerate(results, place):
                old = held.get(x)
                new = value if old is None else wrapped(old + value) if add else max(old, value)
                held[x] = new
            return
        for k, mine in zip(members, values, strict=True):
            at = place.of(k)
            m.output[self.c, k][at : at + count] = [
                self.function(program, name, x, k) for x in mine
            ]
            self.mark(k, at, count)

    def give_first(self, results: list[int], place: int) -> None:
        """Put the results into PE 0 from `place` on; the other PEs have no results there."""
        m, count, size = self.m, len(results), self.m.outputs // BLOCKS
        if place + count > m.outputs:
            raise Refused
        m.output[self.c, 0][place : place + count] = results
        for k in self.pes:
            self.mark(k, place, count)
            if k:
                end = -(-(place + count) // size) * size
                m.written[self.c, k][place:end] = [False] * (end - place)
