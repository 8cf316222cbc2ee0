"""A model of the time of packet lists, written from the rules of docs/timing-pe.md.

The model is plain Python, and goes from cycle to cycle. It knows no values.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tests.emu.pe_timed_steps import (
    NONE,
    Config,
    Names,
    Run,
    Sequencer,
    Sizes,
    Span,
    Step,
    Work,
    blocks,
    iterations_of,
)
from tests.emu.pe_untimed import BLOCKS, Program
from tests.emu.pe_witness import Lane, mac_balanced, mac_direct, mac_queued

# A step waits for the earlier steps of its run on this unit.
WAITS_FOR = {"mac": "ld", "spu": "mac", "st": "spu"}


@dataclass(eq=False)
class Cluster:
    """The runs of a cluster, its weight queues, and cycle and name of each instruction's start."""

    number: int
    queue: list[int]
    runs: list[Run] = field(default_factory=list)
    receiver: Run | None = None  # the run to which the bus sends a segment now
    starts: list[tuple[int, str]] = field(default_factory=list)


@dataclass
class Packet:
    """The packet on the bus, and how much of it was sent."""

    row: Config | Work
    order: int
    offset: Sequence[int]
    length: Sequence[int]
    opened: bool = False
    commanded: bool = False
    segment: int = 0
    sent: int = 0


@dataclass
class Parser:
    """The config that the parsers of all clusters store."""

    program: Program
    missing: int  # bytes of the sequence that have not arrived
    coming: int  # segments after the sequence that have not arrived
    stored: int = 0


