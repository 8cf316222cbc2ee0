"""Finds which instruction made a value in a register or queue of a row, and from which values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from macaw.emu.origins import Origin, Place, Source
from macaw.emu.pe.loads import FROM_NEIGHBOUR
from macaw.emu.pe.provenance_records import ProvenanceRecords
from macaw.emu.pe.sequence import MEMBERS, SCALES, TABLE_SEGMENT
from macaw.emu.pe.sequence_format import instructions_offset, parse_header
from macaw.isa.pe import INSTRUCTION_BYTES, SEGMENT_TYPES, SEQUENCE

Index = tuple[int, ...]  # cluster, PE, entry; or cluster, buffer, entry
Look = Callable[[ProvenanceRecords, str, Index], Origin | None]


def origins_of(records: ProvenanceRecords, place: Place) -> Iterator[Origin]:
    """Yield the recorded origins of the elements of `place`, a part of the state."""
    values = getattr(records.state, place.field)
    for element, part in place.items(values.itemsize, values.nbytes):
        index = tuple(int(x) for x in np.unravel_index(element, values.shape))
        origin = LABELS[place.field](records, place.field, index)
        records.require(origin is not None)
        if origin is not None:
            origin.part = part
            yield origin


def _accumulator(records: ProvenanceRecords, name: str, index: Index) -> Origin | None:
    """Return the origin of the accumulator with this index.

    The sources are its products and partial sums since the last move. The result is None if there
    are no sources.
    """
    sources = records.products.sources_in(records.flat(*index))
    if not sources:
        return None
    latest = max((x.origin for x in sources if x.origin is not None), key=lambda x: x.time)
    value = records.state.accumulators[index].item()
    return replace(latest, number=records.number(), value=value, sources=partial(iter, sources))


def _output(records: ProvenanceRecords, name: str, index: Index) -> Origin | None:
    origin = records.output.get((index[0], index[1], index[2]))
    if origin is None or not records.state.output_written[index]:
        return None
    value = records.state.output[index].item()
    return replace(origin, value=value)


def _load(records: ProvenanceRecords, name: str, index: Index) -> Origin | None:
    """Return the origin of the load with this index in the load queue `name`.

    The sources are its weight and its activation. The result is None if the entry has no load.
    """
    state, (cluster, pe, place) = records.state, index
    depth = getattr(state, name).shape[-1]
    head, count = getattr(state, f"{name}_head"), getattr(state, f"{name}_count")
    if (place - int(head[cluster, pe])) % depth >= int(count[cluster, pe]):
        return None
    load = np.array([getattr(state, name)[index]])
    owner = np.array([cluster * records.shape.pes + pe]) + (load >= FROM_NEIGHBOUR)
    rows, values = records.loads(owner, load)
    product = records.products.product(rows[:, 0].tolist(), values[:, 0].tolist()).origin
    assert product is not None
    product.what = "load"
    return product


def _entry(records: ProvenanceRecords, name: str, index: Index) -> Origin | None:
    """Return the origin of an entry of the weight queue or input buffer `name`.

    The origin is the segment that brought the entry with this index; None without a segment.
    """
    state, (cluster, pe, place) = records.state, index
    what = "weight" if name.startswith("weight") else "activation"
    if what == "weight":
        shadow, depth = records.weights, records.shape.weight_queue
        head, count = int(state.weight_head[cluster, pe]), int(state.weight_count[cluster, pe])
        if (place - head) % depth >= count:
            return None
    else:
        shadow, depth = records.activations, records.shape.input_buffer
    address, number = shadow[(cluster * records.shape.pes + pe) * depth + place].tolist()
    if address < 0:
        return None
    value = getattr(state, name)[index].item()
    size = records.item_size(number, address)
    source = Source(what, number, (address, size), value=None if name == "weight_index" else value)
    taken = records.segment(number, address)
    time, at = (records.core.time, None) if taken is None else (taken.time, taken.ld)
    sources = (source,) if taken is None else (taken.choice, source)
    return Origin(number, time, "ld", at, "", value, partial(iter, sources))


def _scalar(records: ProvenanceRecords, name: str, index: Index) -> Origin | None:
    """Return the origin of the scalar unit's accumulator with this index.

    The result is None if no recorded reduction was added to the accumulator.
    """
    reductions = records.scalars.get((index[0], index[1], index[2]), [])
    if not reductions:
        return None
    latest, value = reductions[-1], records.state.scalar_sums[index].item()
    sources = records.reduction_sources((index[0], index[1], index[2]), reductions)
    return replace(latest, value=value, sources=partial(iter, sources))


def _config(records: ProvenanceRecords, name: str, index: Index) -> Origin | None:
    """Return the origin of an instruction word or header member in the field `name`.

    The origin is the config that brought the element with this index.
    """
    config, base = records.configs.get((index[0], index[1]), (None, 0))
    if config is None:
        return None
    header = dict(zip(MEMBERS, records.state.headers[index[:2]].tolist(), strict=True))
    count = header["count"]
    if base < 0:  # the config is still being parsed, and stores the header at its end
        parser = records.state.parsers[index[0]]
        if name != "words" or parser is None or not parser["parsed"]:
            return None
        base, count = records.memory.base + parser["address"], parser["parsed"]
        header = parse_header(parser["data"], base)
    if name == "words":
        if index[2] >= count:
            return None
        start = instructions_offset(header)
        address, size = base + start + INSTRUCTION_BYTES * index[2], INSTRUCTION_BYTES
    else:
        at = SEQUENCE.offsets
        member = SEQUENCE.members[index[2]].name
        address = base + at[member]
        size = ([*at.values(), SEQUENCE.size][index[2] + 1]) - at[member]
    value = getattr(records.state, name)[index].item()
    source = Source("sequence", config.number, (address, size), value=value)
    return replace(config, value=value, sources=lambda: iter((source,)))


def _config_data(records: ProvenanceRecords, name: str, index: Index) -> Origin | None:
    """Return the origin of a scale or of a table entry in the field `name`.

    The origin is the config that brought the element with this index.
    """
    config, _ = records.configs.get((index[0], index[1]), (None, 0))
    kind = SCALES if name == "scales" else TABLE_SEGMENT
    number, addresses = records.config_data.get((index[0], index[1], kind), (0, []))
    if config is None or not addresses:
        return None
    item = getattr(records.state, name)[index]
    address = addresses[index[2]] if kind == SCALES else addresses[0] + index[2] * item.itemsize
    source = Source(SEGMENT_TYPES[kind], number, (address, item.itemsize), value=item.item())
    return replace(config, value=item.item(), sources=lambda: iter((source,)))


LABELS: Mapping[str, Look] = {
    "accumulators": _accumulator,
    "output": _output,
    "q1": _load,
    "q2": _load,
    "weight_value": _entry,
    "weight_index": _entry,
    "activations": _entry,
    "scalar_sums": _scalar,
    "scales": _config_data,
    "tables": _config_data,
    "headers": _config,
    "words": _config,
}
