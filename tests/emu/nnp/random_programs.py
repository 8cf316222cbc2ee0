"""Random devices, programs and data for nnp, for comparisons of engines and with a model."""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import macaw.emu.dma
import macaw.emu.nnp
from macaw.emu.device import Device
from macaw.isa import config, nnp
from macaw.isa.codec import Decoded, decode, encode
from macaw.isa.descriptors.nnp import vector_bytes
from macaw.isa.memory_map import EXTERNAL
from macaw.isa.nnp_chains import ChainError, complete, follow, settings
from macaw.isa.nnp_elements import MX_ELEMENTS
from macaw.isa.nnp_entries import check
from macaw.isa.nnp_layouts import BY_NAME
from tests.emu.toys import describe, toy

ROWS = nnp.CORE.by_mnemonic
TEXT, NETIN, NETOUT = 0x3030_0000, 0x3038_0000, 0x303C_0000
FED, DRAINED = EXTERNAL + 0x4_0000, EXTERNAL + 0x8_0000
DRAM_VECTORS = 64
FILES = ("InitialVrf", "MulVrf", "AddSubVrf0", "AddSubVrf1")
Line = tuple[str, dict[str, int]]


@dataclass
class Case:
    """A program with its device's configuration and its data."""

    configuration: config.Configuration
    lines: list[Line] = field(default_factory=list)
    pops: int = 0
    pushes: int = 0
    dram: bytes = b""
    fed: bytes = b""

    @property
    def words(self) -> list[int]:
        return [encode(ROWS[name], values) for name, values in self.lines]

    def device(self, engine: str, late: int = 0) -> Device:
        """A device ready to run; core 0 feeds and drains nnp `late` cycles after the start."""
        size = vector_bytes(self.configuration)
        script: list[tuple[Any, ...]] = [("start", 3, TEXT)]
        if late:
            script.append(("work", late))
        if self.pushes:
            script.append(("copy", 0x8000))
        if self.pops:
            script.append(("copy", 0x8020))
        script += [("join", 8), ("await", 0), ("exit", 0)]
        device = Device(
            self.configuration, [toy(0, script), macaw.emu.dma.build, macaw.emu.nnp.build], engine
        )
        words = self.words
        device.memory.poke(TEXT, struct.pack(f"<{len(words)}I", *words))
        device.memory.poke(EXTERNAL, self.dram)
        device.memory.poke(FED, self.fed)
        device.memory.poke(0x8000, describe(DRAINED, NETOUT, size, self.pushes, size, 0))
        device.memory.poke(0x8020, describe(NETIN, FED, size, self.pops, 0, size))
        return device


def configuration(chance: random.Random) -> config.Configuration:
    """A configuration with small and odd sizes."""

    def upto(most: int) -> int:
        return chance.randint(1, most)

    kind = chance.choice(["bfp", "bfp", "bfp", "int", "log", "float", "mx", "mx"])
    native = upto(6)
    values: dict[str, Any] = {
        "native": native, "lanes": upto(4), "engines": upto(4), "vector_lanes": upto(4),
        "mapping": chance.choice(["tiles", "rows", "columns"]),
        "divider": chance.choice([1, 1, 2, 3]), "quantise": kind,
        "host_format": chance.choice(["fp16", "fp32"]),
        "vector_bits": chance.randint(3, 16), "matrix_bits": chance.randint(3, 16),
        "float_exponent_bits": chance.randint(2, 5), "float_mantissa_bits": upto(10),
        "vector_element": chance.choice([*MX_ELEMENTS]), "matrix_element": chance.choice([*MX_ELEMENTS]),
        "mx_block": chance.choice([x for x in (1, 2, 3, 4, 5, 32) if native % x == 0 or x > 6]),
        "quantise_mvm_out": chance.random() < 0.2, "quantise_mfu_in": chance.random() < 0.2,
        "matrix_rf": 16, "initial_vrf": 24, "mul_vrf": 24, "add_sub_vrf0": 24, "add_sub_vrf1": 24,
        "net_in": upto(6), "net_out": upto(6), "instructions": 256,
        "vector_channels": upto(2), "matrix_channels": upto(3),
    }  # fmt: skip
    depths = (
        "issue_cycles", "read_depth", "multiplier_depth", "crossbar_depth", "add_depth",
        "multiply_depth", "activation_depth", "softmax_depth", "quantise_depth", "write_depth",
    )  # fmt: skip
    values |= {name: upto(9) for name in depths}
    memory = {
        "mem.external_latency": upto(30),
        "mem.external_width": chance.choice([4, 8, 32]),
        "mem.local_bytes": 128 << 10,
        "mem.external_bytes": 1 << 20,
        "dma.buffer": upto(5),
        "dma.setup": upto(5),
    }
    return config.load("tiny").changed(memory | {f"nnp.{k}": v for k, v in values.items()})


