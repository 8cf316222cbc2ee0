"""Writes the source of a plan in which cp queues copies and starts the islands.

Tables describe the copies, and cp reads them in order. The dma gives each copy a ticket, a number
by which cp knows whether the inputs of a step have arrived. Register s7 has the latest ticket.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from numpy.typing import NDArray

from macaw.isa.config import Configuration
from macaw.isa.fim import CORE
from macaw.isa.fim_circuit import FORMATS
from macaw.isa.fim_islands import BANK_SECTION, island_address
from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.errors import LowerError
from macaw.lowering.fim import labels as own
from macaw.lowering.fim import residency
from macaw.lowering.fim.block_program import Block, size
from macaw.lowering.fim.dma_timing import ISLAND, LOCAL, Copy, Location
from macaw.lowering.fim.graph import Graph
from macaw.lowering.fim.host_job import SHARED, ZEROS
from macaw.lowering.fim.island_job import Phase, copies
from macaw.lowering.fim.number_arrays import stored
from macaw.lowering.fim.plan import BRING, FETCH, HOST, PREFETCH, START, GraphPlan, Step
from macaw.lowering.fim.routes import Route
from macaw.lowering.listing import Listing, string
from macaw.lowering.operation import counted

BLOCKS = "blocks"  # followed by the number of a step: the label of its blocks
COPY_FORM = "destination, source, bytes of a row, rows, strides"  # words of a copy
FEW = 2  # the most copies that are written without a loop
CODE = 128 << 10  # bytes of local memory for cp's code and stack


class RoomError(LowerError):
    """Raised if the words of all steps of an island do not fit into its program memory.

    `used` says how many steps and words the island has.
    """

    used: str = ""


@dataclass(frozen=True)
class LoweredGraph:
    """The assembly source of a graph, and the arrays that the source includes, by file name."""

    source: str
    files: dict[str, NDArray[Any]]


def emit(
    plan: GraphPlan, graph: Graph, config: Configuration, device: str = "base", name: str = ""
) -> LoweredGraph:
    """Return the program of a plan.

    `device` is the argument of `.device`. The names of files begin with `name` and a dot if `name`
    is not empty. Raises `LowerError` if the steps do not fit the islands or the memory.
    """
    return ProgramWriter(plan, graph, config, device, name).source_text()


def words_of_islands(plan: GraphPlan) -> dict[int, int]:
    """Return the number of words that a plan's program has on each island, by the island's number.

    They include one `endall` for each step.
    """
    words: dict[int, int] = {}
    for step in plan.steps:
        if step.option.island is not None:
            blocks = step.option.job.blocks()
            own = 1 + sum(2 + size(block.items) for block in blocks)
            words[step.option.island] = words.get(step.option.island, 0) + own
    return words


def scratch_bytes(plan: GraphPlan, config: Configuration) -> int:
    """Return the number of bytes of cp's local memory that the copies of a plan pass through."""
    writer = ProgramWriter(plan, plan.graph, config, config.name)
    writer.program()
    return sum(writer.scratch.values())


