"""Scales and tables of the special-function unit, against hand calculations and exact numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from macaw.emu.engines import ENGINES
from macaw.emu.pe.arithmetic import looked_up, rescale
from macaw.isa.pe import ACTIVATIONS, RECORD_SIZE, SEQUENCE
from tests.emu.pe_builder import NAMES, SUMS, SegmentBytes, Unit, scales, sequence

every_engine = pytest.mark.parametrize("engine", ENGINES)
BY_SCALE = {"requantise": 1}
TABLE = ACTIVATIONS.index("table")
LINES = "ld psums base=0", "spu nonsf src=0 dst=0", "spu requantise src=0 dst=1", "st base=1"


def nearest_float(x: Fraction) -> Fraction:
    """The float32 nearest to a fraction, half to even, computed without NumPy."""
    if not x:
        return x
    exponent = abs(x.numerator).bit_length() - x.denominator.bit_length()  # or one too many
    exponent -= abs(x) < Fraction(2) ** exponent
    unit = Fraction(2) ** (max(exponent, -126) - 23)
    return round(x / unit) * unit  # Python rounds a tie to even


def wanted(total: int, scale: float, bits: int) -> int:
    """The definition: float32(sum) times scale in float32, half to even, saturated."""
    product = nearest_float(nearest_float(Fraction(total)) * Fraction(scale))
    return max(-(1 << bits - 1), min(round(product), (1 << bits - 1) - 1))


def edge_sums(element: str, rng: np.random.Generator) -> NDArray[Any]:
    """Sums of every magnitude: ties of float32 beyond 2**24, ends of the range, random ones."""
    ends = np.iinfo(SUMS[element])
    powers = [1 << n for n in range(ends.bits - 1)]
    near = [n + d for n in powers for d in (-1, 0, 1)] + [3 * n // 2 for n in powers]
    most = min(int(ends.max), 2**62)
    random = rng.integers(-most, most, 400) >> rng.integers(0, ends.bits - 1, 400)
    found = [x for n in near for x in (n, -n) if ends.min <= x <= ends.max]
    return np.array([*found, ends.min, ends.max, 0, *random.tolist()], SUMS[element])


@pytest.mark.once
@pytest.mark.parametrize("element", ["int8", "int16"])
def test_requantise_by_scale_in_exact_numbers(element: str) -> None:
    rng = np.random.default_rng(7)
    bits = 8 * np.dtype(NAMES[element]).itemsize
    sums = edge_sums(element, rng)
    for scale in (0.5, 2.0**-20, 1 / 3, -0.0123, 1e-30, 3e38, 1.5, 0.0, *rng.random(6)):
        one = np.float32(scale)
        with np.errstate(over="ignore"):
            got = rescale(sums, np.full(sums.shape, one), NAMES[element])
        assert got.dtype == sums.dtype
        if abs(float(one)) < 1e30:  # beyond, the product may be an infinity
            expected = [wanted(x, float(one), bits) for x in sums.tolist()]
        else:
            expected = [int(np.sign(x)) * (1 << bits) for x in sums.tolist()]
            expected = np.clip(expected, -(1 << bits - 1), (1 << bits - 1) - 1).tolist()
        assert got.tolist() == expected


def test_ties_go_to_even_after_the_product() -> None:
    """The product is rounded half to even, after the sum was rounded to float32.

    2**24 + 1 becomes 2**24. Times 0.5 / 2**24 this is 0.5, which is rounded to 0; 1.5 is rounded to
    2.
    """
    sums = np.array([(1 << 24) + 1, 3 << 24, 5 << 24, -(1 << 24)], np.int32)
    scale = np.full(4, 0.5 / (1 << 24), np.float32)
    assert rescale(sums, scale, "int8").tolist() == [0, 2, 2, 0]


@pytest.mark.parametrize("element", ["fp16", "fp32"])
def test_floating_sums_times_scales(element: str) -> None:
    """A floating sum times a scale is rounded to float32, then to the element.

    A product that is too large gives the element's greatest number.
    """
    sums = np.array([1.0, -2.5, 60000.0, 3e38, 1 / 3], np.float32)
    scale = np.array([0.1, 3.0, 2.0, 10.0, 1 / 3], np.float32)
    got = rescale(sums, scale, NAMES[element])
    greatest = np.float32(np.finfo(NAMES[element]).max)
    exact = [float(nearest_float(Fraction(float(a)) * Fraction(float(b))))
             for a, b in zip(sums, scale, strict=True)]  # fmt: skip
    expected = [np.float32(np.array(min(x, float(greatest))).astype(NAMES[element])) for x in exact]
    assert got.tolist() == expected


@every_engine
@pytest.mark.parametrize("mode", ["sliced", "broadcast", "by_cluster", "by_pe"])
def test_a_scale_for_each_pe(mode: str, engine: str) -> None:
    unit = Unit()
    count = {"sliced": 8, "broadcast": 1, "by_cluster": 2, "by_pe": 4}[mode]
    values = (np.arange(1, count + 1) / 7).astype(np.float32)
    unit.config_packet(3, *LINES, types=BY_SCALE, data=[scales(values, mode)])
    sums = np.array([100, -100, 3, 700, -701, 5, 999, 1234])
    out = unit.out(8, "int8")
    unit.exe(3, unit.psums(sums), out=out, last=1)
    machine = unit.machine(engine=engine)
    machine.run()
    each = {
        "sliced": values,
        "broadcast": np.repeat(values, 8),
        "by_cluster": np.repeat(values, 4),
        "by_pe": np.tile(values, 2),
    }[mode]
    expected = [wanted(x, float(y), 8) for x, y in zip(sums.tolist(), each, strict=True)]
    assert machine.read(out, 8).tolist() == expected
    assert machine.row.state.scales[:, 3].reshape(-1).tolist() == each.tolist()


def test_table_entries_are_numbered_by_the_byte() -> None:
    values = np.array([0, 1, 127, 128, 5000, -1, -128, -129, -(2**31)], np.int32)
    table = np.arange(256).astype(np.int16)
    assert looked_up(values, table).tolist() == [0, 1, 127, 127, 127, 255, 128, 128, 128]


@every_engine
@pytest.mark.parametrize("element", ["int8", "int16"])
def test_a_table_of_a_buffer(element: str, engine: str) -> None:
    """Two buffers run in turn; each looks up its scaled sums in its own table."""
    unit = Unit({"pe.element": element})
    lines = (*LINES[:-1], "spu activation src=1 dst=2", "st base=2")
    bytes_ = np.arange(256).astype(np.uint8).view(np.int8).astype(np.int64)
    tables = (bytes_ * bytes_) // 200, 5 - bytes_ // 3
    for ib, table in zip((1, 2), tables, strict=True):
        data = [scales([0.25] * 8), unit.table(table)]
        unit.config_packet(ib, *lines, types=BY_SCALE, data=data, activation=TABLE)
    sums = np.array([400, -400, 3, 700, -701, 6, 10, -2]), np.arange(8) * 37 - 100
    outs = []
    for ib, some in ((1, sums[0]), (2, sums[1]), (1, sums[1])):
        outs.append((unit.out(16, element), ib, some))
        unit.exe(ib, unit.psums(some), out=outs[-1][0], last=1)
    machine = unit.machine(engine=engine)
    machine.run()
    bits = 8 * np.dtype(NAMES[element]).itemsize
    for out, ib, some in outs:
        scaled = [wanted(x, 0.25, bits) for x in some.tolist()]
        byte = [max(-128, min(x, 127)) & 255 for x in scaled]
        assert machine.read(out, 8).tolist() == [int(tables[ib - 1][x]) for x in byte]


@every_engine
def test_the_time_of_a_config_with_data(engine: str) -> None:
    """A config with scales and a table takes the cycles calculated here.

    It has 1 + 32 + 32 + 256 bytes: 11 beats of 32. The parser starts after the last beat. A second
    config of the same buffer waits for the parser: the beat of cycle 4 + 10 brings the last bytes
    of the table, the parser takes them in cycle 15, and the bus is free in 15.
    """
    unit = Unit()
    unit.config_packet(
        0, *LINES, types=BY_SCALE, activation=TABLE,
        data=[scales(np.ones(8)), unit.table(np.zeros(256))],
    )  # fmt: skip
    unit.config_packet(0, "st base=0")
    machine = unit.machine(engine=engine)
    machine.run()
    first = 1 + len(sequence(*LINES, types=BY_SCALE)) + 32 + 256
    second = 1 + len(sequence("st base=0"))
    counters = machine.row.counters()
    assert counters["bus_bytes"] == first + second
    assert counters["bus_beats"] == -(-first // 32) + 1
    assert counters["bus_waits"] == 1  # for the parser


def faulting(unit: Unit) -> Any:
    stops = [unit.machine(engine=engine).device.run() for engine in ENGINES]
    assert stops[0].fault is not None
    assert stops[1].fault is not None
    assert stops[0].fault.message == stops[1].fault.message
    return stops[0].fault


SCALED = {"types": BY_SCALE}
WRONG: list[tuple[str, dict[str, Any], list[SegmentBytes], str, str]] = [
    ("int8", SCALED, [], "malformed packet", "requantise=scale: its config has no scales"),
    ("int8", {}, [scales(np.ones(8))], "malformed packet", "no requantise=scale"),
    ("int8", {"activation": TABLE}, [], "malformed packet", "its config has no table"),
    ("int8", {}, [("table", "broadcast", bytes(256))], "malformed packet", "no activation=table"),
    ("int8", SCALED, [scales(np.ones(7))], "slice mismatch", "28 bytes of scales, 8 slices"),
    ("int8", SCALED, [scales([1, 1, np.nan] + [1] * 5)], "malformed packet", "scale 2 is nan"),
    ("int8", SCALED, [scales([np.inf] * 8)], "malformed packet", "scale 0 is inf"),
    ("int8", {"activation": TABLE}, [("table", "broadcast", bytes(255))], "malformed packet",
     "a table of 255 bytes, 256 entries of int8 have 256"),
    ("int16", {"activation": TABLE}, [("table", "broadcast", bytes(256))], "malformed packet",
     "a table of 256 bytes, 256 entries of int16 have 512"),
    ("int8", {"activation": TABLE}, [("table", "sliced", bytes(256))], "malformed packet",
     "a table is broadcast, not sliced"),
    ("fp16", {"activation": TABLE}, [("table", "broadcast", bytes(512))], "not available",
     "a table is for integers, the elements are float16"),
    ("int8", SCALED, [scales(np.ones(8))] * 2, "malformed packet", "at most once"),
]  # fmt: skip


@pytest.mark.parametrize(("element", "header", "data", "kind", "text"), WRONG)
def test_wrong_data_of_a_config(
    element: str, header: dict[str, Any], data: list[SegmentBytes], kind: str, text: str
) -> None:
    unit = Unit({"pe.element": element})
    unit.config_packet(0, *LINES, data=data, **header)
    fault = faulting(unit)
    assert fault.kind == kind
    assert text in fault.message


def test_two_records_of_types() -> None:
    unit = Unit()
    made = bytearray(sequence(*LINES, types=BY_SCALE))
    made[SEQUENCE.offsets["records"]] = 2
    made[SEQUENCE.size : SEQUENCE.size] = made[SEQUENCE.size : SEQUENCE.size + RECORD_SIZE]
    unit.config_bytes(0, bytes(made), data=[scales(np.ones(8))])
    assert "types 1: the sequence has two records of this kind" in faulting(unit).message


def test_a_config_waits_for_results_that_are_its_scales() -> None:
    """A config whose scales are results of an exe waits for the store of the exe."""
    unit = Unit()
    where = unit.out(32, "int32", stride=4)
    unit.config_packet(1, "ld psums base=0", "spu nonsf src=0 dst=0", "st base=0")
    bits = np.array([1.0, 0.5, 0.25, 2.0, 3.0, 0.125, 1.5, 0.75], np.float32)
    unit.exe(1, unit.psums(bits.view(np.int32)), out=where, last=1)
    command = 2  # config ib=2
    made = sequence(*LINES, types=BY_SCALE)
    unit.packet(command, [("sequence", "broadcast", made), ("scales", "sliced", bytes(32))])
    unit.packets[-8:-4] = where["offset"].to_bytes(4, "little")
    machine = unit.machine()
    machine.run()
    assert machine.row.state.scales[:, 2].reshape(-1).tolist() == bits.tolist()