def vectors(chance: random.Random, count: int, native: int, host: str) -> bytes:
    """Host values, mostly small; rarely infinite, NaN or another special value."""
    kind = np.float16 if host == "fp16" else np.float32
    draws = np.random.default_rng(chance.getrandbits(32))
    values = draws.normal(size=count * native) * draws.choice([0.1, 1, 8], size=count * native)
    values[draws.random(values.size) < 0.1] = 0
    if chance.random() < 0.2:
        values[draws.integers(values.size)] = chance.choice([np.inf, -np.inf, np.nan, -0.0, 6e4])
    return values.astype(kind).tobytes()


def found(line: Line) -> Decoded:
    return decode(nnp.CORE, encode(ROWS[line[0]], line[1]))


def _moving(chance: random.Random, name: str, values: dict[str, int]) -> Line:
    """The instruction, or its form with _inc."""
    if f"{name}_inc" in ROWS and chance.random() < 0.5:
        return f"{name}_inc", values | {"inc": chance.randrange(4)}
    return name, values


def _place(chance: random.Random, memory: str) -> dict[str, int]:
    queue = BY_NAME[memory].queue
    return {"mem": BY_NAME[memory].code, "a": 0 if queue else chance.randrange(16)}


def chain(chance: random.Random) -> list[Line]:
    """Random lines of a chain of vectors.

    The chain may break a rule for entries (`isa/nnp_entries.py`); `program` drops such a chain.
    """
    source = chance.choice((*FILES, "Dram", "NetInQ", "InitialVrf", "InitialVrf"))
    place = _place(chance, source)
    lines = [("v_rd", place) if source == "NetInQ" else _moving(chance, "v_rd", place)]
    if chance.random() < 0.5:
        lines.append(_moving(chance, "mv_mul", {"m": chance.randrange(8)}))
    for unit, blocks in (
        ("AddSubVrf0", ["add", "multiply", "activate", "quantise"]),
        ("AddSubVrf1", ["add", "activate", "quantise"]),
    ):
        chance.shuffle(blocks)
        for block in blocks[: chance.randrange(len(blocks) + 1)]:
            if block == "add":
                name = chance.choice(["vv_add", "vv_a_sub_b", "vv_b_sub_a", "vv_max"])
                lines.append(_moving(chance, name, _place(chance, unit)))
            elif block == "multiply":
                lines.append(_moving(chance, "vv_mul", {"a": chance.randrange(16)}))
            elif block == "quantise":
                lines.append(("v_quantise", {}))
            else:
                names = ["v_sigm", "v_tanh", "v_relu"] + ["v_softmax"] * (unit == "AddSubVrf0")
                lines.append((chance.choice(names), {}))
    for _ in range(chance.choice([1, 1, 2])):
        target = chance.choice((*FILES, "Dram", "NetOutQ", "NetOutQ"))
        place = _place(chance, target)
        lines.append(("v_wr", place) if target == "NetOutQ" else _moving(chance, "v_wr", place))
    if chance.random() < 0.25:  # what iterations write meets
        code = BY_NAME[chance.choice((*FILES, "Dram"))].code
        for _ in range(2):
            values = {"mem": code, "a": chance.randrange(4), "inc": chance.randrange(3)}
            lines.append(("v_wr_inc", values))
    return lines


def tiles(chance: random.Random) -> list[Line]:
    """Lines that move tiles from one memory to another."""
    register = {"mem": BY_NAME["MatrixRf"].code, "a": chance.randrange(8)}
    dram = {"mem": BY_NAME["Dram"].code, "a": chance.randrange(8)}
    queue = {"mem": BY_NAME["NetInQ"].code, "a": 0}
    source, target = chance.choice(
        [(dram, register), (dram, register), (queue, register), (register, dram)]
    )
    return [("m_rd", source), ("m_wr", target)]


