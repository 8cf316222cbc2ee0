"""Describes which core computes a layer of a network, and with which plan."""

from __future__ import annotations

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.choose import Choice
from macaw.lowering.net.network import Layer
from macaw.lowering.net.vector.operations import VectorOperation


@dataclass(frozen=True)
class Overlap:
    """How vc computes a layer while the array still computes the previous one.

    `limits` has one number for each row of the image: the row is in memory as soon as cp has at
    most this many iterations left to dispatch. `cycles` predicts the cycles from the end of the
    previous layer to the end of this one.
    """

    limits: tuple[int, ...]
    cycles: int


@dataclass(frozen=True)
class LayerPlan:
    """A layer and its symbol in the sources; if the array computes it, also the choice of a plan.

    If the array computes an operation of vc, `operation` is this operation. `overlap` says how vc
    begins with this layer while the array still computes the previous one; None if it does not.
    `reports_progress` says whether the next layer overlaps this one.
    """

    layer: Layer
    symbol: str
    choice: Choice | None = None
    operation: VectorOperation | None = None  # vc's operation, if the array computes it instead
    overlap: Overlap | None = None  # with the previous layer, if vc computes this one
    reports_progress: bool = False  # whether the next layer overlaps this one
