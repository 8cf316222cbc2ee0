"""Random packet lists, for the engine and for a model without time."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from macaw.emu.device import Device
from macaw.isa import codec
from macaw.isa.codec import decode
from macaw.isa.pe import (
    ACTIVATIONS,
    CORE,
    ELEMENTS,
    INSTRUCTION_BITS,
    THEN,
    strided,
)
from tests.emu.pe_builder import SegmentBytes, Unit, instruction, record, scales, sequence
from tests.emu.pe_timed_steps import Config, Data, Work
from tests.emu.pe_untimed import BLOCKS, Exe, Model, One, Program, Refused, single

CLUSTERS, PES, INPUTS, OUTPUTS, WEIGHTS = 2, 3, 256, 64, 130
BLOCK = INPUTS // BLOCKS
REGIONS = 3  # places for results, which later segments may read
MOST = 80  # results of 8 bytes a PE in a region
WIDTH = CLUSTERS * PES * 8 * MOST  # bytes of a region
BUFFERS = (0, 1, 8, 30)


Operand = tuple[str, Any]  # type of a segment, and its values or where they are


class Generator:
    """Makes a random list for the engine and for the untimed model."""

    def __init__(self, seed: int, config: dict[str, Any] | None = None) -> None:
        """`config` has settings of the device besides the random ones."""
        self.random = random.Random(seed)
        self.packets: list[Config | Work] = []
        pick = self.random.choice
        self.unit = Unit(
            {
                "pe.clusters": CLUSTERS,
                "pe.pes": PES,
                "pe.input_buffer": INPUTS,
                "pe.output_queue": OUTPUTS,
                "pe.weight_queue": WEIGHTS,
                "pe.overflow": "wrap",
                "pe.design": pick(["5a", "5b"]),
                "pe.divider": pick([1, 1, 3]),
                "dist.bus_bytes": pick([3, 64, 128]),
                "sfu.rate": pick([1, 4]),
                "sfu.latency": pick([1, 3]),
                **(config or {}),
            },
            data_at=0x4000,
        )
        self.model = Model(CLUSTERS, PES, INPUTS, OUTPUTS, WEIGHTS)
        self.regions = [self.unit.space(WIDTH) for _ in range(REGIONS)]
        for region in self.regions:
            for at in range(region, region + WIDTH, 8):
                self.model.memory[at] = bytes(8)
        self.sequences: dict[int, Program] = {}
        self._fill_everything()

    def _fill_everything(self) -> None:
        """Fill the whole input buffer and most of the output queue, so that few lists fault."""
        lines = ("ld activations base=0", "ld psums base=0", "ld psums base=5", "ld psums base=9")
        self.sequences[31] = Program(lines, {}, buffer=31)
        self._config(self.sequences[31], None)
        operands = [
            self._activations(CLUSTERS, INPUTS),
            *(self._psums(CLUSTERS, 4) for _ in range(3)),
        ]
        exe = self._exe(31, tuple(range(CLUSTERS)), operands, 0, 0, 0)
        self._add(31, exe, self.model.run(exe))

    def _weights(self, clusters: int) -> Any:
        def entry() -> tuple[int, int]:
            return self.random.randrange(2 * BLOCK), self.random.randrange(-128, 128)

        return "weights", [
            [[entry() for _ in range(self.random.choice([0, 3, 25]))] for _ in range(PES)]
            for _ in range(clusters)
        ]

    def _window(self, clusters: int) -> Any:
        count = self.random.randrange(1, 30)
        return "weights", self._activations(clusters, count)[1]

    def _activations(self, clusters: int, count: int) -> Any:
        def value() -> int:
            return self.random.choice([0, self.random.randrange(-128, 128)])

        return "activations", [
            [[value() for _ in range(count)] for _ in range(PES)] for _ in range(clusters)
        ]

    def _psums(self, clusters: int, count: int) -> Any:
        return "psums", [
            [[self.random.randrange(-1000, 1000) for _ in range(count)] for _ in range(PES)]
            for _ in range(clusters)
        ]

    def sequence(self) -> None:
        """Add a config of a random sequence."""
        pick: Callable[[Sequence[Any]], Any] = self.random.choice
        ib = pick([*BUFFERS])
        block = lambda: self.random.randrange(BLOCKS)  # noqa: E731
        layer = pick([True, False])
        lines = [pick(["ld weights", f"ld both base={block()}", f"ld activations base={block()}"])]
        if layer:  # one that seldom faults, whatever loops and steps it gets
            lines = self._layer()
        for _ in range(0 if layer else self.random.randrange(1, 8)):
            a, b = self.random.randrange(4), block()
            lines.append(
                pick(
                    [
                        "ld weights",
                        f"ld activations base={b}",
                        f"ld psums base={b}",
                        f"mac base={b} acc={a}",
                        f"mac base={b} acc={a} sfu",
                        f"spu nonsf src={a} dst={b}",
                        f"spu activation src={b} dst={block()}",
                        f"spu requantise src={b} dst={block()}",
                        f"spu reduce src={b} dst={self.random.randrange(8)}",
                        *([f"spu nonsf src={8 + a} dst={b}"] * pick([0, 0, 1])),
                        f"st base={b}",
                    ]
                )
            )
        header: dict[str, Any] = {
            "activation": self.random.randrange(2),
            "shift": self.random.randrange(6),
        }
        header |= {"state": pick([0, 0, 1, 2]), "window": self.random.randrange(1, 9)}
        header |= {"pop": self.random.randrange(4), "reduction": self.random.randrange(1, 5)}
        steps: dict[tuple[int, int], tuple[int, int]] = {}
        if layer or pick([False, True]):
            header |= {"inner": self.random.randrange(1, 4), "outer": pick([1, 1, 2])}
            header["pipeline"] = pick([2, 4, 4])
            if header["pipeline"] == 4:
                steps = self._steps(lines)
        strides = self._strides(lines) if pick([False, True]) else {}
        others = [other for other in BUFFERS if other > ib and other in self.sequences]
        if others and pick([False, True, False]):
            header["then"] = THEN + pick(others)
        scale, table = self._scales(), self._table()
        if table:
            header["activation"] = ACTIVATIONS.index("table")
        self.sequences[ib] = Program(tuple(lines), header, steps, ib, strides, scale, table)
        self.model.configure(ib)
        data = [scales(scale)] * bool(scale) + [self.unit.table(table)] * bool(table)
        self.random.shuffle(data)
        types = {"requantise": 1} if scale else pick([None, {}])
        self._config(self.sequences[ib], types, data)

    def _config(
        self, program: Program, types: dict[str, int] | None, data: Sequence[SegmentBytes] = ()
    ) -> None:
        """Add the config packet of a program."""
        made = sequence(
            *program.lines,
            steps=[(*at, *step) for at, step in program.steps.items()],
            strides=[(*at, *stride) for at, stride in program.strides.items()],
            types=types,
            words=None,
            **program.header,
        )
        segments = [("sequence", "broadcast", made), *data]
        places = [self._place(item) for _, _, item in segments]
        words = [
            (kind, mode, place) for (kind, mode, _), place in zip(segments, places, strict=True)
        ]
        self.unit.packet(codec.encode(CORE.by_mnemonic["config"], {"ib": program.buffer}), words)
        self.packets.append(Config(program, [(place.start, len(place)) for place in places]))

    def _place(self, data: bytes) -> range:
        """Place bytes in the unit; return their offsets."""
        return range(self.unit.put(data), self.unit.put(b"", 1))

    def _scales(self) -> list[float]:
        """A scale for each PE of the row, or an empty list."""
        if self.random.random() < 0.5:
            return []
        draw = lambda: self.random.choice([-1, 1, 1]) * 2 ** self.random.uniform(-12, 2)  # noqa: E731
        return [single(draw()) for _ in range(CLUSTERS * PES)]

    def _table(self) -> list[int]:
        """The entries of a table, or an empty list."""
        if self.random.random() < 0.6:
            return []
        return [self.random.randrange(-128, 128) for _ in range(256)]

    def _layer(self) -> list[str]:
        """Lines of loads, macs, results and stores, in this order."""
        pick, base, block = self.random.choice, self.random.randrange(1, 12), self.random.randrange
        accs = self.random.sample(range(4), pick([1, 2]))
        lines = ["ld weights", f"ld activations base={base}"] if pick([True, False]) else []
        lines = lines or [f"ld both base={base}"]
        sfu = pick(["", " sfu"])
        balance = pick(["", " balance"]) if self.unit.config["pe.design"] == "5b" else ""
        lines += [f"mac base={base} acc={a}{sfu}{balance}" for a in accs]
        function = pick(["activation", "requantise", "reduce"]) if sfu else "nonsf"
        lines += [f"spu {function} src={a} dst={block(8)}" for a in accs] * pick([0, 1])
        lines += [f"st base={line[-1]}" for line in lines if "dst=" in line and line[-2] == "="]
        return lines

    def _steps(self, lines: list[str]) -> dict[tuple[int, int], tuple[int, int]]:
        """Steps of some operands, mostly so small that they do not fault."""
        steps = {}
        for number, line in enumerate(lines):
            for operand in range(2 if line.startswith(("mac", "spu")) else 1):
                if self.random.random() < 0.3:
                    counts_sums = line.startswith("mac") and operand
                    counts_sums = counts_sums or (line.startswith("spu nonsf") and not operand)
                    most = 1 if counts_sums else 3
                    steps[number, operand] = (
                        self.random.randrange(-most, most + 1),
                        self.random.randrange(-most, most + 1),
                    )
        return steps

    def _strides(self, lines: list[str]) -> dict[tuple[int, int], tuple[int, int]]:
        """Strides of some operands that may have them, mostly so small that they do not fault."""
        strides = {}
        for number, line in enumerate(lines):
            found = decode(CORE, instruction(line), INSTRUCTION_BITS)
            for operand in strided(found.row, found.values):
                if self.random.random() < 0.4:
                    blocks = line.startswith(("ld activations", "ld both"))
                    unit = self.random.choice([1, BLOCK]) if blocks else 1
                    strides[number, operand] = (
                        unit * self.random.randrange(-2, 3),
                        unit * self.random.randrange(-2, 3),
                    )
        return strides

    def _chain(self, ib: int) -> tuple[Program, ...]:
        chain = [self.sequences[ib]]
        while "then" in chain[-1].header:
            chain.append(self.sequences[chain[-1].header["then"] - THEN])
        return tuple(chain)

    def exe(self) -> None:
        """Add an exe of a random buffer, unless the model says that it would fault."""
        ib = self.random.choice([ib for ib in self.sequences if ib != 31])
        clusters = self.random.choice([(0,), (1,), (0, 1), (0, 1)])
        region = self.random.randrange(REGIONS)
        operands: list[Operand] = []
        loads = []
        for number, part in enumerate(self._chain(ib)):
            mine = [(part, line) for line in part.lines if line.startswith("ld")]
            loads += mine
            if part.of("inner") * part.of("outer") > 1:  # what later iterations take
                more = self.random.randrange(3) if number == 0 else 0
                loads += [item for item in mine if "psums" not in item[1]] * more
        for part, line in loads:
            kind = line.split()[1]
            if kind in ("weights", "both") and line.startswith("ld"):
                dense = part.of("state") == 2
                operands.append(
                    self._window(len(clusters)) if dense else self._weights(len(clusters))
                )
            if kind in ("activations", "both"):
                if line.startswith("ld") and self.random.random() < 0.4:
                    source = self.random.choice([r for r in range(REGIONS) if r != region])
                    start = self.random.randrange(0, WIDTH - 16, 8)
                    operands.append(("activations", (self.regions[source] + start, 16)))
                elif line.startswith("ld"):
                    whole = "both" in line or ("base=" in line and part.lines[0] == "ld weights")
                    count = 4 * BLOCK if whole else self.random.randrange(1, 3 * BLOCK)
                    operands.append(self._activations(len(clusters), count))
            if line.startswith("ld psums") and self.random.random() < 0.5:
                operands.append(self._psums(len(clusters), self.random.randrange(1, 5)))
        exe = self._exe(
            ib, clusters, operands, region, self.random.randrange(2), self.random.randrange(2)
        )
        after = self.model.copy()
        try:
            executions = after.run(exe)
        except (Refused, IndexError):
            return
        self.model = after
        self._add(ib, exe, executions)

    def _exe(
        self,
        ib: int,
        clusters: tuple[int, ...],
        operands: list[Operand],
        region: int,
        shift: int,
        last: int,
    ) -> Exe:
        return Exe(
            self._chain(ib),
            shift,
            last,
            clusters,
            tuple(operands),
            offset=self.regions[region],
            stride=MOST * 8,
            step=8,
            count=self.random.choice([0, 1, 1, 2]),
        )

    def _add(self, ib: int, exe: Exe, executions: Sequence[One]) -> None:
        """Add the packet of an exe that the model has executed."""
        segments, described = list[tuple[str, str, range]](), []
        for number, (kind, operand) in enumerate(exe.operands):
            if isinstance(operand, tuple):
                self._place(bytes(operand[1]))  # keep the addresses of recorded runs
                segments.append((kind, "broadcast", range(operand[0], sum(operand))))
                described.append(Data(kind, operand[0], operand[1], elements=operand[1]))
                continue
            assert isinstance(operand, list)
            slices = [part for cluster in operand for part in cluster]
            if kind == "weights" and number not in exe_dense(exe):
                pairs = [[x for x in part if isinstance(x, tuple)] for part in slices]
                data = b"".join(record([x[0] for x in s], [x[1] for x in s], "int8") for s in pairs)
            else:
                data = np.array(slices, "int32" if kind == "psums" else "int8").tobytes()
            place = self._place(data)
            segments.append((kind, "sliced", place))
            described.append(described_data(kind, operand, place, number in exe_dense(exe)))
        self.packets.append(
            Work(
                exe,
                described,
                [x.hits for x in executions],
                [x.readers for x in executions],
                [x.writers for x in executions],
            )
        )
        out = {"offset": exe.offset, "stride": exe.stride, "step": exe.step, "count": exe.count}
        out["element"] = ELEMENTS.index("int64")
        mask = sum(1 << c for c in exe.clusters)
        self.unit.exe(ib, *segments, out=out, shift=exe.shift, last=exe.last, clusters=mask)


def exe_dense(exe: Exe) -> set[int]:
    """The numbers of the operands with dense weights: their slices hold numbers, not pairs."""
    found = set()
    for number, (_, operand) in enumerate(exe.operands):
        parts = (
            [part for cluster in operand for part in cluster] if isinstance(operand, list) else []
        )
        if any(part and not isinstance(part[0], tuple) for part in parts):
            found.add(number)
    return found


def described_data(kind: str, operand: Any, place: range, dense: bool) -> Data:
    """The segment with an operand of an exe, for the model of time; `place` has its offsets."""
    entries = [[len(part) for part in cluster] for cluster in operand]
    greatest = [-1] * len(operand)
    if kind == "weights" and not dense:
        indices = [[x[0] for part in cluster for x in part] for cluster in operand]
        greatest = [max(numbers, default=-1) for numbers in indices]
    return Data(kind, place.start, len(place), entries, greatest, dense, len(operand[0][0]))


def random_packet_list(
    seed: int, config: dict[str, Any] | None = None, most: int = 16
) -> Generator:
    """A random list; it has fewer than `most` packets after its first configs."""
    made = Generator(seed, config)
    for _ in range(made.random.randrange(2, 7)):
        made.sequence()
    for _ in range(made.random.randrange(3, most)):
        made.exe() if made.random.random() < 0.85 else made.sequence()
    return made


def content_hashes(device: Device) -> tuple[str, str]:
    """Hashes of the row and of memory, which do not depend on the cycle of the last stop."""
    device.sync()
    return device.cores["pe[0]"].state.hash(), device.memory.state.hash()