def _settings(chance: random.Random, scalars: dict[str, int]) -> list[Line]:
    """A few s_wr; updates `scalars` with their values."""
    wanted = {"rows": chance.randint(1, 3), "cols": chance.randint(1, 3)}
    wanted["iterations"] = chance.randint(1, 5)
    wanted |= {"valid": chance.randint(1, 6), "unit": chance.choice((1, 1, 2, 3))}
    if chance.random() < 0.45:
        wanted |= {"width": chance.randint(1, 5), "height": chance.randint(1, 4)}
        wanted |= {name: chance.randint(1, 2) for name in ("kernel", "stride", "depth")}
        wanted["pad"] = chance.randrange(2)
        wanted["dilation"] = chance.choice((1, 1, 2))
        for name in ("kernel", "stride", "pad", "dilation"):
            value = wanted[name]
            wanted[f"{name}_y"] = chance.choice((value, value, chance.randint(name != "pad", 2)))
        across, down = (
            max(0, wanted[side] + 2 * wanted["pad" + way] - wanted["kernel" + way])
            // wanted["stride" + way]
            + 1
            for side, way in (("width", ""), ("height", "_y"))
        )
        wanted["iterations"] = chance.randint(1, min(8, across * down))
        if chance.random() < 0.7:
            wanted["cols"] = wanted["kernel"] * wanted["kernel_y"] * wanted["depth"]
    else:
        wanted |= {name: nnp.RESET[name] for name in nnp.WINDOW}
    codes = {scalar.name: scalar.code for scalar in nnp.SCALARS}
    lines = []
    for name, value in wanted.items():
        if scalars[name] != value:
            lines.append(("s_wr", {"reg": codes[name], "value": value}))
            scalars.update(settings(found(lines[-1])))
    return lines


def program(chance: random.Random, length: int = 8) -> Case:
    """A program whose chains keep the rules, with the data that it needs."""
    case = Case(configuration(chance))
    sizes = {name: case.configuration[name] for name in case.configuration}
    native, host = sizes["nnp.native"], sizes["nnp.host_format"]
    scalars = dict(nnp.RESET)
    while length:
        lines = _settings(chance, scalars)
        case.lines += lines
        for _ in range(30):
            made = tiles(chance) if chance.random() < 0.25 else chain(chance)
            rows = [found(line) for line in made]
            try:
                follow(rows)
                complete(rows)
                check(rows, scalars, sizes)
            except ChainError:
                continue
            _count(case, rows, made, scalars, native)
            case.lines += made
            if chance.random() < 0.2:
                case.lines.append(("end_chain", {}))
            length -= 1
            break
        else:
            length -= 1
    case.lines += [("trace_begin", {"g": 1}), ("end_chain", {})]
    case.dram = vectors(chance, DRAM_VECTORS + 24 * native, native, host)
    case.fed = vectors(chance, max(1, case.pops), native, host)
    return case


def _count(
    case: Case, rows: list[Decoded], made: list[Line], scalars: dict[str, int], native: int
) -> None:
    """Count the vectors that a chain takes from NetInQ and gives to NetOutQ."""
    times = scalars["iterations"]
    matrix = scalars["rows"] * scalars["cols"]
    netin, netout = BY_NAME["NetInQ"].code, BY_NAME["NetOutQ"].code
    if made[0][0] == "m_rd":
        case.pops += times * matrix * native * (made[0][1]["mem"] == netin)
        return
    names = [name for name, _ in made]
    count = scalars["cols"]
    windows = any(scalars[name] != nnp.RESET[name] for name in nnp.WINDOW)
    if windows and names[0] == "v_rd":
        count = scalars["kernel"] * scalars["kernel_y"] * scalars["depth"]
    case.pops += times * count * (made[0][1].get("mem") == netin)
    if any(name.startswith("mv_mul") for name in names):
        count = scalars["rows"]
    case.pushes += (
        times
        * count
        * sum(name.startswith("v_wr") and values["mem"] == netout for name, values in made)
    )
