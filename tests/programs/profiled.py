"""The two programs that tests of the profiler use: a layer, and a program that uses six cores."""

from __future__ import annotations

from functools import cache

import macaw
from macaw.emu.engines import ENGINES
from tests.programs.scripts import PROGRAMS, script

LAYER, SIX_CORES = PROGRAMS / "profiled", PROGRAMS / "six_cores"
CORES = ("CP", "DMA", "PE", "VC", "NNP", "FIM")
make_layer, make_six_cores = script("profiled/make.py"), script("six_cores/make.py")


@cache
def run_six_cores(without: str, engine: str = ENGINES[0]) -> macaw.Run:
    defines = {f"WITHOUT_{without}": 1} if without else {}
    program = macaw.assemble(SIX_CORES / "six_cores.s", defines=defines)
    inputs = {name: make_six_cores.tensors()[name] for name in ("x", "d", "e")}
    return macaw.run(program, inputs, engine=engine)
