"""What a packet list does, without time: packet after packet, instruction after instruction.

Written from pe.md alone, for integers; the engine, however many buffers it runs at
once, must leave the same memory, accumulators and output queues.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

BLOCKS = 16


class Refused(Exception):
    """The program would fault here."""


@dataclass(frozen=True)
class Exe:
    """One exe: the sequence (instructions as texts), flags, operands by cluster and PE, its results.

    An operand is ("weights", [(index, value), ...] by PE) and so on, by cluster; or the
    place in memory from which all PEs of all clusters get the same activations.
    """

    lines: tuple[str, ...]
    header: dict[str, int]
    shift: int
    last: int
    clusters: tuple[int, ...]
    operands: tuple[
        tuple[str, list[list[list[tuple[int, int]] | list[int]]] | tuple[int, int]], ...
    ]
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


@dataclass
class Model:
    """The PEs of a row: input buffers, accumulators, output queues; and the unit's memory."""

    clusters: int
    pes: int
    inputs: int
    outputs: int
    memory: dict[int, bytes] = field(default_factory=dict)  # 8 bytes at an offset

    def __post_init__(self) -> None:
        every = [(c, k) for c in range(self.clusters) for k in range(self.pes)]
        self.input: dict[tuple[int, int], list[int | None]] = {
            at: [None] * self.inputs for at in every
        }
        self.sums = {at: [0] * 4 for at in every}
        self.output = {at: [0] * self.outputs for at in every}
        self.written = {c: [False] * self.outputs for c in range(self.clusters)}

    def run(self, exe: Exe) -> None:
        """Raises `Refused` (the model is then of no more use)."""
        for cluster in exe.clusters:
            self._run(cluster, exe)

    def _run(self, c: int, exe: Exe) -> None:
        queue = list(exe.operands)
        weights: list[list[tuple[int, int]]] | None = None
        words = [line.split() for line in exe.lines]
        last_mac = max((i for i, word in enumerate(words) if word[0] == "mac"), default=-1)
        rank = exe.clusters.index(c)
        stored = 0

        def store(place: int) -> None:
            nonlocal stored
            for k in range(self.pes):
                for n in range(exe.count):
                    if not self.written[c][place + n]:
                        raise Refused
                    at = exe.offset + (c * self.pes + k) * exe.stride + (stored + n) * exe.step
                    self.memory[at] = self.output[c, k][place + n].to_bytes(
                        8, "little", signed=True
                    )
            stored += exe.count

        def move(a: int, place: int) -> None:
            for k in range(self.pes):
                self.output[c, k][place] = self.sums[c, k][a]
                self.sums[c, k][a] = 0
            self._mark(c, place, 1)

        def stream(i: int, place: int) -> None:
            """The result of instruction i goes out at once, unless a later function reads it."""
            readers = [
                w[2]
                for w in words[i + 1 :]
                if w[:2] in (["spu", "activation"], ["spu", "requantise"])
            ]
            sources = [int(text[4:]) * (self.outputs // BLOCKS) for text in readers]
            if exe.shift and exe.last and i >= last_mac and place not in sources:
                store(place)

        for i, word in enumerate(words):
            arguments = dict(part.split("=") for part in word[1:] if "=" in part)
            base = int(arguments.get("base", 0))
            after = i > last_mac
            if word[0] == "ld":
                block = base * (self.inputs // BLOCKS)
                if word[1] in ("weights", "both"):
                    fresh = queue.pop(0)[1][rank]
                    weights = (
                        fresh
                        if weights is None
                        else [a + b for a, b in zip(weights, fresh, strict=True)]
                    )
                if word[1] in ("activations", "both"):
                    self._load(c, rank, block, queue.pop(0)[1])
                if word[1] == "psums":
                    self._psums(c, rank, base * (self.outputs // BLOCKS), queue)
            elif word[0] == "mac":
                if weights is None:
                    raise Refused
                self._mac(c, base * (self.inputs // BLOCKS), int(arguments["acc"]), weights)
                if (
                    i == last_mac
                    and (exe.shift or exe.last)
                    and not any(w[0] == "spu" for w in words)
                ):
                    used = {int(w[2][4:]) for w in words if w[0] == "mac"}
                    for a in sorted(used):
                        move(a, a * (self.outputs // BLOCKS))
                        stream(i, a * (self.outputs // BLOCKS))
            elif after and not exe.shift and not exe.last:
                continue
            elif word[0] == "spu":
                place = int(arguments["dst"]) * (self.outputs // BLOCKS)
                if word[1] == "nonsf":
                    move(int(arguments["src"]), place)
                else:
                    source = int(arguments["src"]) * (self.outputs // BLOCKS)
                    raw = after and exe.shift and not exe.last
                    self._special(c, "" if raw else word[1], exe, source, place)
                stream(i, place)
            elif not (after and exe.shift and exe.last):
                store(base * (self.outputs // BLOCKS))

    def _mark(self, c: int, place: int, count: int) -> None:
        size = self.outputs // BLOCKS
        for n in range(place, -(-(place + count) // size) * size):
            self.written[c][n] = n < place + count

    def _load(self, c: int, rank: int, start: int, operand: object) -> None:
        if isinstance(operand, tuple):  # place in memory, bytes
            data = b"".join(self.memory[at] for at in range(operand[0], operand[0] + operand[1], 8))
            same = [x - 256 if x > 127 else x for x in data]
            values = [same] * self.pes
        else:
            assert isinstance(operand, list)
            values = operand[rank]
        size = self.inputs // BLOCKS
        for k in range(self.pes):
            end = start + len(values[k])
            if end > self.inputs:
                raise Refused
            whole = -(-end // size) * size
            self.input[c, k][start:whole] = values[k] + [None] * (whole - end)

    def _psums(self, c: int, rank: int, place: int, queue: list[tuple[str, object]]) -> None:
        if queue and queue[0][0] == "psums":
            operand = queue.pop(0)[1]
            assert isinstance(operand, list)
            count = len(operand[rank][0])
            for k in range(self.pes):
                self.output[c, k][place : place + count] = operand[rank][k]
            self._mark(c, place, count)
            numbers: Sequence[int] = range(count)
        else:
            numbers = [n for n in range(4) if self.written[c][place + n]]
            if not numbers:
                raise Refused
        for k in range(self.pes):
            for n in numbers:
                self.sums[c, k][n] = wrapped(self.sums[c, k][n] + self.output[c, k][place + n])

    def _mac(self, c: int, base: int, a: int, weights: list[list[tuple[int, int]]]) -> None:
        for k in range(self.pes):
            held = self.input[c, k]
            for index, value in weights[k]:
                if None in held[base : base + index + 1] or base + index >= self.inputs:
                    raise Refused
                activation = held[base + index]
                assert activation is not None
                self.sums[c, k][a] = wrapped(self.sums[c, k][a] + value * activation)

    def _special(self, c: int, function: str, exe: Exe, source: int, place: int) -> None:
        count = max(exe.count, 1)
        if place + count > self.outputs or not all(self.written[c][source : source + count]):
            raise Refused
        for k in range(self.pes):
            values = self.output[c, k][source : source + count]
            if function == "activation" and exe.header["activation"]:
                values = [max(x, 0) for x in values]
            if function == "requantise":
                values = [min(max(half_even(x, exe.header["shift"]), -128), 127) for x in values]
            self.output[c, k][place : place + count] = values
        self._mark(c, place, count)
