"""The origins that nnp records, on random programs: each step follows from its sources."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macaw.emu.nnp import numbers
from macaw.emu.nnp.elements import FIELDS
from macaw.emu.origins import Place
from macaw.isa import config, nnp
from macaw.isa.memory_map import EXTERNAL
from macaw.isa.nnp_layouts import BY_NAME
from tests.emu.heard import Heard
from tests.emu.nnp.random_programs import NETIN, Case, program
from tests.emu.nnp.untimed import ONE, TWO, Model

pytestmark = pytest.mark.once
DEEP = 12  # steps back


def equal(found, wanted):
    return found == wanted or (np.isnan(found) and np.isnan(wanted))


class Walk:
    """Goes from the values that a program left back to its data."""

    def __init__(self, case, device, heard):
        self.case, self.heard, self.core = case, heard, device.cores["nnp"]
        self.origins, self.model = self.core.origins, Model(case)
        self.switched = self.model.out or self.model.into
        self.ends = 0

    def origin(self, origin, deep=0, quantises=False):
        """Check that a step's sources give its value; check the sources in the same way.

        If the step `quantises` its value, `place` checks the value.
        """
        inputs = [x for x in origin.sources() if not x.setting]
        for source in inputs:
            self.source(source, deep + 1)
        name = origin.what.removesuffix("_inc")
        values = [np.array([x.value], self.model.kind) for x in inputs]
        if origin.what == "padding":
            assert equal(origin.value, 0)
        elif name in TWO and not self.switched:
            assert equal(TWO[name](*values)[0], origin.value)
        elif name == "vv_mul" and not self.switched:
            assert equal(numbers.multiply(*values)[0], origin.value)
        elif name in ONE and not self.switched:
            assert equal(ONE[name](*values)[0], origin.value)
        elif name in ("v_rd", "m_rd", "v_wr"):
            assert quantises or equal(inputs[0].value, origin.value)
        elif name == "mv_mul" and inputs and inputs[0].what == "product" and not self.switched:
            exact = sum(x.value for x in inputs)
            size = sum(abs(x.value) for x in inputs)
            near = float(np.array(origin.value, self.model.kind))
            if np.isfinite(near):
                assert abs(near - exact) <= 2.0**-9 * abs(exact) + 2.0**-20 * size + 2.0**-23

    def source(self, source, deep):
        if deep > DEEP:
            return
        if source.origin is not None:
            assert equal(source.origin.value, source.value)
            self.origin(source.origin, deep)
        elif source.place is not None:
            self.place(source, deep)
        elif source.memory is not None:
            self.memory(source, deep)
        else:
            self.came(source)

    def place(self, source, deep):
        """Check the value that an entry of a register file had when it was read."""
        made = list(self.origins.makers(source.place, source.number))
        if not made:
            assert equal(source.value, 0)
            return
        (one,) = made
        if source.place.field in ("initial_codes", "matrix_codes"):
            assert equal(self.quantised(source), source.value)
        if source.place.field != "matrix_codes" and not self.model.into:  # else quantised again
            assert equal(one.value, source.value)
        self.origin(one, deep, source.place.field == "initial_codes")

    def quantised(self, source):
        """Quantise the whole block of a number from the values as they were written."""
        name, first, size, _ = source.place
        row = first // (size * self.core.memories.native) * size * self.core.memories.native
        whole = Place(name, row, size * self.core.memories.native)
        block = [next(x.sources()).value for x in self.origins.makers(whole, source.number)]
        quantiser = self.model.quantisers[name == "matrix_codes"]
        held = numbers.quantise(np.array(block, self.model.kind), quantiser)
        exact = numbers.dequantise(held, quantiser)
        host = exact if name == "matrix_codes" else numbers.to_host(exact, self.model.kind)
        return host[(first - row) // size]

    def memory(self, source, deep):
        address, size = source.memory
        number = self.heard.last_write(address, source.number)
        if number is None:
            data = self.case.dram[address - EXTERNAL :][:size]
            assert equal(np.frombuffer(data, self.model.kind)[0], source.value)
            self.ends += 1
        else:
            (made,) = self.origins.writers(number, address, size)
            if made.what != "m_wr":
                assert equal(made.value, source.value)
            self.origin(made, deep)

    def came(self, source):
        """Check that bytes are the ones that the transfer pushed into NetInQ, in their order."""
        assert source.what == "NetInQ"
        number, first, size = source.window_part
        before = (
            length
            for n, (core, _, length) in self.heard.writes.items()
            if n < number and self.heard.writes[n][1] >> 19 == self.heard.writes[number][1] >> 19
        )
        begin = sum(before) + first
        data = self.case.fed[begin : begin + size]
        assert equal(np.frombuffer(data, self.model.kind)[0], source.value)
        self.ends += 1


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1 << 32))
def test_random_programs(seed):
    chance = random.Random(seed)
    case = program(chance)
    device = case.device("reference")
    heard = Heard(device)
    device.run(500_000)
    walk = Walk(case, device, heard)
    state = device.cores["nnp"].state
    for name, field in FIELDS.items():
        if name == "MatrixRf":
            continue
        values = getattr(state, field)
        for entry in np.flatnonzero(values.any(axis=1)).tolist()[:6]:
            element = chance.randrange(values.shape[1])
            first = (entry * values.shape[1] + element) * values.itemsize
            for made in walk.origins.makers(Place(field, first, values.itemsize), heard.count):
                if name != "InitialVrf":
                    assert equal(made.value, values[entry, element])
                walk.origin(made, quantises=name == "InitialVrf")
    for made in list(walk.origins.makers(Place("net_out"), heard.count))[:4]:
        walk.origin(made)


def test_a_recording_may_begin_with_the_transfer_of_a_vector():
    """If the first write of a recording brings a vector, origins find this write, number 0."""
    netin, mulvrf = ({"mem": BY_NAME[name].code, "a": 0} for name in ("NetInQ", "MulVrf"))
    lines = [("v_rd", netin), ("v_wr", mulvrf), ("end_chain", {})]
    tiny = config.load("tiny")
    fed = np.arange(1, 1 + tiny["nnp.native"]).astype(np.float16)
    device = Case(tiny, lines, pops=1, fed=fed.tobytes()).device("reference")
    device.run(10)
    heard = Heard(device)
    device.run(2000)
    assert heard.writes[0] == ("dma", NETIN, fed.nbytes)
    place = Place(FIELDS["MulVrf"], fed.itemsize, fed.itemsize)  # element 1
    origins = device.cores["nnp"].origins
    assert origins is not None
    (made,) = origins.makers(place, heard.count)
    (read,) = (x.origin for x in made.sources() if not x.setting)
    assert read is not None
    (source,) = (x for x in read.sources() if not x.setting)
    assert (source.value, source.window_part) == (fed[1], (0, fed.itemsize, fed.itemsize))


@pytest.mark.parametrize("unit", [1, 2])
def test_the_unit_of_an_increment_is_a_source(unit):
    """The register `unit` is a source of an increment if it differs from its value at reset.

    The second vector comes from `unit` entries further.
    """
    codes = {scalar.name: scalar.code for scalar in nnp.SCALARS}
    netin, mulvrf, sums = (
        {"mem": BY_NAME[name].code, "a": 0} for name in ("NetInQ", "MulVrf", "AddSubVrf0")
    )
    lines = [
        ("s_wr", {"reg": codes["iterations"], "value": 3}),
        ("v_rd", netin), ("v_wr_inc", mulvrf | {"inc": 1}),
        ("s_wr", {"reg": codes["iterations"], "value": 2}),
        ("s_wr", {"reg": codes["unit"], "value": unit}),
        ("v_rd_inc", mulvrf | {"inc": 1}), ("v_wr_inc", sums | {"inc": 1}), ("end_chain", {}),
    ]  # fmt: skip
    tiny = config.load("tiny")
    native = tiny["nnp.native"]
    fed = np.arange(1, 1 + 3 * native).astype(np.float16)
    device = Case(tiny, lines, pops=3, fed=fed.tobytes()).device("reference")
    heard = Heard(device)
    device.run(2000)
    place = Place(FIELDS["AddSubVrf0"], unit * native * fed.itemsize, fed.itemsize)
    origins = device.cores["nnp"].origins
    assert origins is not None
    (made,) = origins.makers(place, heard.count)
    assert made.value == fed[unit * native]
    (read,) = (x.origin for x in made.sources() if not x.setting)
    assert read is not None
    found = {x.what: x.value for x in read.sources() if x.setting}
    assert found.get("unit", 1) == unit
    assert ("unit" in found) == (unit > 1)
