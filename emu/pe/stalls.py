"""What the bus of a row and the runs of its clusters are at, and who could end which wait."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from macaw.emu.core import NEVER, Stall
from macaw.emu.pe.commands import command_of
from macaw.emu.pe.sequence import decoded
from macaw.emu.pe.state import DONE, FREE, MAC, NO_UNIT, RUNNING, UNITS, Op, Run

if TYPE_CHECKING:
    from macaw.emu.pe.control_unit import Control
    from macaw.emu.pe.row import Row

Parts = tuple[tuple[str, int | None], ...]
_BUS = "bus"
_OTHERS = "the other PEs"


def stalls(row: Row) -> Iterator[Stall]:
    """The bus with its packet, then the runs: of the clusters that share one the last one."""
    if row.state.packet is not None:
        yield _bus(row)
    seen: set[str] = set()
    for control, run in sorted(_all(row), key=lambda item: _progress(item[1])):
        name = _name(row, run)
        if name not in seen:
            seen.add(name)
            yield _run(row, name, control, run)


def unit(row: Row, cluster: int, pe: int | None = None) -> Stall:
    """What a cluster is at: its oldest run that works, else the oldest; a PE of it the same.

    A PE that has nothing left of the mac at work waits for the others.
    """
    control, state = row.controls[cluster], row.state
    undone = [run for run in control.runs if any(op["state"] != DONE for op in run["ops"])]
    if not undone:
        return Stall(ended=True)
    if state.computing[cluster]:
        run = control.run_of(control.units[MAC])
        assert run is not None  # who holds the unit
        if pe is not None:
            held = state.mac_left, state.q1_count, state.q2_count
            if not any(values[cluster, pe] for values in held):
                return Stall("", _OTHERS, address=control.computing_address())
        return Stall(address=control.computing_address())
    return _run(row, "", control, next(filter(_works, undone), undone[0]))


def _all(row: Row) -> list[tuple[Control, Run]]:
    return [(control, run) for control in row.controls for run in control.runs]


def _progress(run: Run) -> tuple[int, int, int]:
    """In the order of packets; of the same one, who is behind comes first."""
    undone = (op["place"] for op in run["ops"] if op["state"] != DONE)
    return run["order"], run["iteration"], next(undone, len(run["ops"]))


def _name(row: Row, run: Run) -> str:
    """`ib=0`, with the clusters if it is not the same run in all of them."""
    mine = [c.cluster for c, x in _all(row) if x["order"] == run["order"]]
    others = any(
        x["buffer"] == run["buffer"] and x["order"] != run["order"] for _, x in _all(row)
    )  # fmt: skip
    name = f"ib={run['buffer']}"
    return f"{name} of clusters {', '.join(map(str, mine))}" if others else name


def _parts(row: Row, runs: Iterable[Run]) -> Parts:
    return tuple((name, None) for name in dict.fromkeys(_name(row, run) for run in runs))


def _bus(row: Row) -> Stall:
    packet, beat = row.state.packet, row.state.beat
    address = row.address(packet["address"])
    since = row.state.bus_free * row.divider
    if beat is not None:
        return Stall(_BUS, address=address, until=row.device.memory.banks.time, note="a beat")
    controls = [row.controls[cluster] for cluster in packet["clusters"]]
    if command_of(packet).takes_buffer and not packet["opened"]:
        for control in controls:
            if not control.accepts(packet):
                on = f"ib={packet['buffer']} of cluster {control.cluster}, which is at work"
                return Stall(_BUS, on, since, address, 0, _parts(row, control.runs))
    number = packet["segment"]
    if packet["commanded"] and not command_of(packet).ready(row, packet, number):
        runs = [x for _, x in _all(row) if x["order"] < packet["order"]]
        mine = [x for _, x in _all(row) if x["order"] == packet["order"] and _works(x)]
        on = f"ib={packet['buffer']} to take segment {number}"
        return Stall(_BUS, on, since, address, 0, _parts(row, runs or mine), row.time)
    return Stall(_BUS, address=address, until=row.time, note=packet["mnemonic"])


def _works(run: Run) -> bool:
    return any(op["state"] == RUNNING for op in run["ops"])


def _run(row: Row, name: str, control: Control, run: Run) -> Stall:
    undone = [op for op in run["ops"] if op["state"] != DONE]
    if not undone:
        return Stall(name, until=row.time, note="its end")
    working = [op for op in undone if op["state"] == RUNNING]
    op = working[0] if working else undone[0]
    address, note = control.address(run, op), _mnemonic(row, control, run, op)
    if working:
        until = (op["end"] + 1) * row.divider if op["end"] < NEVER else NEVER
        return Stall(name, address=address, until=until, note=note)
    on, parts = _reason(row, control, run, op)
    if not on:
        return Stall(name, address=address, until=row.time, note=note)
    return Stall(name, on, NEVER, address, 0, parts, NEVER, False, note)


def _mnemonic(row: Row, control: Control, run: Run, op: Op) -> str:
    word = int(row.state.words[control.cluster, run["buffer"], op["place"]])
    return decoded(word).row.mnemonic


def _reason(row: Row, control: Control, run: Run, op: Op) -> tuple[str, Parts]:
    """What a step that has not begun waits for, and which runs could end that."""
    if not run["live"] or op["segments"]:
        what = f"segment {op['segments'][0]} of its packet" if op["segments"] else "its packet"
        return what, ((_BUS, None),)
    holder = FREE if op["unit"] == NO_UNIT else control.units[op["unit"]]
    if holder not in (FREE, run["buffer"]):
        held = control.run_of(holder)
        return f"the {UNITS[op['unit']]}", _parts(row, [] if held is None else [held])
    before = control.runs[: control.runs.index(run)]
    return ("what runs before it use", _parts(row, before)) if before else ("", ())
