"""The same island in a device of each engine, with random programs."""

from __future__ import annotations

from random import Random

from hypothesis import Phase
from hypothesis import strategies as st

from macaw.asm.diagnostics import AssemblyError
from macaw.emu.engines import ENGINES
from macaw.isa import config
from tests.emu.fim import random_programs
from tests.emu.fim.machine import Machine

DEVICES = [
    config.load("tiny"),
    config.load("tiny").changed(
        {
            "fim.island.0.divider": 3,
            "fim.island.0.lanes": 4,
            "fim.island.0.formats": "bf16 fp16 fp32",
        }
    ),
    config.load("tiny").changed({"fim.island.0.formats": "bf16"}),
    config.load("tiny").changed({"fim.island.0.formats": "int8 fp16", "fim.island.0.rz_slices": 9}),
    config.load("tiny").changed({"fim.island.0.rz_slices": 16, "fim.t_ccdl": 5, "fim.alu.add": 9}),
    config.load("tiny").changed(
        {
            "fim.act_banks": 1,
            "fim.t_rrds": 4,
            "fim.t_rrdl": 6,
            "fim.t_faw": 30,
            "fim.t_wtrs": 6,
            "fim.t_wtrl": 8,
            "fim.t_rtp": 6,
            "fim.t_rtw": 17,
            "fim.t_column": 9,
        }
    ),
    config.load("tiny").changed({"fim.t_refi": 100, "fim.t_rfc": 30}),
    config.load("tiny").changed({"fim.t_refi": 290, "fim.t_rfc": 11, "fim.refresh": "bank"}),
    config.load("tiny").changed(
        {
            "fim.organisation": "dimm",
            "fim.ranks": 2,
            "fim.bank_groups": 1,
            "fim.group_banks": 2,
            "fim.chip_bits": 16,
        }
    ),
]


def random_sources():
    """Draw random programs by seed; Hypothesis does not make them smaller."""
    return st.integers(0, 1 << 32).map(lambda seed: random_programs.program(Random(seed)))


def machines_of_engines(lines, device, jitter=None):
    """Return a machine for each engine, without the lines that the assembler refuses."""
    while True:
        try:
            return [Machine(lines, device, engine, jitter=jitter) for engine in ENGINES]
        except AssemblyError as error:
            wrong = {item.span.line - 4 for item in error.errors}
            lines = [line for place, line in enumerate(lines) if place not in wrong]


PHASES_WITHOUT_SHRINKING = [
    Phase.explicit,
    Phase.reuse,
    Phase.generate,
]  # to shrink such programs takes minutes


def stop_summary(stop):
    fault = stop.fault
    return stop.reason, stop.message, None if fault is None else (fault.address, fault.cycle)


AUTO_TRACES = st.fixed_dictionaries(
    {
        "mode": st.just(1),
        "begin": st.integers(0, 6),
        "num": st.integers(1, 5),
        "step": st.integers(0, 4),
        "overhead": st.integers(0, 9),
        "loops": st.integers(0, 3),
    }
)
