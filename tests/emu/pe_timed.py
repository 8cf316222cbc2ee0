"""A model of the time of packet lists, written from the rules of docs/timing-pe.md.

The model is plain Python: it goes from cycle to cycle and knows no values. What a mac computes
enters only as flags: for each weight entry of each PE, whether its activation is not zero
(`ListRow.hits`). It knows neither `.then` nor chained special functions, reductions, sliding
windows, strides, scales and tables.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.emu.pe_untimed import BLOCKS, Exe, Program
from tests.emu.pe_witness import Lane, mac_direct, mac_queued

FIRST = 4  # the cycle of a list's first beat, if the list is dispatched in cycle 0
ALL_SUMS = frozenset(range(4))
Names = frozenset[int]
NONE: Names = frozenset()
# A step waits for the earlier steps of its run on this unit.
WAITS_FOR = {"mac": "ld", "spu": "mac", "st": "spu"}


@dataclass(frozen=True)
class Data:
    """A segment of an exe: its kind, its bytes, and where these are in memory.

    `entries` has, for each cluster of the packet and each PE, the number of weights, and `greatest`
    the greatest index of the weights of each cluster (-1 if it gets none).
    """

    kind: str
    offset: int
    length: int
    entries: Sequence[Sequence[int]] = ()
    greatest: Sequence[int] = ()
    elements: int = 0  # activations or partial sums of each PE


@dataclass(frozen=True)
class Config:
    """A packet that stores a sequence in an instruction buffer of all clusters."""

    program: Program


@dataclass(frozen=True)
class Work:
    """An exe packet with its segments.

    `hits` has the macs of each of its clusters in their order: for each PE, a flag for each weight
    entry, whether its activation is not zero.
    """

    exe: Exe
    segments: Sequence[Data]
    hits: Sequence[Sequence[Sequence[Sequence[bool]]]]


@dataclass(frozen=True)
class Sizes:
    """The sizes of a row."""

    clusters: int
    pes: int
    inputs: int
    outputs: int
    weights: int
    width: int  # bytes of a beat
    design: str
    queue_1: int
    queue_2: int
    rate: int
    latency: int


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
    base: int = 0
    cycles: int = 1
    start: int | None = None
    end: int | None = None
    first_beat: int | None = None
    last_beat: int | None = None
    beats: int = 0  # that a store has left to write

    def ended(self, now: int) -> bool:
        return self.end is not None and self.end < now


@dataclass(eq=False)
class Run:
    """The execution of an exe in one cluster."""

    work: Work
    order: int
    rank: int  # of the cluster among those of the exe
    issue: dict[bool, int] = field(default_factory=dict)  # earliest start, by `Step.streams`
    iteration: int = 0
    taken: int = 0
    looped: bool = False
    reserves: bool = False
    steps: list[Step] = field(default_factory=list)
    written: dict[int, int] = field(default_factory=dict)  # cycle of WB, by place
    entries: list[int] = field(default_factory=list)
    greatest: int = -1
    macs: int = 0

    @property
    def program(self) -> Program:
        return self.work.exe.chain[0]

    @property
    def live(self) -> bool:
        return bool(self.issue)

    @property
    def iterations(self) -> int:
        return self.program.of("inner") * self.program.of("outer")

    @property
    def has_weights(self) -> bool:
        return any(line.startswith(("ld weights", "ld both")) for line in self.program.lines)


def blocks(first: int, last: int, size: int) -> Names:
    """The blocks of entries `first` to `last`."""
    return frozenset(range(max(first, 0) // size, min(last, BLOCKS * size - 1) // size + 1))


class Sequencer:
    """The steps of a program, by the rules of *Loops* and *Results*."""

    def __init__(self, sizes: Sizes, work: Work) -> None:
        self.sizes, self.work, self.program = sizes, work, work.exe.chain[0]
        self.words = [line.split() for line in self.program.lines]
        self.last_mac = max((i for i, w in enumerate(self.words) if w[0] == "mac"), default=-1)
        self.moves = any(word[0] == "spu" for word in self.words)
        exe = work.exe
        self.skips, self.raw = not exe.shift and not exe.last, bool(exe.shift and not exe.last)
        self.streams = bool(exe.shift and exe.last)
        self.count = max(exe.count, 1)
        self.input_size, self.output_size = sizes.inputs // BLOCKS, sizes.outputs // BLOCKS

    def operands(self, place: int, n: int) -> tuple[int, int]:
        """The operands of an instruction in iteration n, in entries."""
        word = self.words[place]
        named = dict(part.split("=") for part in word if "=" in part)
        first = int(named.get("base", named.get("src", 0)))
        second = int(named.get("acc", named.get("dst", 0)))
        if word[0] == "mac" or word[:2] in (["ld", "activations"], ["ld", "both"]):
            first *= self.input_size
        elif word[:2] != ["spu", "nonsf"]:
            first *= self.output_size
        if word[0] == "spu":
            second *= self.output_size
        found = []
        for which, value in enumerate((first, second)):
            inner, outer = self.program.steps.get((place, which), (0, 0))
            found.append(value + n * inner + n // self.program.of("inner") * outer)
        return found[0], found[1]

    def results(self, first: int, count: int) -> Names:
        return blocks(first, first + count - 1, self.output_size)

    def steps(self, n: int, taken: int) -> tuple[list[Step], int]:
        """The steps of iteration n, and the number of the first segment that is left after it."""
        steps: list[Step] = []
        for place, word in enumerate(self.words):
            first, second = self.operands(place, n)
            if word[0] == "ld":
                step, taken = self.load(place, word[1], first, taken, n == 0)
                steps.append(step)
            elif word[0] == "mac":
                steps.append(Step(place, "mac", sums=frozenset([second]), base=first))
                if place == self.last_mac and not self.moves and not self.skips:
                    for acc in sorted({next(iter(s.sums)) for s in steps if s.unit == "mac"}):
                        at = acc * self.output_size
                        moved = Step(place, "spu", False, sums=frozenset([acc]), base=at)
                        moved.results = self.results(at, 1)
                        steps += [moved, *self.stream(place, at, [])]
            elif place > self.last_mac and self.skips:
                continue
            elif word[0] == "spu":
                steps.append(self.special(place, word[1], first, second))
                if place > self.last_mac or self.last_mac < 0:
                    read = [
                        self.operands(other, n)[0]
                        for other in range(place + 1, len(self.words))
                        if self.words[other][0] == "spu" and self.words[other][1] != "nonsf"
                    ]
                    steps += self.stream(place, second, read)
            elif not (place > self.last_mac and self.streams):
                steps.append(Step(place, "st", results=self.results(first, self.count)))
        return steps, taken

    def stream(self, place: int, at: int, read: Sequence[int]) -> list[Step]:
        """The store of the results at `at`, if they are streamed and no later spu reads them."""
        if not self.streams or at in read:
            return []
        return [Step(place, "st", False, True, results=self.results(at, self.count))]

    def load(self, place: int, kind: str, first: int, taken: int, begins: bool) -> tuple[Step, int]:
        segments = self.work.segments
        step = Step(place, "ld", base=first)
        if kind == "psums":
            step.sums, step.results = ALL_SUMS, self.results(first, 4)
            if taken < len(segments) and segments[taken].kind == "psums":
                step.segments = [taken]
                step.sums = frozenset(range(segments[taken].elements))
            else:
                step.cycles = 4
            return step, taken + len(step.segments)
        for wanted in ("weights", "activations"):
            if kind in (wanted, "both") and taken < len(segments):
                if segments[taken].kind != wanted:
                    assert not begins
                    continue
                step.segments.append(taken)
                if wanted == "activations":
                    last = first + segments[taken].elements - 1
                    step.fills = blocks(first, last, self.input_size)
                taken += 1
        if not step.segments:
            step.unit = "none"
        return step, taken

    def special(self, place: int, function: str, first: int, second: int) -> Step:
        step = Step(place, "spu")
        if function == "nonsf":
            step.sums, step.results = frozenset([first]), self.results(second, 1)
            return step
        step.results = self.results(second, self.count) | self.results(first, self.count)
        if self.raw and place > self.last_mac:
            step.cycles = self.count
        else:
            results = self.count * self.sizes.pes
            step.cycles = -(-results // self.sizes.rate) + self.sizes.latency - 1
        return step

    def reserved(self, greatest: int) -> tuple[Names, Names, Names, bool]:
        """What later iterations may use: accumulators, output blocks, input blocks, and stores."""
        sums, results, stores = set[int](), set[int](), False
        bases = list[int]()
        for place, word in enumerate(self.words):
            every = [self.operands(place, n) for n in range(self.iterations)]
            (low, high), (second, top) = (
                (min(values), max(values)) for values in zip(*every, strict=True)
            )
            if word[0] == "mac":
                bases += [low, high]
                sums |= set(range(second, top + 1))
                results |= set() if self.moves else set(range(second, top + 1))
            elif word[0] == "st":
                results |= blocks(low, high + self.count - 1, self.output_size)
            elif word[0] == "spu":
                results |= blocks(second, top + self.count - 1, self.output_size)
                if word[1] == "nonsf":
                    sums |= set(range(low, high + 1))
                else:
                    sums |= ALL_SUMS
                    results |= blocks(low, high + self.count - 1, self.output_size)
            elif word[1] == "psums":
                sums |= ALL_SUMS
                results |= blocks(low, high + 3, self.output_size)
            stores |= word[0] != "ld"
        reads = NONE
        if bases and greatest >= 0:
            reads = blocks(min(bases), max(bases) + greatest, self.input_size)
        return frozenset(sums), frozenset(results), reads, stores

    @property
    def iterations(self) -> int:
        return self.program.of("inner") * self.program.of("outer")

    def stores(self) -> int:
        steps, _ = self.steps(0, 0)
        return sum(step.unit == "st" for step in steps) * self.iterations


@dataclass(eq=False)
class Cluster:
    """The runs of a cluster, the users of its units, its weight queues, and its activity."""

    runs: list[Run] = field(default_factory=list)
    receiver: Run | None = None  # the run to which the bus sends a segment now
    queue: list[int] = field(default_factory=list)
    started: list[tuple[int, str]] = field(default_factory=list)


@dataclass
class Packet:
    """The packet on the bus, and how much of it was sent."""

    row: Config | Work
    order: int
    length: list[int]
    opened: bool = False
    commanded: bool = False
    segment: int = 0
    sent: int = 0


class TimedRow:
    """A row that executes a list of packets. `starts` has (cycle, unit) for each cluster."""

    def __init__(self, sizes: Sizes, packets: Sequence[Config | Work]) -> None:
        self.sizes, self.waiting = sizes, deque(enumerate(packets))
        self.clusters = [Cluster(queue=[0] * sizes.pes) for _ in range(sizes.clusters)]
        self.packet: Packet | None = None
        self.beat: list[tuple[int, int]] = []  # segment and bytes of the beat on the bus
        self.parser: tuple[int, int, int] | None = None  # buffer, bytes that came, stored
        self.parsing: Program | None = None
        self.returning: Cluster | None = None
        self.turn = 0
        self.programs: dict[int, Program] = {}
        self.bus_beats = self.return_beats = 0
        self.last = FIRST - 1

    def run(self, most: int = 100_000) -> int:
        """Run to the end; return the number of cycles from the first beat to the last work."""
        now = FIRST
        while now < most:
            if not self.cycle(now):
                return now - FIRST
            now += 1
        raise AssertionError("the list does not end")

    def cycle(self, now: int) -> bool:
        """Simulate a cycle. Return False if nothing is left to do."""
        self.deliver(now)
        self.write(now)
        for cluster in self.clusters:
            self.control(cluster, now)
        self.choose()
        self.send(now)
        runs = any(cluster.runs for cluster in self.clusters)
        busy = bool(runs or self.packet or self.waiting or self.parser)
        self.parse()
        return busy

    # The bus

    def deliver(self, now: int) -> None:
        """Let the beat of the previous cycle arrive."""
        packet, beat = self.packet, self.beat
        if packet is None or not (beat or (packet.opened and not packet.commanded)):
            return
        self.beat, self.bus_beats = [], self.bus_beats + 1
        if not packet.commanded:
            packet.commanded = True
            for run in self.runs_of(packet):
                run.issue = {False: now + 2, True: now + 2}
        for segment, length in beat:
            packet.sent += length
            if isinstance(packet.row, Config):
                assert self.parser is not None
                buffer, came, stored = self.parser
                self.parser = buffer, came + length, stored
            else:
                self.arrive(packet, segment, packet.sent == length, now)
            if packet.sent == packet.length[segment]:
                packet.segment, packet.sent = segment + 1, 0
        if packet.segment == len(packet.length):
            self.packet = None

    def arrive(self, packet: Packet, segment: int, first: bool, now: int) -> None:
        """Bytes of a segment have arrived in the clusters of a packet."""
        assert isinstance(packet.row, Work)
        for c in packet.row.exe.clusters:
            cluster = self.clusters[c]
            run, step = self.taker(cluster, packet, segment)
            if first:
                cluster.receiver = run
                step.first_beat = min(step.first_beat or now - 1, now - 1)
            if packet.sent < packet.length[segment]:
                continue
            cluster.receiver = None
            data = packet.row.segments[segment]
            if data.kind == "weights":
                counts = data.entries[run.rank]
                cluster.queue = [a + b for a, b in zip(cluster.queue, counts, strict=True)]
                run.entries = [a + b for a, b in zip(run.entries, counts, strict=True)]
                run.greatest = max(run.greatest, data.greatest[run.rank])
            if segment == step.segments[-1]:
                step.last_beat = now - 1
                if step.start is not None:
                    step.end = max(now, step.start)

    def runs_of(self, packet: Packet) -> list[Run]:
        if isinstance(packet.row, Config):
            return []
        return [self.run_of(self.clusters[c], packet) for c in packet.row.exe.clusters]

    def run_of(self, cluster: Cluster, packet: Packet) -> Run:
        return next(run for run in cluster.runs if run.order == packet.order)

    def taker(self, cluster: Cluster, packet: Packet, segment: int) -> tuple[Run, Step]:
        run = self.run_of(cluster, packet)
        return run, next(step for step in run.steps if segment in step.segments)

    def send(self, now: int) -> None:
        """Put the next beat on the bus, if there is one and the clusters can take it."""
        if self.packet is None:
            if not self.waiting:
                return
            order, row = self.waiting.popleft()
            lengths = [len_of(row.program)] if isinstance(row, Config) else []
            if isinstance(row, Work):
                lengths = [data.length for data in row.segments]
            self.packet = Packet(row, order, lengths)
        packet = self.packet
        if not packet.opened:
            if not self.is_free(packet.row):
                return
            self.open(packet)
            packet.opened = True
        room = self.sizes.width - (not packet.commanded)
        segment, sent = packet.segment, packet.sent
        while room and segment < len(packet.length):
            if not sent and not self.can_send(packet, segment, now):
                break
            length = min(room, packet.length[segment] - sent)
            if not sent and isinstance(packet.row, Work) and (not packet.sent or self.beat):
                for c in packet.row.exe.clusters:
                    self.clusters[c].receiver = self.run_of(self.clusters[c], packet)
            self.beat.append((segment, length))
            room, sent = room - length, sent + length
            if sent == packet.length[segment]:
                segment, sent = segment + 1, 0

    def is_free(self, row: Config | Work) -> bool:
        """Whether the instruction buffer (for a config also the parser) is free everywhere."""
        program = row.program if isinstance(row, Config) else row.exe.chain[0]
        if self.parser is not None and (
            isinstance(row, Config) or self.parser[0] == program.buffer
        ):
            return False
        every = range(self.sizes.clusters) if isinstance(row, Config) else row.exe.clusters
        runs = (run for c in every for run in self.clusters[c].runs)
        return all(run.program.buffer != program.buffer for run in runs)

    def open(self, packet: Packet) -> None:
        row = packet.row
        if isinstance(row, Config):
            self.parser, self.parsing = (row.program.buffer, 0, 0), row.program
            return
        for rank, c in enumerate(row.exe.clusters):
            run = Run(row, packet.order, rank, entries=[0] * self.sizes.pes)
            run.reserves = run.iterations > 1
            run.steps, run.taken = Sequencer(self.sizes, row).steps(0, 0)
            self.clusters[c].runs.append(run)

    def can_send(self, packet: Packet, segment: int, now: int) -> bool:
        """Whether the bus may send the first byte of a segment in this cycle."""
        row = packet.row
        if isinstance(row, Config):
            return True
        data = row.segments[segment]
        for c, cluster in enumerate(self.clusters):
            for run in cluster.runs:
                low, high = self.span(run, c)
                meets = low < data.offset + data.length and data.offset < high
                if run.order < packet.order and meets and self.may_store(run):
                    return False
        return all(self.can_take(self.clusters[c], packet, segment, now) for c in row.exe.clusters)

    def can_take(self, cluster: Cluster, packet: Packet, segment: int, now: int) -> bool:
        run = self.run_of(cluster, packet)
        if segment >= run.taken:
            return False
        run, step = self.taker(cluster, packet, segment)
        for other in run.steps[: run.steps.index(step)]:
            sent = other.segments and other.segments[-1] < segment
            if other.start is None and not other.streams and not sent:
                return False
        if self.user(cluster, "ld", now) not in (None, run):
            return False
        if self.conflicts(cluster, run, step, now):
            return False
        if run.written.get(step.place, 0) > now:
            return False
        assert isinstance(packet.row, Work)
        if packet.row.segments[segment].kind != "weights":
            return True
        new = [0] * self.sizes.pes
        for number in range(packet.segment, segment + 1):
            if packet.row.segments[number].kind == "weights":
                counts = packet.row.segments[number].entries[run.rank]
                new = [a + b for a, b in zip(new, counts, strict=True)]
        held = zip(cluster.queue, new, strict=True)
        return all(a + b <= self.sizes.weights for a, b in held)

    def span(self, run: Run, c: int) -> tuple[int, int]:
        """The first byte of a run's results, and the byte after the last one; (0, 0) if none."""
        exe, pes = run.work.exe, self.sizes.pes
        elements = Sequencer(self.sizes, run.work).stores() * exe.count
        if not elements:
            return 0, 0
        low, high = c * pes * exe.stride, ((c + 1) * pes - 1) * exe.stride
        return exe.offset + low, exe.offset + high + (elements - 1) * exe.step + 8

    def may_store(self, run: Run) -> bool:
        if run.reserves and Sequencer(self.sizes, run.work).reserved(-1)[3]:
            return True
        return any(step.unit == "st" and step.end is None for step in run.steps)

    # The return bus

    def write(self, now: int) -> None:
        """End the beat of the return bus in the previous cycle."""
        cluster, self.returning = self.returning, None
        if cluster is None:
            return
        self.return_beats += 1
        self.turn = (self.clusters.index(cluster) + 1) % len(self.clusters)
        step = self.storing(cluster)
        assert step is not None
        step.beats -= 1
        if not step.beats:
            step.end = now - 1

    def storing(self, cluster: Cluster) -> Step | None:
        steps = (step for run in cluster.runs for step in run.steps)
        return next((s for s in steps if s.unit == "st" and s.start is not None and s.beats), None)

    def choose(self) -> None:
        """Choose the cluster of this cycle's beat on the return bus."""
        for number in range(len(self.clusters)):
            cluster = self.clusters[(self.turn + number) % len(self.clusters)]
            if self.storing(cluster) is not None:
                self.returning = cluster
                return

    # The parser

    def parse(self) -> None:
        """Store the next instruction of a config, if it has arrived."""
        if self.parser is None or self.parsing is None:
            return
        buffer, came, stored = self.parser
        if came >= len_of(self.parsing) - 2 * (len(self.parsing.lines) - stored - 1):
            stored += 1
        self.parser = buffer, came, stored
        if stored == len(self.parsing.lines):
            self.parser = self.parsing = None

    # The control unit

    def control(self, cluster: Cluster, now: int) -> None:
        for run in cluster.runs:
            for step in run.steps:
                if step.explicit and step.ended(now) and run.program.of("pipeline") == 4:
                    assert step.end is not None
                    run.written[step.place] = step.end + 2
        for run in list(cluster.runs):
            if not run.live or (not run.steps and run.issue[False] > now):
                continue
            if not run.looped:
                self.loop_back(cluster, run, now)
            ended = run.looped and all(step.ended(now) for step in run.steps)
            if ended and max(run.written.values(), default=0) < now:
                cluster.runs.remove(run)
        live = sorted((r for r in cluster.runs if r.live), key=lambda r: r.program.buffer)
        for run in live:
            for streams in (False, True):
                waiting = (s for s in run.steps if s.start is None and s.streams == streams)
                following = next(waiting, None)
                if following is not None and self.can_start(cluster, run, following, now):
                    self.start(cluster, run, following, now)

    def user(self, cluster: Cluster, unit: str, now: int) -> Run | None:
        """The run that uses a unit. An ld from the bus uses the loader during its beats only."""
        if unit == "ld" and cluster.receiver is not None:
            return cluster.receiver
        for run in cluster.runs:
            for step in run.steps:
                works = step.start is not None and not step.ended(now) and not step.segments
                if step.unit == unit and works:
                    return run
        return None

    def can_start(self, cluster: Cluster, run: Run, step: Step, now: int) -> bool:
        if now < run.issue[step.streams]:
            return False
        earlier = run.steps[: run.steps.index(step)]
        if step.explicit:
            if any(s.explicit and s.place == step.place and not s.ended(now) for s in earlier):
                return False
            if step.place in run.written and now < run.written[step.place] + 2:
                return False
        if step.unit == "none":
            return True
        if step.segments:
            return step.first_beat is not None and step.first_beat < now
        if self.user(cluster, step.unit, now) is not None:
            return False
        before = WAITS_FOR.get(step.unit)
        if any(other.unit == before and not other.ended(now) for other in earlier):
            return False
        if step.unit == "mac" and run.has_weights and not self.heads(cluster, run):
            return False
        if self.conflicts(cluster, run, step, now):
            return False
        return step.unit != "ld" or not self.bus_takes_loader(cluster, run, now)

    def bus_takes_loader(self, cluster: Cluster, run: Run, now: int) -> bool:
        """Whether the bus begins a segment for a buffer that comes before the run's, or for it."""
        packet = self.packet
        if packet is None or not packet.opened or not isinstance(packet.row, Work):
            return False
        if self.clusters.index(cluster) not in packet.row.exe.clusters or self.beat or packet.sent:
            return False
        if packet.segment == len(packet.length):
            return False
        other = self.run_of(cluster, packet)
        return other.program.buffer <= run.program.buffer and self.can_send(
            packet, packet.segment, now
        )

    def heads(self, cluster: Cluster, run: Run) -> bool:
        """Whether the run's weights are the first in the weight queue."""
        return (
            next(other for other in cluster.runs if other.has_weights and not other.looped) is run
        )

    def conflicts(self, cluster: Cluster, run: Run, step: Step, now: int) -> bool:
        """Whether an earlier step, or what an earlier run reserves, keeps a step from starting."""
        c = self.clusters.index(cluster)
        span = self.span(run, c)
        for other_run in cluster.runs:
            other_span = self.span(other_run, c)
            same_bytes = span[0] < other_span[1] and other_span[0] < span[1]
            same_bytes = same_bytes and step.unit == "st" and other_run is not run
            for other in other_run.steps:
                if other is step:
                    return False
                if other.ended(now):
                    continue
                if step.sums & other.sums or step.results & other.results:
                    return True
                if step.fills & (self.reads(other_run, other) | other.fills):
                    return True
                if self.reads(run, step) & other.fills or (same_bytes and other.unit == "st"):
                    return True
            if other_run is not run and other_run.reserves:
                sequence = Sequencer(self.sizes, other_run.work)
                sums, results, reads, stores = sequence.reserved(other_run.greatest)
                if step.sums & sums or step.results & results or step.fills & reads:
                    return True
                if same_bytes and stores:
                    return True
        return False

    def reads(self, run: Run, step: Step) -> Names:
        """The blocks of the input buffer that a mac reads."""
        if step.unit != "mac" or run.greatest < 0:
            return NONE
        last = step.base + run.greatest
        return blocks(step.base, last, self.sizes.inputs // BLOCKS)

    def start(self, cluster: Cluster, run: Run, step: Step, now: int) -> None:
        step.start, run.issue[step.streams] = now, now + 1
        cluster.started.append((now, run.program.lines[step.place].split()[0]))
        if step.segments:
            step.end = None if step.last_beat is None else max(step.last_beat + 1, now)
        elif step.unit == "st":
            exe = run.work.exe
            size = exe.count * 8 * self.sizes.pes
            step.beats = -(-size // self.sizes.width)
            step.end = None if step.beats else now
        elif step.unit == "mac":
            step.end = now + self.mac(run) - 1
        else:
            step.end = now + step.cycles - 1

    def mac(self, run: Run) -> int:
        """The cycles of the run's next mac."""
        hits = run.work.hits[run.rank][run.macs]
        run.macs += 1
        longest = 1
        for own in hits:
            lane = Lane(deque((number, 1) for number in range(len(own))))
            if self.sizes.design == "5a":
                mac_direct(lane, own)
            else:
                mac_queued(lane, own, self.sizes.queue_1, self.sizes.queue_2)
            longest = max(longest, len(lane.took))
        return longest

    def loop_back(self, cluster: Cluster, run: Run, now: int) -> None:
        """Begin the next iteration, or end the last one, if the present one allows it."""
        if run.has_weights and not self.heads(cluster, run):
            return
        last = run.iteration + 1 == run.iterations
        for step in run.steps:
            if step.unit in ("ld", "mac") and not step.ended(now):
                return
            if step.start is None and not last:
                return
        if last or run.program.of("state") == 0:
            leaving = zip(cluster.queue, run.entries, strict=True)
            cluster.queue = [a - b for a, b in leaving]
            run.entries, run.greatest = [0] * self.sizes.pes, -1
        if last:
            run.looped = True
            return
        run.iteration += 1
        run.steps = [step for step in run.steps if not step.ended(now)]
        steps, run.taken = Sequencer(self.sizes, run.work).steps(run.iteration, run.taken)
        run.steps += steps
        if run.iteration + 1 == run.iterations:
            run.reserves = False


def len_of(program: Program) -> int:
    """The bytes of a sequence: a header, a record for each step, two for each instruction."""
    return 16 + 8 * len(program.steps) + 2 * len(program.lines)
