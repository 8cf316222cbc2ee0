"""The addresses of all memories, as Macaw defines them, for the assembler and the emulator."""

from __future__ import annotations

LOCAL = 0x0000_0000  # cp's local memory
TEXT = 0x0001_0000  # where cp's program begins in LOCAL
UNITS = 0x1000_0000  # on-chip memory: + more << 24 + unit << 20 + half << 19
REGISTERS = 0x2000_0000  # memory-mapped registers: + core number << 12
INSTRUCTIONS = 0x3000_0000  # instruction memories and windows of cores: + core number << 20
ISLANDS = 0x4000_0000  # fim islands: + island << 26
EXTERNAL = 0x8000_0000

MOST_UNITS = 16  # on-chip units
MORE_SHIFT = 24  # shifts the number of further units that a multicast of the dma writes
UNIT_SHIFT = 20
SPACE_SHIFT = 20  # bytes of a core's space in INSTRUCTIONS, as a shift
ISLAND_SHIFT = 26
HALF_SHIFT = 19
CORE_SHIFT = 12
