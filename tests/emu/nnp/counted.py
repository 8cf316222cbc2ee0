"""Counts what each chain of a random program uses, from its lines, without Macaw's tables."""

from __future__ import annotations

from collections import Counter

from macaw.isa import nnp
from macaw.isa.descriptors.nnp import vector_bytes
from macaw.isa.nnp_layouts import BY_NAME
from tests.emu.nnp.random_programs import Case, Line

NAMES = {memory.code: name for name, memory in BY_NAME.items()}
REGISTERS = {scalar.code: scalar.name for scalar in nnp.SCALARS}


def chains(case: Case) -> list[tuple[list[Line], dict[str, int]]]:
    """The chains in their order, each with the values of all registers that `s_wr` sets."""
    found: list[tuple[list[Line], dict[str, int]]] = []
    scalars = dict(nnp.RESET)
    for name, values in case.lines:
        if name == "s_wr":
            scalars[REGISTERS[values["reg"]]] = values["value"]
            if f"{REGISTERS[values['reg']]}_y" in scalars:
                scalars[f"{REGISTERS[values['reg']]}_y"] = values["value"]
            if REGISTERS[values["reg"]] == "kernel":
                scalars["dilation"] = scalars["dilation_y"] = 1
        elif name.startswith(("v_rd", "m_rd")):
            found.append(([(name, values)], dict(scalars)))
        elif name not in ("end_chain", "trace_begin", "trace_end"):
            found[-1][0].append((name, values))
    return found


def used(case: Case) -> list[Counter[str]]:
    """The counts of each chain, by the names of the trace's occurrences."""
    return [_chain(case, lines, scalars) for lines, scalars in chains(case)]


def _chain(case: Case, lines: list[Line], scalars: dict[str, int]) -> Counter[str]:
    found: Counter[str] = Counter()
    for iteration in range(scalars["iterations"]):
        if lines[0][0] == "m_rd":
            _tiles(case, lines, scalars, found)
        else:
            _vectors(case, lines, scalars, iteration, found)
    return found


def _tiles(case: Case, lines: list[Line], scalars: dict[str, int], found: Counter[str]) -> None:
    native = case.configuration["nnp.native"]
    count = scalars["rows"] * scalars["cols"]
    size = native * vector_bytes(case.configuration)
    for name, values in lines:
        memory = NAMES[values["mem"]]
        kind = "reads" if name == "m_rd" else "writes"
        if memory == "Dram":
            for place in range(values["a"], values["a"] + count):
                _beats(case, kind, place * size, size, found)
        else:
            found[kind] += count * (native if memory == "NetInQ" else 1)


def _vectors(
    case: Case, lines: list[Line], scalars: dict[str, int], iteration: int, found: Counter[str]
) -> None:
    config = case.configuration
    size = vector_bytes(config)
    name, values = lines[0]
    places = _source(name, values, scalars, iteration)
    for place in places:
        if NAMES[values["mem"]] == "Dram" and place is not None:
            _beats(case, "reads", place * size, size, found)
        elif place is not None:
            found["reads"] += 1
    count = len(places)
    for name, values in lines[1:]:
        if name.startswith("mv_mul"):
            tiles = scalars["rows"] * scalars["cols"]
            found["reads"] += tiles
            found["unit"] += tiles * config["nnp.native"]
            rows, cols, engines = scalars["rows"], scalars["cols"], config["nnp.engines"]
            passes = {
                "tiles": -(-tiles // engines),
                "rows": -(-rows // engines) * cols,
                "columns": rows * -(-cols // engines),
            }[config["nnp.mapping"]]
            found["array"] += passes * -(-config["nnp.native"] // config["nnp.lanes"])
            count = scalars["rows"]
        elif name.startswith("vv_"):
            found["reads"] += count
        elif name.startswith("v_wr"):
            if NAMES[values["mem"]] != "Dram":
                found["writes"] += count
                continue
            for k in range(count):
                place = values["a"] + values.get("inc", 0) * scalars["unit"] * iteration + k
                _beats(case, "writes", place * size, size, found)


def _source(
    name: str, values: dict[str, int], scalars: dict[str, int], iteration: int
) -> list[int | None]:
    """The entries that an instruction reads in one iteration; None is a vector of zeros."""
    get = scalars.__getitem__
    windows = any(get(x) != nnp.RESET[x] for x in nnp.WINDOW)
    begin = values["a"]
    last = (get("kernel") - 1) * get("dilation")
    across = (get("width") + 2 * get("pad") - last - 1) // get("stride") + 1
    row, column = divmod(iteration, across)
    top, left = row * get("stride_y"), column * get("stride")
    if not windows or name.endswith("_inc"):
        steps = iteration
        if windows:
            steps = top * get("width") + left
        begin += values.get("inc", 0) * scalars["unit"] * steps
        return list(range(begin, begin + get("cols")))
    found: list[int | None] = []
    for ky in range(get("kernel_y")):
        for kx in range(get("kernel")):
            y = top - get("pad_y") + ky * get("dilation_y")
            x = left - get("pad") + kx * get("dilation")
            inside = 0 <= y < get("height") and 0 <= x < get("width")
            place = begin + (y * get("width") + x) * get("depth")
            found += [place + d if inside else None for d in range(get("depth"))]
    return found


def _beats(case: Case, kind: str, start: int, size: int, found: Counter[str]) -> None:
    """Count an access's beats in external memory; writes that do not fill a beat are partial."""
    width = case.configuration["mem.external_width"]
    bytes_of = Counter(byte // width for byte in range(start, start + size))
    found[f"external_{kind}"] += len(bytes_of)
    if kind == "writes":
        found["external_partial"] += sum(count < width for count in bytes_of.values())
