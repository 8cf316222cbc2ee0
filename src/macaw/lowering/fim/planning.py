"""Plans a graph and writes its program, with as many constants in the banks as they can hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from math import inf
from typing import Any

from macaw.isa.config import Configuration, load, presets
from macaw.isa.fim_islands import geometry
from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.errors import LowerError
from macaw.lowering.fim import dispatch_program as dispatcher
from macaw.lowering.fim import (
    group_products,
    joint_products,
    options,
    prefetch,
    prefetch_search,
    program,
    residency,
    row_parts,
    split_k,
)
from macaw.lowering.fim.bank_images import BankRows
from macaw.lowering.fim.clock import NEVER
from macaw.lowering.fim.graph import PRODUCT, Graph, Task
from macaw.lowering.fim.option_table import Ask, Unit
from macaw.lowering.fim.plan import GraphPlan, Option, Refusal
from macaw.lowering.fim.readers import Readers
from macaw.lowering.fim.schedule import EFFORT, schedule
from macaw.lowering.layer_source import SourceFiles
from macaw.lowering.listing import string

# The setting with the number of instructions of an island, and the least limit for one step.
INSTRUCTIONS, FEWEST = "fim.instructions", 64
# A graph of at least LEAST_DIVIDED cycles is also planned with tasks that are divided by rows. The
# number of parts is the first one in DIVIDED with which the graph has at most MOST_DIVIDED tasks,
# because planning more tasks would take long.
LEAST_DIVIDED, DIVIDED, MOST_DIVIDED = 30_000, (4, 2), 200


@dataclass(frozen=True)
class Planner:
    """Plans graphs for a device, and writes their programs. All methods raise `LowerError`.

    `name` is the first part of the names of the program's files. `together` allows several tasks in
    one start of an island. Only with `together`, `shared` allows products that several islands
    share, and `divides` allows tasks to be divided by rows. With `dynamic`, cp assigns the steps at
    run time. `resident` limits the constants that stay in the banks of an island: a number of
    bytes, or a float as the share of the rows. `early` allows constants to be copied before the
    other inputs of their step. `effort` limits the search for a plan.
    """

    config: Configuration
    name: str
    together: bool = True
    dynamic: bool = False
    resident: float = 0
    shared: bool = True  # whether islands may share a product
    effort: int = EFFORT  # of the search for a plan
    divides: bool = True  # whether tasks may be divided by rows
    early: bool = True  # whether constants may be copied before the other inputs of their step

    def best(self, graph: Graph) -> tuple[GraphPlan, SourceFiles]:
        """Return the plan that ends first, and its program.

        With `together` and without `dynamic`, a graph with products is also planned with products
        of fewer groups, with products divided along k, and with joint products. If the plan takes
        many cycles, the graph is also planned with its tasks divided by rows. The field `least` of
        the returned plan is the lowest of the lower bounds of all these graphs.
        """
        found = self._plans(graph)
        plan, files = min(found, key=lambda row: row[0].makespan)
        return replace(plan, least=min(other.least for other, _ in found)), files

    def _plans(self, graph: Graph) -> list[tuple[GraphPlan, SourceFiles]]:
        """Return the plan of a graph, then plans of changed graphs that compute the same function.

        The changed graphs have products of fewer groups, products divided along k, joint products,
        or tasks divided by rows. Their results may differ in roundings, and where numbers are
        infinite or NaN (docs/scheduling-fim.md, "Convolutions with groups").
        """
        products = any(task.kind == PRODUCT for task in graph.tasks)
        if not self.together or self.dynamic or not products:
            return [self._with_constants(graph)]
        plans = self._with_groups(graph)
        graph = min((plan for plan, _ in plans), key=lambda plan: plan.makespan).graph
        for count in dict.fromkeys((2, int(self.config["fim.islands"]))):
            by_k = split_k.divided(graph, count)
            if by_k is not None:
                with suppress(LowerError):
                    plans.append(self._with_constants(by_k))
        if len(graph.tasks) == 1:
            return plans
        joined = joint_products.joined(graph)
        if joined is not None:
            with suppress(LowerError):
                plans.append(self._with_constants(joined))
        best = min((plan for plan, _ in plans), key=lambda plan: plan.makespan)
        if not self.divides or best.makespan < LEAST_DIVIDED:
            return plans
        graph = best.graph
        several = (row_parts.divided(graph, count) for count in DIVIDED)
        parts = next((x for x in several if x is not None and len(x.tasks) <= MOST_DIVIDED), None)
        if parts is not None:
            # The parts keep the islands busy; more tasks need a longer search.
            alone = replace(self, shared=False, effort=10 * EFFORT)
            with suppress(LowerError):
                plans.append(alone._with_constants(parts))
        return plans

    def _with_groups(self, graph: Graph) -> list[tuple[GraphPlan, SourceFiles]]:
        """Return the plan of a graph, then plans with its grouped products divided.

        The function divides the products of convolutions with groups into more and more products of
        fewer groups, as long as the plan ends sooner. If a graph cannot be planned, its plan is
        left out; if none can, the function raises the first error.
        """
        plans: list[tuple[GraphPlan, SourceFiles]] = []
        refused: LowerError | None = None
        for form in chain([graph], group_products.divided(graph, self._predictor(graph))):
            try:
                plans.append(self._with_constants(form))
            except LowerError as error:
                refused = refused or error
                continue
            if len(plans) > 1 and plans[-1][0].makespan >= plans[-2][0].makespan:
                break
        if refused is not None and not plans:
            raise refused
        return plans

    def _predictor(self, graph: Graph) -> Callable[[Task], float]:
        """Return a function that predicts the cycles of a task on the island that is best for it.

        The function returns infinity if no island can do the task.
        """
        memory = geometry(self.config)
        reserved = residency.reserved_rows(self.resident, memory)
        rows = BankRows(memory.rows, reserved, True) if reserved else BankRows(memory.rows)

        def cycles(task: Task) -> float:
            answers = options.options((task,), self.config, graph.form, rows)
            return min((row.total for row in answers if isinstance(row, Option)), default=inf)

        return cycles

    def _with_constants(self, graph: Graph) -> tuple[GraphPlan, SourceFiles]:
        """Return a plan and its program, with as many constants in the banks as there is room for.

        At first, all constants of products and functions stay in the banks. If they need more rows
        than `resident` reserves, the scheduler decides for each task whether its constants stay. If
        there is still no plan, no constants stay. With `dynamic` no constants stay, either.
        """
        memory = geometry(self.config)
        reserved = residency.reserved_rows(self.resident, memory)
        if reserved and not self.dynamic:
            for choice in (False, True):
                rows = BankRows(memory.rows, reserved, resident=True)
                with suppress(LowerError):
                    return self._planned(graph, rows, choice)
        return self._planned(graph, BankRows(memory.rows), choice=False)

    def _planned(self, graph: Graph, rows: BankRows, choice: bool) -> tuple[GraphPlan, SourceFiles]:
        """Return the plan and its program for tasks that use the rows in `rows`.

        With `choice`, the scheduler decides for each task whether its constants stay. At first, a
        task may have as many instructions as an island's memory can store. If the program does not
        fit in this memory, the function plans again with half of this limit, and so on. If the rows
        are too few for the constants that are copied in advance, the function also plans without
        such copies, and returns the plan that ends first.
        """
        words = int(self.config[INSTRUCTIONS])
        room_error: program.RoomError | None = None
        while True:
            limited = self.config.changed({INSTRUCTIONS: words})
            try:
                shared = self.shared and self.together and not self.dynamic
                ask = _option_source(graph, limited, rows, choice, shared)
                if self.dynamic or not self.early:
                    ask = _without_early_constants(ask)
                plan = schedule(graph, self.config, ask, self.together, self.effort)
            except LowerError:
                if room_error is None:
                    raise
                raise room_error from None
            if plan.makespan >= NEVER:
                raise LowerError("the constants need more rows than there are for them")
            plan = replace(plan, steps=residency.with_rows(plan.steps, rows.rows))
            fits = self.dynamic or prefetch.with_rows(plan, rows.shared) is not None
            if not self.dynamic:
                plan = prefetch_search.best_times(plan, self.config, rows.shared)
            try:
                files = self._write_program(plan)
            except program.RoomError as error:
                room_error, words = error, words // 2
                if words < FEWEST:
                    raise
                continue
            if fits:
                return plan, files
            # The search counted on constants in the banks for which there are no rows.
            with suppress(LowerError):
                late, late_files = replace(self, early=False)._planned(graph, rows, choice)
                if late.makespan < plan.makespan:
                    return replace(late, least=min(late.least, plan.least)), late_files
            return plan, files

    def _write_program(self, plan: GraphPlan) -> SourceFiles:
        texts: dict[str, str] = {}
        device = self.config.name
        if device not in presets() or load(device) != self.config:
            file = f"{self.name}.device.toml"
            device, texts[file] = string(file), self.config.to_toml()
        emit = dispatcher.emit if self.dynamic else program.emit
        emitted = emit(plan, plan.graph, self.config, device, self.name)
        return SourceFiles(emitted.source, dict(emitted.files), texts)


def _option_source(
    graph: Graph, config: Configuration, rows: BankRows, choice: bool, together: bool
) -> Any:
    """Return a function that returns the options and refusals of tasks that share a start.

    The tasks may use the rows of banks in `rows`. If constants may stay in the banks, `choice`
    gives two options for each island and layout: one in which they stay, and one in which copies
    bring them. Without `choice`, copies bring them only where they cannot stay. With `together`,
    several islands may share a product.
    """

    readers = Readers(graph)

    def ask(unit: Unit, _: Configuration) -> list[Option | Refusal]:
        form, stored = graph.form, readers.results_of(unit) if len(unit) > 1 else ()
        answers = options.options(unit, config, form, rows, together, stored)
        if not rows.resident or not options.has_constants(unit):
            return answers
        exceeds = any(isinstance(row, Refusal) and row.exceeds_memory for row in answers)
        if not choice and not exceeds:
            return answers
        copied = replace(rows, resident=False)
        others = options.options(unit, config, form, copied, together, stored)
        if choice:
            return [*answers, *(row for row in others if isinstance(row, Option))]
        alone, shared = _alone_and_shared(answers)
        alone_copied, shared_copied = _alone_and_shared(others)
        pairs = zip(alone, alone_copied, strict=True)
        single = [copied if isinstance(row, Refusal) else row for row, copied in pairs]
        return [*single, *(shared or shared_copied)]

    return ask


def _without_early_constants(ask: Ask) -> Ask:
    """Return a function that returns the answers of `ask` without copies of constants in advance.

    Its options copy their constants together with their other inputs (`Option.late`).
    """

    def late(unit: Unit, config: Configuration) -> list[Option | Refusal]:
        answers = ask(unit, config)
        return [row.late if isinstance(row, Option) else row for row in answers]

    return late


def _alone_and_shared(
    answers: Sequence[Option | Refusal],
) -> tuple[list[Option | Refusal], list[Option | Refusal]]:
    """Return the options and refusals of single islands, and the options that islands share."""
    alone: list[Option | Refusal] = []
    shared: list[Option | Refusal] = []
    for row in answers:
        (shared if isinstance(row, Option) and row.parts else alone).append(row)
    return alone, shared