class Banks:
    """The banks of a half of an on-chip unit, with the bus and the return bus as requesters."""

    def __init__(self, sizes: Sizes) -> None:
        self.count, self.width = sizes.banks, sizes.bank_width
        self.pieces: dict[str, deque[set[int]]] = {}  # banks for each cycle, by requester
        self.granted = {"bus": -1, "return": -1}  # the cycle of the last grant

    def words(self, first: int, length: int) -> range:
        return range(first // self.width, (first + length - 1) // self.width + 1)

    def request(self, requester: str, words: Sequence[int]) -> None:
        """Request words; a word that needs a bank of an earlier word waits for the next cycle."""
        pieces = deque([dict[int, int]()])
        for word in words:
            if pieces[-1].setdefault(word % self.count, word) != word:
                pieces.append({word % self.count: word})
        self.pieces[requester] = deque(set(piece) for piece in pieces)

    def arbitrate(self, time: int) -> None:
        """Grant requests in a device cycle: first the one that waited longest for its last grant."""
        busy = set[int]()
        for requester in sorted(self.pieces, key=lambda name: (self.granted[name], name)):
            if busy.isdisjoint(self.pieces[requester][0]):
                busy |= self.pieces[requester].popleft()
                self.granted[requester] = time
        self.pieces = {name: pieces for name, pieces in self.pieces.items() if pieces}


class TimedRow:
    """A row that executes a list of packets."""

    def __init__(self, sizes: Sizes, packets: Sequence[Config | Work]) -> None:
        self.sizes, self.waiting = sizes, deque(enumerate(packets))
        self.clusters = [Cluster(c, [0] * sizes.pes) for c in range(sizes.clusters)]
        self.packet: Packet | None = None
        self.beat: list[tuple[int, int]] = []  # segment and bytes of the beat on the bus
        self.parser: Parser | None = None
        self.banks = Banks(sizes)
        self.returning: Cluster | None = None
        self.turn = 0
        self.bus_beats = self.return_beats = 0

    def run(self, most: int = 100_000) -> int:
        """Run to the end; return the number of cycles from the first beat to the last work."""
        for now in range(self.sizes.first, most):
            if not self.cycle(now):
                return now - self.sizes.first
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
        for time in range(now * self.sizes.divider, (now + 1) * self.sizes.divider):
            self.banks.arbitrate(time)
        return busy

    # The bus

    def deliver(self, now: int) -> None:
        """Let the beat on the bus arrive, if the banks have served it."""
        packet, beat = self.packet, self.beat
        if packet is None or "bus" in self.banks.pieces:
            return
        if not beat and (packet.commanded or not packet.opened):
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
                if segment:
                    self.parser.coming -= packet.sent == packet.length[segment]
                else:
                    self.parser.missing -= length
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
                step.first_beat = now - 1 if step.first_beat is None else step.first_beat
            if packet.sent < packet.length[segment]:
                continue
            cluster.receiver = None
            data = packet.row.segments[segment]
            if data.kind == "weights":
                counts = data.entries[run.rank]
                cluster.queue = [a + b for a, b in zip(cluster.queue, counts, strict=True)]
                run.entries = [a + b for a, b in zip(run.entries, counts, strict=True)]
                greatest = run.program.of("window") - 1 if data.dense else data.greatest[run.rank]
                run.greatest = max(run.greatest, greatest)
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
        if self.beat:
            return
        if self.packet is None:
            if not self.waiting:
                return
            order, row = self.waiting.popleft()
            if isinstance(row, Config):
                places = row.segments
            else:
                places = [(data.offset, data.length) for data in row.segments]
            offsets, lengths = [place[0] for place in places], [place[1] for place in places]
            self.packet = Packet(row, order, offsets, lengths)
        packet = self.packet
        if not packet.opened:
            if not self.is_free(packet.row):
                return
            self.open(packet)
            packet.opened = True
        room = self.sizes.width - (not packet.commanded)
        segment, sent, words = packet.segment, packet.sent, list[int]()
        while room and segment < len(packet.length):
            if not sent and not self.can_send(packet, segment, now):
                break
            length = min(room, packet.length[segment] - sent)
            if not sent and isinstance(packet.row, Work):
                for c in packet.row.exe.clusters:
                    self.clusters[c].receiver = self.run_of(self.clusters[c], packet)
            self.beat.append((segment, length))
            words += self.banks.words(packet.offset[segment] + sent, length)
            room, sent = room - length, sent + length
            if sent == packet.length[segment]:
                segment, sent = segment + 1, 0
        if words:
            self.banks.request("bus", words)

    def is_free(self, row: Config | Work) -> bool:
        """Whether the instruction buffers (for a config also the parser) are free everywhere."""
        if isinstance(row, Config):
            needed, every = {row.program.buffer}, list(range(self.sizes.clusters))
        else:
            needed, every = {program.buffer for program in row.exe.chain}, list(row.exe.clusters)
        parser = self.parser
        if parser and (isinstance(row, Config) or parser.program.buffer in needed):
            return False
        return all(needed.isdisjoint(run.buffers) for c in every for run in self.clusters[c].runs)

    def open(self, packet: Packet) -> None:
        row = packet.row
        if isinstance(row, Config):
            self.parser = Parser(row.program, packet.length[0], len(packet.length) - 1)
            return
        for rank, c in enumerate(row.exe.clusters):
            run = Run(row, packet.order, c, rank, [0] * self.sizes.pes)
            run.reserves = True
            lines = (line for program in row.exe.chain for line in program.lines)
            run.has_weights = any(line.startswith(("ld weights", "ld both")) for line in lines)
            self.expand(run)
            self.clusters[c].runs.append(run)

    def expand(self, run: Run) -> None:
        """Add the steps of the present iteration to a run."""
        sequencer = Sequencer(self.sizes, run.work, run.program, run.cluster)
        steps, run.taken = sequencer.steps(run.iteration, run.taken)
        for step in steps:
            if step.unit == "st":
                step.number, run.stores = run.stores, run.stores + 1
            elif step.unit == "mac":
                step.number, run.macs = run.macs, run.macs + 1
            elif step.results_of_each:
                step.number, run.functions = run.functions, run.functions + 1
                if not (sequencer.raw and step.place > sequencer.last_mac):
                    readers = run.work.readers[run.rank][step.number]
                    step.cycles = sequencer.function_cycles(step.results_of_each * readers)
        run.steps += steps
        if run.iteration + 1 == iterations_of(run.program) and not run.following:
            run.reserves = False

    def sequencers(self, run: Run) -> Iterator[Sequencer]:
        """The sequencers of all programs of a run."""
        for program in run.work.exe.chain:
            yield Sequencer(self.sizes, run.work, program, run.cluster)

    def can_send(self, packet: Packet, segment: int, now: int) -> bool:
        """Whether the bus may send the first byte of a segment in this cycle."""
        row = packet.row
        if isinstance(row, Config):
            return True
        data = row.segments[segment]
        for cluster in self.clusters:
            for run in cluster.runs:
                low, high = self.span(run)
                meets = low < data.offset + data.length and data.offset < high
                if run.order < packet.order and meets and self.may_store(run, now):
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

    def span(self, run: Run) -> Span:
        """The first byte of a run's results, and the byte after the last one; (0, 0) if none."""
        exe, pes = run.work.exe, self.sizes.pes
        elements = sum(sequencer.stores() for sequencer in self.sequencers(run)) * exe.count
        if not elements:
            return 0, 0
        low, high = run.cluster * pes * exe.stride, ((run.cluster + 1) * pes - 1) * exe.stride
        return exe.offset + low, exe.offset + high + (elements - 1) * exe.step + 8

    def may_store(self, run: Run, now: int) -> bool:
        if run.reserves and any(sequencer.reserved()[3] for sequencer in self.sequencers(run)):
            return True
        return any(step.unit == "st" and not step.ended(now) for step in run.steps)

    # The return bus

    def write(self, now: int) -> None:
        """End the beat on the return bus, if the banks have served it."""
        if "return" in self.banks.pieces:
            return
        cluster, self.returning = self.returning, None
        if cluster is None:
            return
        self.return_beats += 1
        self.turn = (self.clusters.index(cluster) + 1) % len(self.clusters)
        step = self.storing(cluster)
        assert step is not None
        step.beats.pop(0)
        if not step.beats:
            step.end = now - 1

    def storing(self, cluster: Cluster) -> Step | None:
        steps = (step for run in cluster.runs for step in run.steps)
        return next((s for s in steps if s.unit == "st" and s.start is not None and s.beats), None)

    def choose(self) -> None:
        """Choose the cluster of the next beat on the return bus."""
        if self.returning is not None:
            return
        for number in range(len(self.clusters)):
            cluster = self.clusters[(self.turn + number) % len(self.clusters)]
            step = self.storing(cluster)
            if step is not None:
                self.returning = cluster
                self.banks.request("return", step.beats[0])
                return

    # The parser

    def parse(self) -> None:
        """Store the next instruction of a config, if it has arrived."""
        if self.parser is None:
            return
        left = len(self.parser.program.lines) - self.parser.stored
        if left and self.parser.missing <= 2 * (left - 1):
            self.parser.stored, left = self.parser.stored + 1, left - 1
        if not left and not self.parser.coming:
            self.parser = None

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
            if not ended or max(run.written.values(), default=0) >= now:
                continue
            if not run.following:
                cluster.runs.remove(run)
            else:  # the buffer triggers the next one
                run.link, run.iteration, run.looped = run.link + 1, 0, False
                run.steps, run.written = [], {}
                run.issue = {False: now + 2, True: now + 2}
                self.expand(run)
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
        if cluster.number not in packet.row.exe.clusters or self.beat or packet.sent:
            return False
        if packet.segment == len(packet.length):
            return False
        other = self.run_of(cluster, packet)
        return other.program.buffer <= run.program.buffer and self.can_send(
            packet, packet.segment, now
        )

    def heads(self, cluster: Cluster, run: Run) -> bool:
        """Whether the run's weights are the first in the weight queue."""
        return next(other for other in cluster.runs if other.has_weights) is run

    def conflicts(self, cluster: Cluster, run: Run, step: Step, now: int) -> bool:
        """Whether an earlier step, or what an earlier run reserves, keeps a step from starting."""
        span = self.span(run)
        for other_run in cluster.runs:
            other_span = self.span(other_run)
            same_bytes = span[0] < other_span[1] and other_span[0] < span[1]
            same_bytes = same_bytes and step.unit == "st" and other_run is not run
            for other in other_run.steps:
                if other is step:
                    return False
                if other.ended(now):
                    continue
                if step.sums & other.uses(now) or step.results & other.results:
                    return True
                if step.fills & (self.reads(other_run, other) | other.fills):
                    return True
                if self.reads(run, step) & other.fills or (same_bytes and other.unit == "st"):
                    return True
            if other_run is run or not other_run.reserves:
                continue
            every = [sequencer.reserved() for sequencer in self.sequencers(other_run)]
            bases = [base for _, _, bases, _ in every for base in bases]
            reads = self.reads_of(other_run, min(bases), max(bases)) if bases else NONE
            if step.fills & reads or (same_bytes and any(stores for *_, stores in every)):
                return True
            if any(step.sums & sums or step.results & results for sums, results, *_ in every):
                return True
        return False

    def reads(self, run: Run, step: Step) -> Names:
        """The blocks of the input buffer that a mac reads."""
        return self.reads_of(run, *step.base) if step.unit == "mac" else NONE

    def reads_of(self, run: Run, first: int, last: int) -> Names:
        """The blocks that macs with bases from `first` to `last` read."""
        if run.greatest < 0:
            return NONE
        return blocks((first, last + run.greatest), self.sizes.inputs // BLOCKS)

    def start(self, cluster: Cluster, run: Run, step: Step, now: int) -> None:
        step.start, run.issue[step.streams] = now, now + 1
        cluster.starts.append((now, run.program.lines[step.place].split()[0]))
        if step.segments:
            step.end = None if step.last_beat is None else max(step.last_beat + 1, now)
        elif step.unit == "st":
            step.beats = self.store_beats(run, step)
            run.stored += run.work.exe.count
            step.end = None if step.beats else now
        elif step.unit == "mac":
            step.end = now + self.mac(run, step) - 1
        else:
            step.end = now + step.cycles - 1

    def store_beats(self, run: Run, step: Step) -> list[list[int]]:
        """The words of each beat of a store, ordered by address; an element has 8 bytes."""
        exe = run.work.exe
        places = sorted(
            exe.offset + (run.cluster * self.sizes.pes + k) * exe.stride + number * exe.step
            for k in run.work.writers[run.rank][step.number]
            for number in range(run.stored, run.stored + exe.count)
        )
        every = [(place + byte) // self.sizes.bank_width for place in places for byte in range(8)]
        width = self.sizes.width
        return [every[at : at + width] for at in range(0, len(every), width)]

    def mac(self, run: Run, step: Step) -> int:
        """The cycles of a mac."""
        hits = run.work.hits[run.rank][step.number]
        lanes = [Lane(deque((number, 1) for number in range(len(own)))) for own in hits]
        places = self.sizes.queue_1, self.sizes.queue_2
        if "balance" in run.program.lines[step.place]:
            _, found = mac_balanced(lanes, hits, places, self.sizes.threshold)
            longest = max(len(lane.took) for lane in lanes)
            return max(1, longest + any(found.given))
        for lane, own in zip(lanes, hits, strict=True):
            if self.sizes.design == "5a":
                mac_direct(lane, own)
            else:
                mac_queued(lane, own, *places)
        return max(1, *(len(lane.took) for lane in lanes))

    def loop_back(self, cluster: Cluster, run: Run, now: int) -> None:
        """Begin the next iteration, or end the last one, if the present one allows it."""
        if run.has_weights and not self.heads(cluster, run):
            return
        program = run.program
        last = run.iteration + 1 == iterations_of(program)
        for step in run.steps:
            if step.unit in ("ld", "mac") and not step.ended(now):
                return
            if step.start is None and not last:
                return
        state = program.of("state")
        stay = last and run.following and run.following[0].of("state") == state
        if state == 0 or (last and not stay):
            self.drop(cluster, run, run.entries)
            run.greatest = -1
        elif state == 2 and not last and any(run.entries):
            ends_inner = (run.iteration + 1) % program.of("inner") == 0
            amount = program.of("window" if ends_inner else "pop")
            self.drop(cluster, run, [amount] * self.sizes.pes)
        if last:
            run.looped = True
            run.has_weights = run.has_weights and bool(run.following)
            return
        run.iteration += 1
        run.steps = [step for step in run.steps if not step.ended(now)]
        self.expand(run)

    def drop(self, cluster: Cluster, run: Run, counts: Sequence[int]) -> None:
        """Remove weights of a run from the heads of the weight queues."""
        cluster.queue = [a - b for a, b in zip(cluster.queue, counts, strict=True)]
        run.entries = [a - b for a, b in zip(run.entries, counts, strict=True)]
