"""Collects the objects that all clusters of a row share.

They are the data of the row (`RowContext`), its output queues, special-function units, stores, data
loading and trace, and the cache of expanded steps.
"""

from __future__ import annotations

from dataclasses import replace

from macaw.emu.pe.context import RowContext
from macaw.emu.pe.data_loading import DataLoading
from macaw.emu.pe.expansion_cache import expansion_cache
from macaw.emu.pe.output_queues import OutputQueues
from macaw.emu.pe.row_trace import RowTrace
from macaw.emu.pe.special_units import SpecialUnits
from macaw.emu.pe.stores import Stores


class RowUnits:
    """The objects that all clusters of a row share.

    The engine chooses the class of `special`, the special-function units.
    """

    def __init__(self, context: RowContext, queues: OutputQueues, special: SpecialUnits) -> None:
        self.context, self.queues, self.special = context, queues, special
        self.stores = Stores(context, queues)
        self.loading = DataLoading(context, queues)
        self.trace = RowTrace(context)
        self.expansions = expansion_cache(replace(context.shape, row=0))
