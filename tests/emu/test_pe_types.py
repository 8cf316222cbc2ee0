"""Element types of a sequence: products, refused types, and cycles on the bus."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from macaw.emu.engines import ENGINES
from macaw.isa.config import ConfigError, Configuration
from macaw.isa.pe import ACTIVATIONS, THEN
from tests.emu.pe_builder import NAMES, Unit, element_types, scales, sequence
from tests.emu.pe_engine_pairs import run_and_compare

every_engine = pytest.mark.parametrize("engine", ENGINES)
LAYER = ("ld activations base=0", "ld weights", "mac base=0 acc=0", "st base=0")
WIDE = {"pe.widest": "int16"}
INTEGERS = [(w, a) for w in ("int8", "int16") for a in ("int8", "int16")]
REALS = [(w, a) for w in ("fp16", "fp32") for a in ("fp16", "fp32")]


def some(rng: np.random.Generator, element: str, *shape: int) -> Any:
    """Numbers that the element type holds exactly, many of them too large for the narrower type."""
    if element.startswith("fp"):
        return rng.integers(-64, 64, shape) * (2.0**-14 if element == "fp32" else 0.25)
    ends = np.iinfo(NAMES[element])
    return rng.integers(ends.min, ends.max, shape, endpoint=True)


@pytest.mark.once
@every_engine
@pytest.mark.parametrize("form", ["weights", "compressed", "numbered"])
@pytest.mark.parametrize("types", INTEGERS + REALS, ids="-".join)
def test_sums_of_every_pair_of_types(types: tuple[str, str], form: str, engine: str) -> None:
    """Products of a sequence's own types are added in the array's widest sum type."""
    rng = np.random.default_rng(5)
    floating = types[0].startswith("fp")
    widest, element = ("fp32", "fp16") if floating else ("int16", "int8")
    unit = Unit({"pe.element": element, "pe.widest": widest})
    matrix, x = some(rng, types[0], 8, 40), some(rng, types[1], 40)
    unit.config_packet(0, *LAYER, types=element_types(*types))
    out = unit.out(64, "fp32" if floating else "int64")
    weights = getattr(unit, form)(matrix, element=types[0])
    unit.exe(0, unit.dense(x, element=types[1]), weights, out=out, last=1)
    machine = unit.machine(engine=engine)
    machine.run()
    assert machine.read(out, 8).tolist() == (matrix @ x).tolist()


@every_engine
def test_a_sequence_without_types_has_those_of_the_array(engine: str) -> None:
    """Without a record of types, an array with wider types uses int8 with wide sums."""
    unit = Unit(WIDE)
    lines = (*LAYER[:-1], "spu nonsf src=0 dst=0", "spu requantise src=0 dst=1", "st base=1")
    unit.config_packet(0, *lines)
    out = unit.out(64, "int64")
    matrix = np.arange(-4, 4)[:, None] * np.ones((1, 9), int)
    unit.exe(0, unit.dense(np.full(9, 7)), unit.weights(matrix), out=out, last=1)
    machine = unit.machine(engine=engine)
    machine.run()
    assert machine.read(out, 8).tolist() == [max(-128, min(127, x * 63)) for x in range(-4, 4)]


@every_engine
@pytest.mark.parametrize("types", INTEGERS, ids="-".join)
def test_results_are_of_the_type_of_activations(types: tuple[str, str], engine: str) -> None:
    """Results have the activations' type: requantise saturates to it, and tables contain it."""
    unit = Unit(WIDE)
    lines = (
        *("ld psums base=0", "spu nonsf src=0 dst=0", "spu requantise src=0 dst=1"),
        *("spu activation src=1 dst=2", "st base=1", "st base=2"),
    )
    half = 256 if types[1] == "int16" else 1
    table = (np.arange(256) - 128) * half // 2
    data = np.asarray(table).astype(NAMES[types[1]]).tobytes()
    unit.config_packet(
        0, *lines, types=element_types(*types, requantise=1), activation=ACTIVATIONS.index("table"),
        data=[scales([2.0] * 8), ("table", "broadcast", data)],
    )  # fmt: skip
    sums = np.array([-70000, -40000, -100, -3, 3, 100, 40000, 70000])
    out = unit.out(16 * 8, "int64", stride=16)
    unit.exe(0, unit.psums(sums), out=out, last=1)
    machine = unit.machine(engine=engine)
    machine.run()
    ends = np.iinfo(NAMES[types[1]])
    scaled = np.clip(sums * 2, ends.min, ends.max)
    got = machine.read(out, 16).reshape(8, 2)
    assert got[:, 0].tolist() == scaled.tolist()
    assert got[:, 1].tolist() == table[np.clip(scaled, -128, 127) & 255].tolist()


