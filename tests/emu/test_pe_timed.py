"""Random packet lists take the cycles of a model written from docs/timing-pe.md."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from macaw.isa.pe import ELEMENTS
from tests.emu.pe_builder import Unit, record
from tests.emu.pe_rows import instruction_starts
from tests.emu.pe_timed import Config, Data, Sizes, TimedRow, Work
from tests.emu.pe_untimed import BLOCKS, Exe, Model, One, Place, Program, Refused

pytestmark = pytest.mark.once

CLUSTERS, PES, INPUTS, OUTPUTS = 2, 3, 64, 64
BLOCK = INPUTS // BLOCKS
MOST = 80  # results of 8 bytes a PE in a region
WIDTH = CLUSTERS * PES * 8 * MOST


class Recorder(One):
    """Executes an exe in one cluster, and notes which activations of its macs are not zero."""

    def __init__(self, model: Model, cluster: int, exe: Exe) -> None:
        super().__init__(model, cluster, exe)
        self.hits: list[list[list[bool]]] = []

    def mac(self, program: Program, bases: Place, a: int) -> None:
        super().mac(program, bases, a)
        held = self.m.input
        self.hits.append(
            [[bool(held[self.c, k][bases.of(k) + x]) for x, _ in self.queue[k]] for k in self.pes]
        )


class Lists:
    """Makes a random list for the engine and for the timed model."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        pick = self.random.choice
        weights = pick([30, 60])
        config: dict[str, Any] = {
            "pe.clusters": CLUSTERS,
            "pe.pes": PES,
            "pe.input_buffer": INPUTS,
            "pe.output_queue": OUTPUTS,
            "pe.weight_queue": weights,
            "pe.overflow": "wrap",
            "pe.design": pick(["5a", "5b"]),
            "pe.load_queue_1": pick([2, 3, 8]),
            "pe.load_queue_2": pick([1, 2]),
            "dist.bus_bytes": pick([3, 8, 32, 64, 128]),
            "sfu.rate": pick([1, 2, 4]),
            "sfu.latency": pick([1, 3]),
            # A bank for each word of the half: no beat waits for a bank.
            "mem.unit_half_bytes": 65536,
            "mem.banks": 1024,
            "mem.bank_width": 64,
        }
        self.unit = Unit(config, data_at=0x4000)
        self.sizes = Sizes(
            CLUSTERS,
            PES,
            INPUTS,
            OUTPUTS,
            weights,
            config["dist.bus_bytes"],
            config["pe.design"],
            config["pe.load_queue_1"],
            config["pe.load_queue_2"],
            config["sfu.rate"],
            config["sfu.latency"],
        )
        self.model = Model(CLUSTERS, PES, INPUTS, OUTPUTS, weights)
        self.regions = [self.unit.space(WIDTH) for _ in range(3)]
        for region in self.regions:
            for at in range(region, region + WIDTH, 8):
                self.model.memory[at] = bytes(8)
        self.programs: dict[int, Program] = {}
        self.packets: list[Config | Work] = []
        lines = (
            "ld activations base=0",
            *(f"ld psums base={block}" for block in range(BLOCKS - 8)),
        )
        self.add_program(Program(lines, {"inner": 1}, buffer=31))
        operands = [self.activations(CLUSTERS, INPUTS), *[self.psums(CLUSTERS, 4)] * 8]
        self.add_exe(Exe((self.programs[31],), 0, 0, (0, 1), tuple(operands), 0, 640, 8, 0))
        for _ in range(self.random.randrange(2, 5)):
            self.sequence()
        for _ in range(self.random.randrange(4, 20)):
            self.exe() if self.random.random() < 0.9 else self.sequence()

    def activations(self, clusters: int, count: int) -> Any:
        draw = lambda: self.random.choice([0, self.random.randrange(-128, 128)])  # noqa: E731
        return "activations", [
            [[draw() for _ in range(count)] for _ in range(PES)] for _ in range(clusters)
        ]

    def weights(self, clusters: int) -> Any:
        draw = self.random.randrange
        count = lambda: self.random.choice([0, 3, 10])  # noqa: E731
        return "weights", [
            [[(draw(2 * BLOCK), draw(-128, 128)) for _ in range(count())] for _ in range(PES)]
            for _ in range(clusters)
        ]

    def psums(self, clusters: int, count: int) -> Any:
        draw = lambda: self.random.randrange(-1000, 1000)  # noqa: E731
        return "psums", [
            [[draw() for _ in range(count)] for _ in range(PES)] for _ in range(clusters)
        ]

    def sequence(self) -> None:
        """Add a config of a random sequence."""
        pick, draw = self.random.choice, self.random.randrange
        block = lambda: draw(BLOCKS - 6)  # noqa: E731
        lines = list(
            pick(
                [
                    ("ld weights", f"ld activations base={block()}"),
                    ("ld activations base=2", "ld weights"),
                    (f"ld both base={block()}",),
                    ("ld weights",),
                ]
            )
        )
        if pick([True, False]):
            lines += self.layer()
        for _ in range(0 if "mac" in lines[-1] else draw(1, 7)):
            a, b = draw(4), block()
            lines.append(
                pick(
                    [
                        "ld weights",
                        f"ld activations base={b}",
                        f"ld psums base={b}",
                        f"mac base={b} acc={a}",
                        f"mac base={b} acc={a}",
                        f"spu nonsf src={a} dst={b}",
                        f"spu activation src={b} dst={block()}",
                        f"spu requantise src={b} dst={block()}",
                        f"st base={b}",
                    ]
                )
            )
        header = {"activation": draw(2), "shift": draw(6), "state": pick([0, 1])}
        header |= {"pipeline": pick([2, 4])}
        if pick([True, False]):
            header |= {"inner": draw(1, 4), "outer": pick([1, 1, 2])}
        steps = {}
        if header["pipeline"] == 4:
            for place, line in enumerate(lines):
                if "base" in line and self.random.random() < 0.4:
                    steps[place, 0] = draw(-2, 3), draw(-2, 3)
        self.add_program(Program(tuple(lines), header, steps, pick([0, 1, 8])))

    def layer(self) -> list[str]:
        """Lines of macs, results and stores, in this order, which seldom fault."""
        pick, draw = self.random.choice, self.random.randrange
        sums = self.random.sample(range(4), pick([1, 2]))
        lines = [f"mac base={draw(BLOCKS - 6)} acc={acc}" for acc in sums]
        moves = [(acc, draw(BLOCKS - 6)) for acc in sums] * pick([0, 1])
        lines += [f"spu nonsf src={acc} dst={block}" for acc, block in moves]
        lines += [f"spu {pick(['activation', 'requantise'])} src={at} dst={at}" for _, at in moves]
        places = [block for _, block in moves] or sums
        return lines + [f"st base={block}" for block in places * pick([0, 1])]

    def add_program(self, program: Program) -> None:
        self.programs[program.buffer] = program
        self.packets.append(Config(program))
        steps = [(*at, *step) for at, step in program.steps.items()]
        header: dict[str, Any] = {**program.header}
        self.unit.config_packet(program.buffer, *program.lines, steps=steps, **header)

    def exe(self) -> None:
        """Add an exe of a random buffer, unless the model without time says that it would fault."""
        pick, draw = self.random.choice, self.random.randrange
        program = self.programs[pick([number for number in self.programs if number != 31])]
        clusters = pick([(0,), (1,), (0, 1), (0, 1)])
        region = draw(3)
        loads = [line for line in program.lines if line.startswith("ld")]
        if program.of("inner") * program.of("outer") > 1:
            loads += [line for line in loads if "psums" not in line] * draw(3)
        operands: list[Any] = []
        for line in loads:
            kind = line.split()[1]
            if kind in ("weights", "both"):
                operands.append(self.weights(len(clusters)))
            if kind in ("activations", "both"):
                if self.random.random() < 0.4:
                    start = self.regions[pick([r for r in range(3) if r != region])]
                    operands.append(("activations", (start + 64 * draw(WIDTH // 64), 16)))
                else:
                    elements = pick([draw(1, 3 * BLOCK), BLOCK, 4 * BLOCK, 4 * BLOCK])
                    operands.append(self.activations(len(clusters), elements))
            if kind == "psums" and pick([True, False]):
                operands.append(self.psums(len(clusters), draw(1, 5)))
        count, flags = pick([0, 1, 1, 2]), (draw(2), draw(2))
        at = self.regions[region]
        exe = Exe((program,), *flags, clusters, tuple(operands), at, MOST * 8, 8, count)
        before = self.model.copy()
        try:
            self.add_exe(exe)
        except (Refused, IndexError):
            self.model = before

    def add_exe(self, exe: Exe) -> None:
        runs = [Recorder(self.model, cluster, exe) for cluster in exe.clusters]
        for run in runs:
            run.run()
        found, segments = [], []
        for kind, operand in exe.operands:
            if isinstance(operand, tuple):
                place = range(operand[0], sum(operand))
                segments.append((kind, "broadcast", place))
                found.append(Data(kind, place.start, len(place), elements=len(place)))
                continue
            slices = [part for cluster in operand for part in cluster]
            if kind == "weights":
                lists = [[x for x in part if isinstance(x, tuple)] for part in slices]
                data = b"".join(
                    record([at for at, _ in part], [x for _, x in part], "int8") for part in lists
                )
            else:
                data = np.array(slices, "int32" if kind == "psums" else "int8").tobytes()
            place = range(self.unit.put(data), self.unit.put(b"", 1))
            segments.append((kind, "sliced", place))
            entries = [[len(part) for part in cluster] for cluster in operand]
            indices = [
                [x[0] for part in cluster for x in part if isinstance(x, tuple)]
                for cluster in operand
            ]
            greatest = [max(numbers, default=-1) for numbers in indices]
            found.append(
                Data(kind, place.start, len(place), entries, greatest, elements=len(slices[0]))
            )
        self.packets.append(Work(exe, found, [run.hits for run in runs]))
        out = {"offset": exe.offset, "stride": exe.stride, "step": exe.step, "count": exe.count}
        out["element"] = ELEMENTS.index("int64")
        mask = sum(1 << c for c in exe.clusters)
        self.unit.exe(
            exe.chain[0].buffer, *segments, out=out, shift=exe.shift, last=exe.last, clusters=mask
        )


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 2**32 - 1))
def test_random_lists_take_the_cycles_of_the_model(seed: int) -> None:
    made = Lists(seed)
    timed = TimedRow(made.sizes, made.packets)
    cycles = timed.run()
    machine = made.unit.machine()
    for c, cluster in enumerate(timed.clusters):
        machine = made.unit.machine()
        assert cluster.started == instruction_starts(machine, c)
    assert machine.row.counters()["cycles"] == cycles
    assert machine.row.counters()["bus_beats"] == timed.bus_beats
    assert machine.row.counters()["return_beats"] == timed.return_beats


def test_the_loader_serves_one_buffer_while_it_loads_sums_from_the_queue() -> None:
    """The bus waits for an ld psums of another buffer, also after a segment for that buffer."""
    unit = Unit()
    unit.config_packet(0, "ld psums base=0")
    unit.config_packet(1, "ld psums base=0", "ld activations base=0")
    unit.config_packet(2, "ld activations base=8")
    unit.exe(0, unit.psums(np.ones((8, 1), int)))
    unit.exe(1, unit.dense([1, 2]))
    unit.exe(2, unit.dense([3, 4]))
    # Each config has one beat: 4, 6 and 9; the parser stores an instruction in 5, in 7 and 8, in 10.
    # Exe 0 has 33 bytes: beats 10 and 11. Its ld starts in 10 + 3. Exe 1 has its command in 12, so
    # ld psums loads in 15 to 18. In 15, its four elements of the queue do not keep the bus from the
    # segment of the same buffer: ld activations starts in 16. The segment of exe 2, whose command
    # comes in 16, waits until the loader is free: beat 19, ld 20.
    assert instruction_starts(unit.machine()) == [(13, "ld"), (15, "ld"), (16, "ld"), (20, "ld")]
