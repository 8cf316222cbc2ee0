"""What a debugger lays into the code of a core: breaks before instructions, probes behind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from macaw.isa.touching import Place


class Break(NamedTuple):
    """A place before which a core stops."""

    test: Callable[[], bool] | None = None  # asked when the core is there; None: it always stops
    # The same as an expression of Python, for translated code: `x[N]` are registers of the
    # file x (`Core.inlines`), other names stand in `names`. Empty: only `test` can say it.
    text: str = ""
    names: Mapping[str, object] = MappingProxyType({})


class Probe(NamedTuple):
    """A question behind each instruction that reads or writes one of some registers."""

    registers: frozenset[Place]
    reads: bool  # behind those that read one
    writes: bool  # behind those that write one
    met: Callable[[int], object]  # told the address of the instruction if it holds
    test: Callable[[], bool] | None = None  # None: it always holds
    # The same as an expression of Python, as `Break` has it; empty: only `test` can say it.
    text: str = ""
    names: Mapping[str, object] = MappingProxyType({})