def test_a_segment_that_names_its_type() -> None:
    """An int8 sequence loads a segment of int16 numbers, which an int16 sequence then uses."""
    unit = Unit(WIDE)
    unit.config_packet(1, "ld activations base=0")
    unit.config_packet(2, *LAYER[1:], types=element_types("int8", "int16"))
    x, matrix = np.arange(20) * 1000 - 9999, np.arange(160).reshape(8, 20) % 11 - 5
    out = unit.out(64, "int64")
    unit.exe(1, unit.dense(x, "broadcast int16", element="int16"))
    unit.exe(2, unit.weights(matrix), out=out, last=1)
    fast, _ = run_and_compare(unit, [3, 20])
    assert fast.read(out, 8).tolist() == (matrix @ x).tolist()


def test_two_layers_of_two_types_in_one_loop() -> None:
    """An int16 layer and an int8 layer with iterations run in one list; both engines agree."""
    unit = Unit(WIDE | {"pe.clusters": 3})
    rng = np.random.default_rng(2)
    outs = []
    for ib, types in enumerate(INTEGERS):
        base = 4 * ib
        unit.config_packet(
            ib,
            *("ld weights", f"ld activations base={base}", f"mac base={base} acc={ib}"),
            *(f"spu nonsf src={ib} dst={base}", f"st base={base}"),
            steps=[(2, 0, 3, 0), (3, 1, 1, 0), (4, 0, 1, 0)],
            types=element_types(*types),
            state=1,
            inner=5,
            pipeline=4,
        )
        matrix, x = some(rng, types[0], 12, 9), some(rng, types[1], 21)
        out = unit.out(40 * 12, "int64", stride=40)
        segments = unit.weights(matrix, element=types[0]), unit.dense(x, element=types[1])
        unit.exe(ib, *segments, out=out, last=1)
        windows = np.array([x[3 * n : 3 * n + 9] for n in range(5)])
        outs.append((out, matrix @ windows.T))
    fast, _ = run_and_compare(unit, [11, 40, 40, 7])
    for out, sums in outs:
        assert fast.read(out, 60).reshape(12, 5).tolist() == sums.tolist()


def mismatched(kind: str) -> Unit:
    unit = Unit(WIDE)
    unit.config_packet(0, *LAYER[:-1], types=element_types("int8", "int16"))
    x, matrix = np.ones(20), np.ones((8, 20))
    weights = unit.weights(matrix)
    if kind == "weights":
        weights = unit.weights(matrix, "sliced int16", element="int16")
    words = "broadcast int8" if kind == "activations" else "broadcast"
    element = "int8" if kind == "activations" else "int16"
    unit.exe(0, unit.dense(x, words, element=element), weights)
    return unit


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("weights", "cluster 0: the weights are int16, the sequence in buffer 0 multiplies int8"),
        ("activations", "the activations are int8, the sequence in buffer 0 multiplies int16"),
    ],
)
def test_a_mac_on_data_of_another_type(kind: str, text: str) -> None:
    for engine in ENGINES:
        stop = mismatched(kind).machine(engine=engine).device.run()
        assert stop.fault is not None
        assert stop.fault.kind == "type mismatch"
        assert text in stop.fault.message


def test_only_blocks_that_the_mac_may_read_count() -> None:
    """A mac of int8 in block 1 may run while blocks 0 and 2 hold int16, which it does not reach."""
    unit = Unit(WIDE)
    unit.config_packet(1, "ld activations base=0", "ld activations base=2",
                       types=element_types("int8", "int16"))  # fmt: skip
    lines = ("ld activations base=1", "ld weights", "mac base=1 acc=0", "st base=0")
    unit.config_packet(2, *lines)
    unit.exe(1, *[unit.dense(np.ones(256), element="int16")] * 2)
    out = unit.out(64, "int64")
    unit.exe(2, unit.dense(np.full(256, 3)), unit.numbered(np.ones((8, 256))), out=out, last=1)
    fast, _ = run_and_compare(unit, [])
    assert fast.read(out, 8).tolist() == [768] * 8


