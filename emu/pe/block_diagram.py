"""Shows one PE as the boxes of seed 000, Fig. 5a and 5b, with their present contents or outputs.

Most boxes are fields of the declared state. Selectors, adder and multiplier store nothing; this
module computes their outputs from the state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from macaw.emu import block_diagram as figures
from macaw.emu.pe.context import RowContext
from macaw.emu.pe.loads import FROM_NEIGHBOUR, INDEX_MASK, PLACE_SHIFT
from macaw.emu.pe.state import BUSY, COMPUTING, MAC
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.pe import ACTIVATIONS, FUNCTIONS

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Box:
    """One box of the figures.

    `look` returns the contents of the box by name. Its arguments are the row, the cluster and the
    PE.
    """

    number: str
    name: str
    look: Callable[[RowContext, int, int], Values]


def _load(word: int) -> dict[str, int | bool]:
    return {
        "place": word >> PLACE_SHIFT & INDEX_MASK,
        "index": word & INDEX_MASK,
        "given": word >= FROM_NEIGHBOUR,
    }


def _loads(row: RowContext, name: str, c: int, p: int) -> list[dict[str, int | bool]]:
    """Return the entries of the load queue `name` of PE (`c`, `p`), the head first, as dicts.

    An entry, a load, refers to a weight and an activation. `c` is the number of the cluster in the
    row, `p` the number of the PE in the cluster.
    """
    state = row.state
    queue, head = getattr(state, name)[c, p], int(getattr(state, f"{name}_head")[c, p])
    count = int(getattr(state, f"{name}_count")[c, p])
    return [_load(int(queue[(head + i) % queue.size])) for i in range(count)]


def _controller(row: RowContext, c: int, p: int) -> Values:
    doing = int(row.state.doing[c])
    word = {BUSY: "a sequence", COMPUTING: "mac"}.get(doing, "nothing")
    return {"at work on": word, "address": row.clusters[c].running_address(MAC)}


def _loading(row: RowContext, c: int, p: int) -> Values:
    packet = row.state.packet
    if packet is None or c not in packet["clusters"]:
        return {"segment": None, "bytes": 0}
    return {"segment": packet["segment"], "bytes": sum(map(len, packet["chunks"]))}


def _weights(row: RowContext, c: int, p: int) -> Values:
    state, size = row.state, row.shape.weight_queue
    head, count = int(state.weight_head[c, p]), int(state.weight_count[c, p])
    places = [(head + i) % size for i in range(count)]
    indices, values = state.weight_index[c, p], state.weight_value[c, p]
    entries = [{"index": int(indices[x]), "value": values[x].item()} for x in places]
    return {"entries": entries, "head": head}


def _input(row: RowContext, c: int, p: int) -> Values:
    state = row.state
    return {
        "activations": state.activations[c, p],
        "bitmask": state.bitmask[c, p],
        "loaded": state.block_loaded[c, p],
    }


def _comparator(row: RowContext, c: int, p: int) -> Values:
    state = row.state
    names = ("left", "next", "base", "limit")
    return {name: int(getattr(state, f"mac_{name}")[c, p]) for name in names}


def _selected(row: RowContext, c: int, p: int) -> tuple[Any, Any] | None:
    """Return the weight and the activation of the first load of load queue 2 of PE (`c`, `p`).

    The result is None if the queue is empty.
    """
    loads = _loads(row, "q2", c, p)
    if not loads:
        return None
    owner = p + bool(loads[0]["given"])
    state, place, index = row.state, loads[0]["place"], loads[0]["index"]
    return state.weight_value[c, owner, place].item(), state.activations[c, owner, index].item()


def _activation(row: RowContext, c: int, p: int) -> Values:
    pair = _selected(row, c, p)
    return {"activation": None if pair is None else pair[1]}


def _multiplier(row: RowContext, c: int, p: int) -> Values:
    pair = _selected(row, c, p)
    return {"product": None if pair is None else pair[0] * pair[1]}


def _accumulators(row: RowContext, c: int, p: int) -> Values:
    state = row.state
    return {"own": state.accumulators[c, p].tolist(), "helpers": state.helpers[c, p].tolist()}


def _sum(row: RowContext, c: int, p: int) -> Values:
    loads = _loads(row, "q2", c, p)
    is_given = bool(loads) and bool(loads[0]["given"])
    return {"accumulator": int(row.state.mac_sum[c, p + is_given]), "helper": is_given}


def _output(row: RowContext, c: int, p: int) -> Values:
    state = row.state
    return {"results": state.output[c, p], "written": state.output_written[c, p]}


def _special_control(row: RowContext, c: int, p: int) -> Values:
    job = row.state.sfu_jobs[c]
    if job is None:
        return {"function": None}
    values = {"function": FUNCTIONS[job["function"]], "chained": job["chained"] >= 0}
    values |= {"activation": ACTIVATIONS[job["activation"]], "shift": job["shift"]}
    if job["scaled"]:
        values["scale"] = row.state.scales[c, job["buffer"], p].item()
    return values


def _special(row: RowContext, c: int, p: int) -> Values:
    state = row.state
    return {
        "fifo": state.sfu_fifo[c].tolist(),
        "under way": state.sfu_pipe[c].tolist(),
        "tokens": state.sfu_tokens[c].tolist(),
    }


def _from_queue(row: RowContext, c: int, p: int) -> Values:
    job = row.state.sfu_jobs[c]
    decoupled = job is not None and job["chained"] < 0
    return {"place": job["source"][p] if decoupled else None}


def _to_queue(row: RowContext, c: int, p: int) -> Values:
    return {"from": "508" if row.state.sfu_jobs[c] is None else "510"}


def _from_buffer(row: RowContext, c: int, p: int) -> Values:
    state = row.state
    if state.handing[c] and state.given[c, p]:
        return {"to": "520 of the left neighbour"}
    job = state.sfu_jobs[c]
    return {"to": "510" if job is not None and job["chained"] >= 0 else "513"}


def _balancer(row: RowContext, c: int, p: int) -> Values:
    return {"at work": bool(row.state.balancing[c]), "given": int(row.state.given[c, p])}


def _neighbour(row: RowContext, c: int, p: int) -> Values:
    """Return, as "sum", the sum that the right neighbour hands over to PE (`c`, `p`).

    The PE gets the sum in the next cycle. "sum" is None if the neighbour hands over no sum.
    """
    state = row.state
    right = p + 1
    hands = right < row.shape.pes and bool(state.handing[c]) and bool(state.given[c, right])
    if not hands:
        return {"sum": None}
    return {"sum": state.accumulators[c, right, int(state.mac_sum[c, right])].item()}


BOXES = (
    Box("501", "PE controller", _controller),
    Box("502", "data loading unit", _loading),
    Box("503", "weight queue", _weights),
    Box("504", "input buffer", _input),
    Box("505", "index comparator", _comparator),
    Box("506", "multiply-accumulator", _sum),
    Box("5063", "accumulation buffers", _accumulators),
    Box("5066", "multiplier", _multiplier),
    Box("508", "buffer", lambda row, c, p: {"result": row.state.buffer[c, p].item()}),
    Box("509", "special control unit", _special_control),
    Box("510", "special-function unit", _special),
    Box("511", "selector of the activation", _activation),
    Box("513", "output queue", _output),
    Box("514", "selector into the special-function unit", _from_queue),
    Box("515", "selector into the output queue", _to_queue),
    Box("516", "selector after the buffer", _from_buffer),
    Box("517", "load balancer", _balancer),
    Box("518", "load queue 1", lambda row, c, p: {"loads": _loads(row, "q1", c, p)}),
    Box("519", "load queue 2", lambda row, c, p: {"loads": _loads(row, "q2", c, p)}),
    Box("520", "selector of the neighbour's sum", _neighbour),
)
BY_NUMBER = {box.number: box for box in BOXES}
# For each queue: the box that has its entries, and their name in the box's contents.
ENTRIES = {"weights": ("503", "entries"), "q1": ("518", "loads"), "q2": ("519", "loads")}


def block_diagram(row: RowContext) -> Sequence[figures.Box]:
    """Return the boxes of the diagram, which are the same for all PEs of a row."""

    def contents(box: Box, units: tuple[int, ...]) -> Values:
        cluster, pe = units
        return box.look(row, cluster, pe)

    return [figures.Box(box.number, box.name, partial(contents, box)) for box in BOXES]


def entries_of(row: RowContext, queue: str, cluster: int, pe: int) -> Sequence[Any] | None:
    """Return the entries in a queue of PE `pe` of cluster `cluster` of a row, the head first.

    Return None if `queue` is not one of the three queues with a head (weights, q1, q2).
    """
    if queue not in ENTRIES:
        return None
    number, name = ENTRIES[queue]
    entries: Sequence[Any] = BY_NUMBER[number].look(row, cluster, pe)[name]
    return entries
