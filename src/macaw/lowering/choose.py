"""Chooses the mapping, split and tile of an operation by the cost model; explains the choice."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np

from macaw.isa.config import Configuration
from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.candidates import least_cycles, plans
from macaw.lowering.cost import Cost, cost
from macaw.lowering.errors import LowerError
from macaw.lowering.mapping import MAPPINGS, Mapping
from macaw.lowering.operation import Product
from macaw.lowering.partition import SPLITS
from macaw.lowering.plan import ProductPlan
from macaw.lowering.size_refusal import refusal

PAYS = 1.03  # balancing must make the cycles smaller at least by this factor to be chosen
# A plan that loads the weights of a tile several times must take fewer cycles at least by this
# factor to be chosen: zero activations save it less time, because it then waits for weights, and
# the model may not know how many activations are zero.
RELOADS = 1.02
PREFERRED = 1.02  # the preferred mapping may take at most this factor times the least cycles


@dataclass(frozen=True)
class Candidate:
    """A plan of an operation, and the cost that the model predicts for it."""

    plan: ProductPlan
    cost: Cost


@dataclass(frozen=True)
class Choice:
    """The result of `choose`: the selected plan and the other candidates.

    `others` has the best candidate of each mapping and split, the cheapest first, and includes the
    selected candidate. `setting` is the name of the setting with the mapping that the device
    prefers, for example `lower.preferred.spmm`.
    """

    selection: Candidate
    others: tuple[Candidate, ...]
    setting: str

    def reasons(self) -> list[str]:
        """Return lines of text that explain why this plan was selected."""
        plan, price = self.selection.plan, self.selection.cost
        lines = [
            f"{plan.mapping.name} stationary, split {plan.partition.split}{plan.variant}:"
            f" {price.cycles:,} cycles and {price.traffic.external:,} bytes of external memory"
            f" predicted; iterations wait for {price.bottleneck}.",
        ]
        best = self.others[0]
        if best is not self.selection:
            lines.append(
                f"{best.plan.mapping.name} stationary, split {best.plan.partition.split}, would"
                f" take {best.cost.cycles:,} cycles; {plan.mapping.name} stationary is preferred"
                f" ({self.setting}) where it costs at most 2% more."
            )
        for mapping in MAPPINGS.values():
            plans_of = [item for item in self.others if item.plan.mapping is mapping]
            if plans_of and mapping is not plan.mapping and plans_of[0] is not best:
                lines.append(_comparison(plans_of[0], self.selection))
        return lines

    def prediction(self) -> str:
        """Return a line of text: the predicted cycles and bytes, and what the iterations wait for.

        They wait for the rows of the array, the dma or cp.
        """
        price = self.selection.cost
        return (
            f"{price.cycles:,} cycles, {price.traffic.external:,} bytes outside predicted;"
            f" iterations wait for {price.bottleneck}."
        )


def _comparison(other: Candidate, choice: Candidate) -> str:
    plan, price = other.plan, other.cost
    more = price.cycles / choice.cost.cycles
    return (
        f"{plan.mapping.name} stationary, split {plan.partition.split}: {price.cycles:,} cycles"
        f" ({more:.2f} times), {price.traffic.external:,} bytes; waits for {price.bottleneck}."
    )


def choose(
    product: Product,
    config: Configuration,
    *,
    operation: str = "spmm",
    mapping: str | None = None,
    split: str | None = None,
    density: float = 1.0,
) -> Choice:
    """Return the plan with the least predicted cycles. Raises `LowerError` if none fits.

    The result also has the best plan of each other mapping and split. The setting
    `lower.preferred.OPERATION` names the preferred mapping, which is selected if it takes at most
    2% more cycles than the best one. `product` must come from `Product.validated`. `density` is the
    share of activations that are not zero. A `mapping` or `split` restricts the search. With
    `split`, a plan uses all rows and clusters of the array, if there is work for all. Without it,
    plans may also use half of the rows or clusters, a quarter, and so on.
    """
    tensors, external = product.tensor_bytes(config), config["mem.external_bytes"]
    if tensors > external:
        raise LowerError(
            f"activations and results are {tensors:,} bytes, external memory has {external:,}",
            "a larger mem.external_bytes",
        )
    mappings = list(MAPPINGS.values()) if mapping is None else [MAPPINGS[mapping]]
    splits = list(SPLITS) if split is None else [split]
    best = []
    for kind in mappings:
        for letter in splits:
            candidate = _cheapest(product, config, kind, letter, density, split is None)
            if candidate is not None:
                best.append(_balanced(candidate, density))
    if not best:

        def fits(other: Configuration) -> bool:
            size = (int(other["pe.rows"]), int(other["pe.clusters"]))
            several = (
                plans(product, other, kind, letter, size, density, inf, split is None)
                for kind in mappings
                for letter in splits
            )
            return any(True for each in several for _ in each)

        raise refusal(config, fits)
    best.sort(key=_key)
    setting = f"lower.preferred.{operation}"
    near = (item for item in best if item.cost.cycles <= PREFERRED * best[0].cost.cycles)
    preferred = (item for item in near if item.plan.mapping.name == config[setting])
    return Choice(next(preferred, best[0]), tuple(best), setting)


def _key(item: Candidate) -> tuple[float, int]:
    factor = RELOADS if item.plan.products > 1 else 1.0
    return item.cost.cycles * factor, item.cost.traffic.external


def _cheapest(
    product: Product,
    config: Configuration,
    mapping: Mapping,
    split: str,
    density: float,
    halves: bool,
) -> Candidate | None:
    """Return the candidate of a mapping and split with the least predicted cost; None if none fits.

    `density` is the share of activations that are not zero. With `halves`, the function also tries
    partitions with aligned outputs (`candidates._partitions`), and plans for half of the rows or
    half of the clusters, because they need fewer transfers and fewer additions of sums. If such a
    plan takes fewer cycles, the function halves its rows or clusters again.
    """
    size = (int(config["pe.rows"]), int(config["pe.clusters"]))
    best = _cheapest_of(product, config, mapping, split, size, density, None, aligns=halves)
    if best is None or not halves:
        return best
    found, left = {size: best}, [size]
    while left:
        size = left.pop()
        smaller_sizes = (size[0] // 2, size[1]), (size[0], size[1] // 2)
        for fewer in (item for item in smaller_sizes if min(item) and item not in found):
            least = found[size]
            smaller = _cheapest_of(
                product, config, mapping, split, fewer, density, least, aligns=True
            )
            assert smaller is not None  # it is `least` if no plan takes fewer cycles
            if smaller is not least:
                found[fewer] = smaller
                left.append(fewer)
    return min(found.values(), key=_key)


def _balanced(candidate: Candidate, density: float) -> Candidate:
    """Return the candidate with balancing if that pays, else `candidate` itself.

    With balancing, a PE moves work to a neighbour that has less work. Balancing pays if the
    predicted cycles without it are at least `PAYS` times the predicted cycles with it. `density` is
    the share of activations that are not zero. Only the PEs of design 5b can balance.

    Floating-point sums cannot be balanced, because balancing changes the order of additions. Plans
    with sliding windows (`plan.dense`) are not balanced, because all their PEs have the same work.
    """
    plan = candidate.plan
    floating = np.dtype(plan.types.sum).kind == "f"
    if floating or plan.dense or plan.config["pe.design"] != "5b":
        return candidate
    plan = replace(plan, balance=True)
    price = cost(plan, density)
    return Candidate(plan, price) if price.cycles * PAYS <= candidate.cost.cycles else candidate


def _cheapest_of(
    product: Product,
    config: Configuration,
    mapping: Mapping,
    split: str,
    size: tuple[int, int],
    density: float,
    best: Candidate | None,
    *,
    aligns: bool,
) -> Candidate | None:
    """Return the candidate with the least predicted cost, or `best` if no candidate costs less.

    Candidates are plans of a mapping and split over at most `size` (rows, clusters). `density` is
    the share of activations that are not zero. Plans that probably cost more than `best` are left
    out. With `aligns`, the function also tries partitions with aligned outputs
    (`candidates._partitions`).
    """
    if best is not None and least_cycles(product, config, split, size, density) >= best.cost.cycles:
        return best
    limit = inf if best is None else best.cost.cycles
    for plan in plans(product, config, mapping, split, size, density, limit, aligns):
        candidate = Candidate(plan, cost(plan, density))
        if best is None or _key(candidate) < _key(best):
            best = candidate
    return best