class ProgramWriter:
    """Writes the source of a static plan: cp's code, tables, data and the islands' blocks."""

    def __init__(
        self,
        plan: GraphPlan,
        graph: Graph,
        config: Configuration,
        device: str,
        name: str = "",
        label_prefix: str = "",
    ) -> None:
        self.plan, self.graph, self.config, self.device = plan, graph, config, device
        self.prefix = f"{name}." if name else ""
        self.label_prefix = label_prefix  # begins all labels except those of inputs and results
        self.numbers = FORMATS[graph.form]
        self.files: dict[str, NDArray[Any]] = {}
        self.code: list[str] = []
        self.tables: list[str] = []
        self.scratch: dict[str, int] = {}
        self.phases: dict[int, list[Phase]] = {}
        self.sources: set[tuple[int, str]] = (
            set()
        )  # steps and symbols of the files that copies read
        self.between = self._between()
        names = {tensor.name for tensor in (*graph.inputs, *graph.results)}
        self.labels = {name: name for name in names} | self.between
        self.images = tuple(residency.images(plan.steps))

    def _between(self) -> dict[str, str]:
        """Return a label for each tensor that steps store, by name, except inputs and results.

        Raises `LowerError` if an input or a result has a name that is a label of the program.
        """
        graph = self.graph
        visible = {tensor.name for tensor in (*graph.inputs, *graph.results)}
        for name in visible:
            own.check(name)
        stored = (tensor for step in self.plan.steps for tensor in step.option.results)
        outputs = dict.fromkeys(tensor.memory.name for tensor in stored)
        names = (name for name in outputs if name not in visible)
        return {name: self.own(f"t{number}_between") for number, name in enumerate(names)}

    def own(self, label: str) -> str:
        """Return `label` with the prefix of all labels of this program (empty by default)."""
        return f"{self.label_prefix}{label}"

    def source_text(self) -> LoweredGraph:
        """Return the program: the whole source, and the arrays that it includes."""
        out = Listing()
        out.comment(self.title())
        self._tensors(out)
        self.program()
        self.write_control(out, "_start", "li a0, 0\nli a7, 93\necall")
        self.write_data(out)
        self.more_data(out)
        self.write_blocks(out)
        return LoweredGraph(out.text(), self.files)

    def write_control(self, out: Listing, entry: str, last: str) -> None:
        """Write the code of cp to `out`, and the tables of copies.

        The code begins at the label `entry` and ends with the instructions `last`.
        """
        copy = self.own("copy\\@")
        out.block(".core cp\n.macro copies table, count\nla a0, \\table\nli a1, \\count")
        out.block(f"{copy}: dma.copy s7, a0\naddi a0, a0, 24\naddi a1, a1, -1")
        out.block(f"bnez a1, {copy}\n.endm")
        out.put("", label=entry)
        out.block("\n".join(self.code))
        out.block(f"dma.wait zero\n{last}")
        out.block(".data\n.balign 4")
        out.comment(COPY_FORM)
        out.block("\n".join(self.tables))

    def title(self) -> str:
        """Return the comment at the top of the source."""
        steps = counted(len(self.plan.steps), "step")
        return (
            f"Tasks of a graph on the islands of {self.device}, by a plan of"
            f" {steps}, {self.plan.makespan} cycles as predicted."
        )

    def program(self) -> None:
        """Append the code of all actions of the plan to `code`, and their tables to `tables`."""
        does = {
            PREFETCH: self.prefetch,
            BRING: self.bring,
            START: self.start,
            FETCH: self.fetch,
            HOST: self.host,
        }
        for action in self.plan.actions:
            does[action.kind](self.plan.steps[action.step])

    def blocks(self, step: Step) -> list[Block]:
        """Return the blocks that the step's island executes."""
        blocks: list[Block] = step.option.job.blocks()
        return blocks

    def more_data(self, out: Listing) -> None:
        """Write further data of cp; a static plan needs none."""

    def _tensors(self, out: Listing) -> None:
        out.put(f".device {self.device}")
        for kind, tensors in ((".input", self.graph.inputs), (".output", self.graph.results)):
            for tensor in tensors:
                sizes = ", ".join(map(str, self.graph.shape(tensor)))
                out.put(f"{kind} {tensor.name}, {self.numbers.dtype}, {sizes}")

    def host(self, step: Step) -> None:
        """Write code that queues the copies of a step of the host."""
        self._copies(step, f"h{step.number}", step.option.job.phases()[0].bring)

    def bring(self, step: Step) -> None:
        """Write code that queues the copies of a step's inputs.

        Constants are among them unless they are copied in advance or are in the banks already.
        """
        first = self._phases(step)[0]
        routes = first.bring if self.plan.needs_constants(step) else first.late
        self._copies(step, f"b{step.number}", routes)

    def prefetch(self, step: Step) -> None:
        """Write code that queues the copies of a step's constants, before its other inputs."""
        first = len(self.code)
        self._copies(step, f"early{step.number}", self._phases(step)[0].early)
        self.code[first] += f" # constants of step {step.number}, in advance"

    def start(self, step: Step) -> None:
        """Write code that waits for a step's inputs and starts its blocks.

        If the step has several starts, the code also makes the copies between them.
        """
        self._start(step)
        for number, (phase, after) in enumerate(pairwise(self._phases(step))):
            self._copies(step, f"f{step.number}_{number}", phase.fetch)
            self._copies(step, f"b{step.number}_{number + 1}", after.bring)
            self._start(step)

    def fetch(self, step: Step) -> None:
        """Write code that queues the copies of a step's results."""
        self._copies(step, f"f{step.number}", self._phases(step)[-1].fetch)

    def _phases(self, step: Step) -> list[Phase]:
        if step.number not in self.phases:
            self.phases[step.number] = list(step.option.job.phases())
        return self.phases[step.number]

    def wait_for_inputs(self) -> None:
        """Write code that waits for the copy that was queued last, so that all inputs are there."""
        self.code.append("dma.wait s7")

    def _start(self, step: Step) -> None:
        island = step.option.island
        assert island is not None
        self.wait_for_inputs()
        self.code += [
            f"li a0, {CORE.number + island} # island {island}",
            f"la a1, {self.own(BLOCKS)}{step.number}",
            "core.start a0, a1",
        ]

    # --- copies ---

    def _copies(self, step: Step, name: str, routes: Sequence[Route]) -> None:
        """Write code that queues the copies of `routes`, and a table `name` that describes them."""
        several, name = copies(tuple(routes)), self.own(name)
        if not several:
            return
        for route in routes:
            for symbol, count in route.scratch.items():
                label = self.scratch_label(step, symbol)
                self.scratch[label] = max(count, self.scratch.get(label, 0))
        self.tables.append(f"{name}:")
        self.tables += [self._words(step, copy) for copy in several]
        if len(several) <= FEW:
            for number in range(len(several)):
                self.code += [f"la a0, {name} + {24 * number}", "dma.copy s7, a0"]
        else:
            self.code.append(f"copies {name}, {len(several)}")

    def _words(self, step: Step, copy: Copy) -> str:
        dst, src = (self._place(step, place) for place in (copy.dst, copy.src))
        return f".word {dst}, {src}, " + ", ".join(map(str, copy.words()))

    def _place(self, step: Step, place: Location) -> str:
        if place.memory == ISLAND:
            return f"{island_address(place.island) + place.offset:#x}"
        if place.memory == LOCAL:
            name = self.scratch_label(step, place.symbol)
        else:
            self.sources.add((step.number, place.symbol))
            name = self.labels.get(place.symbol) or self._file(step, place.symbol)
        return f"{name} + {place.offset}" if place.offset else name

    def scratch_label(self, step: Step, symbol: str) -> str:
        """Return the label of the local memory `symbol` through which the copies of a step pass."""
        if symbol in (SHARED, ZEROS):
            return self.own(symbol)
        return self.own(f"s{step.number}_{symbol.replace('.', '_')}")

    def _file(self, step: Step, symbol: str) -> str:
        return self.own(f"c{step.number}_{symbol.partition('.')[0]}")

    def write_data(self, out: Listing) -> None:
        """Write the constants, the tensors between steps, and the local memory for copies.

        Raises `LowerError` if the copies need more local memory than cp has.
        """
        self._check_scratch()
        for step in self.plan.steps:
            for symbol, array in step.option.job.files().items():
                if (step.number, symbol) in self.sources:  # otherwise an earlier step brings it
                    name = self._file(step, symbol)
                    file = f"{self.prefix}{name}.npy"
                    self.files[file] = stored(array, self.numbers)
                    out.block(f".balign 64\n{name}: .npy {string(file)}")
        for name, label in self.between.items():
            count = self.graph.tensors[name].numbers * self.numbers.size
            out.block(f".balign 64\n{label}: .skip {count} # {name}")
        if self.scratch:
            out.block(".section .data.cp")
            for name, count in self.scratch.items():
                out.block(f".balign 64\n{name}: .skip {count}")

    def _check_scratch(self) -> None:
        used, most = sum(self.scratch.values()) + CODE, self.config["mem.local_bytes"]
        if used > most:
            raise LowerError(
                f"copies go through {used} bytes of cp's local memory, mem.local_bytes is {most}"
            )

    def write_blocks(self, out: Listing) -> None:
        """Write the blocks of each island, and the constants that stay in its banks.

        Raises `RoomError` if an island has too many words.
        """
        for island in range(self.config["fim.islands"]):
            steps = [step for step in self.plan.steps if step.option.island == island]
            if not steps:
                continue
            self._check_words(island, steps)
            out.put(f".core fim, island={island}")
            for place, step in enumerate(steps):
                if place:
                    out.put("endall")
                label = f"{self.own(BLOCKS)}{step.number}"
                for block in self.blocks(step):
                    out.block("\n".join(block.lines(label)))
                    label = ""
            self.end_island(out)
            self._resident(out, island)

    def end_island(self, out: Listing) -> None:
        """Write the lines after the last block of an island: none, because the program ends."""

    def _resident(self, out: Listing, island: int) -> None:
        """Write the constants that the loader puts into the banks of an island."""
        for placed in self.images:
            if placed.island != island:
                continue
            file = f"{self.prefix}r{placed.number}_{placed.image.symbol}.npy"
            self.files[file] = stored(placed.image.array, self.numbers)
            part = CORE.section.format(island)
            for bank, index in placed.image.places:
                out.put(f".section {BANK_SECTION.format(part, bank, placed.row)}")
                out.put(f".npy {string(file)}[{index}]")

    def _check_words(self, island: int, steps: Sequence[Step]) -> None:
        words, most = sum(step.option.job.words for step in steps), self.config["fim.instructions"]
        if words > most:
            used = f"the {len(steps)} steps of island {island} have {words} words"
            error = RoomError(f"{used}, fim.instructions is {most}")
            error.used = used
            raise error