REFUSED: list[tuple[dict[str, Any], dict[str, int], tuple[str, str, bytes], str, str]] = [
    ({}, element_types("int8", "int16"), ("activations", "broadcast", bytes(4)), "not available",
     "a sequence of int16: the array has int8 (pe.widest)"),
    (WIDE, element_types("fp16", "int8"), ("activations", "broadcast", bytes(4)), "not available",
     "a sequence of fp16: the array has int8, int16 (pe.widest)"),
    ({}, {}, ("activations", "broadcast int16", bytes(4)), "not available",
     "segment 0: the array has no activations of int16"),
    (WIDE, {}, ("psums", "sliced int32", bytes(32)), "not available",
     "segment 0: the array has no psums of int32"),
    (WIDE, element_types("int8", "int16"), ("activations", "broadcast", bytes(5)), "slice mismatch",
     "5 bytes are no whole number of int16"),
]  # fmt: skip


@pytest.mark.parametrize(("config", "types", "segment", "kind", "text"), REFUSED)
def test_refused(
    config: dict[str, Any],
    types: dict[str, int],
    segment: tuple[str, str, bytes],
    kind: str,
    text: str,
) -> None:
    unit = Unit(config)
    unit.config_packet(0, f"ld {segment[0]} base=0", types=types)
    unit.exe(0, segment)
    stop = unit.machine().device.run()
    assert stop.fault is not None
    assert (stop.fault.kind, text in stop.fault.message) == (kind, True), stop.fault.message


def test_scales_have_no_element_type() -> None:
    unit = Unit()
    made = sequence("st base=0", types={"requantise": 1})
    data = [("scales", "sliced int8", bytes(32))]
    unit.config_bytes(0, made, data=data)
    stop = unit.machine().device.run()
    assert stop.fault is not None
    assert stop.fault.kind == "malformed packet"
    assert "segment 1: scales with an element type" in stop.fault.message


def test_clusters_that_take_a_segment_as_two_types() -> None:
    """If clusters expect different types of a segment, the segment must name its type.

    Otherwise the row faults.
    """
    for words, is_right in (("broadcast", False), ("broadcast int16", True)):
        unit = Unit(WIDE)
        unit.config_packet(
            0, "ld activations base=0", types=element_types("int8", "int16"), clusters=1
        )
        unit.config_packet(0, "ld activations base=0", clusters=2)
        unit.exe(0, unit.dense(np.arange(8), words, element="int16"))
        stop = unit.machine().device.run()
        assert (stop.fault is None) == is_right
        if stop.fault is not None:
            assert stop.fault.kind == "segment mismatch"
            assert "its clusters expect int8 and int16" in stop.fault.message


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"pe.element": "fp16", "pe.widest": "int16"}, "multiplies integers or floating numbers"),
        ({"pe.element": "int8", "pe.widest": "fp32"}, "multiplies integers or floating numbers"),
    ],
)
def test_settings_that_contradict_each_other(values: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        Configuration("test", values)


@pytest.mark.once
@pytest.mark.parametrize("base", [1, 15])
@pytest.mark.parametrize("hold", [{}, element_types("int8", "int16")], ids=["int8", "int16"])
def test_a_loop_over_weights_that_stay_reads_a_block(base: int, hold: dict[str, int]) -> None:
    """A loop over resident weights faults if its block holds activations of another type."""
    unit = Unit({**WIDE, "pe.clusters": 2, "pe.pes": 2, "pe.input_buffer": 256})
    unit.config_packet(1, f"ld activations base={base}", types=hold)
    unit.config_packet(
        2,
        *("ld weights", f"mac base={base} acc=0", "spu nonsf src=0 dst=0"),
        steps=[(2, 1, 1, 0)],
        state=1,
        inner=6,
        pipeline=4,
        then=THEN + 3,
    )
    unit.config_packet(3, "st base=0")
    x, matrix = np.arange(16) - 5, np.arange(64).reshape(4, 16) % 7 - 3
    out = unit.out(4 * 6 * 8, "int64", count=6)
    unit.exe(1, unit.dense(x, element="int16" if hold else "int8"))
    unit.exe(2, unit.weights(matrix), out=out, last=1)
    fast, _ = run_and_compare(unit, [5])
    stop = fast.device.stopped
    if hold:
        assert stop is not None
        assert stop.fault is not None
        assert stop.fault.kind == "type mismatch"
    else:
        assert fast.read(out, 24).reshape(4, 6).tolist() == np.tile(matrix @ x, (6, 1)).T.tolist()
