"""The descriptor of fim, memory with circuits that calculate: names, core number, settings."""

from __future__ import annotations

from macaw.isa.fim_islands import SETTINGS, unfit
from macaw.isa.model import CoreDescriptor

DESCRIPTOR = CoreDescriptor(
    name="fim",
    title="function-in-memory islands",
    number=8,  # the number of island 0
    section=".fim.{}",
    executable=True,
    index="island",
    settings=SETTINGS,
    agreements=(unfit,),
)
