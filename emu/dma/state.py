"""The declared state of the dma: its fields, and a class with their types."""

from __future__ import annotations

from typing import Any

from macaw.emu.state import State, StateField

# fmt: off
FIELDS = (
    StateField("transfers",  "object", meaning="transfers that run (the first) or wait, as tuples",              initial=[]),
    StateField("held",       "object", meaning="paused transfers by ticket: row, position, beats, ready, number", initial={}),
    StateField("issued",     "int",    meaning="ticket of the last transfer that was queued"),
    StateField("number",     "int",    meaning="number of the running transfer, in the order in which they start"),
    StateField("began",      "int",    meaning="cycle in which the running transfer started"),
    StateField("row",        "int",    meaning="row from which the next beat is read"),
    StateField("position",   "int",    meaning="bytes of that row that were read"),
    StateField("buffer",     "object", meaning="beats read and not written: ready, destination, bytes",          initial=[]),
    StateField("reading",    "int",    meaning="destination of the on-chip beat that is being read, or -1",      initial=-1),
    StateField("writing",    "int",    meaning="bytes of the on-chip beat that is being written"),
    StateField("grants",     "int",    meaning="units that have not granted that beat yet"),
    StateField("read_free",  "int",    meaning="first cycle in which a beat may be read"),
    StateField("write_free", "int",    meaning="first cycle in which a beat may be written"),
    StateField("ready",      "int",    meaning="cycle in which all writes so far can be read"),
    StateField("beats",      "int",    meaning="beats that were written"),
    StateField("bytes",      "int",    meaning="bytes that were written"),
    StateField("busy",       "int",    meaning="cycles from starts to ends of transfers"),
)
# fmt: on


class DmaState(State):
    """The declared state of the dma; `FIELDS` says what each attribute means."""

    transfers: list[tuple[Any, ...]]
    held: dict[int, tuple[int, int, list[tuple[int, int, bytes]], int, int]]
    issued: int
    number: int
    began: int
    row: int
    position: int
    buffer: list[tuple[int, int, bytes]]
    reading: int
    writing: int
    grants: int
    read_free: int
    write_free: int
    ready: int
    beats: int
    bytes: int
    busy: int
