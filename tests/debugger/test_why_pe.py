"""`why` in the array: reductions, sliding windows, compressed weights, registers and queues.

Tests compute the values again from the ends of the causes.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.debugger.asked import inputs, only, settings
from tests.debugger.programs import of_source

pytestmark = pytest.mark.once

RNG = np.random.default_rng(11)


def computed(cause, ends):
    """The value of a cause, computed from its ends: products, sums, and the settings of an spu."""
    if cause.ends:
        assert cause.how == "program"
        ends.append((cause.name, cause.value))
        return cause.value
    found = [computed(item, ends) for item in inputs(cause)]
    if cause.how == "mac" and cause.role == "product":
        return found[0] * found[1]
    said, roles = settings(cause), {item.role for item in inputs(cause)}
    if "reduction" in said:
        return (max if said["reduction"].endswith("max") else sum)(found)
    if "product" in roles or "psum" in roles:
        return sum(found)
    if "reduced" in roles:
        (kind,) = {settings(item)["reduction"] for item in inputs(cause)}
        return (max if kind.endswith("max") else sum)(found)
    value = only(found)
    if "shift" in said:
        exact = value / 2 ** said["shift"]
        return max(-128, min(127, round(exact)))  # Python rounds half to even
    return max(value, 0) if said.get("activation") == "relu" else value


def values(name, numbers):
    return f"{name}: .byte {', '.join(str(x) for x in np.ravel(numbers).tolist())}\n"


HEAD = """
        .device tiny
        .output y, int32, {shape}
        .core   pe, row=0
"""


def run_of(text, shape="8"):
    run = of_source(HEAD.format(shape=shape) + text)
    stop = run.cont()
    assert stop.reason == "exit", stop
    return run


# What eight PEs in two clusters multiply: x by a row each, compressed on the way.
X = RNG.integers(-9, 10, 12) * (RNG.random(12) < 0.8)
W = RNG.integers(-9, 10, (8, 12)) * (RNG.random((8, 12)) < 0.6)
SUMS = W @ X
COMPRESSED = "exe ib=0, last, data=(activations x, weights w sliced compress), out={out}"


def source(sequence, out="y"):
    return f"""
        .seq    s{sequence}
        .endseq
        config  ib=0, s
        {COMPRESSED.format(out=out)}
{values("x", X)}{values("w", W)}"""


MAC = """
          ld    activations, base=0
          ld    weights
          mac   base=0, acc=0"""


@pytest.mark.parametrize("form", ["compress", "dense"])
def test_weights_lead_to_the_dense_ones(form):
    """The causes of outputs name the bytes of the dense weights, also if weights are compressed."""
    text = source(MAC + "\n          spu nonsf, src=0, dst=0\n          st base=0")
    run = run_of(text.replace("compress", form))
    for place in range(8):
        ends: list[tuple[str, float]] = []
        cause = only(run.why(f"y[{place}]"))
        assert computed(cause, ends) == cause.value == SUMS[place]
        used = [k for k in range(12) if X[k] and (W[place, k] or form == "dense")]
        pairs = [(place * 12 + k, W[place, k], X[k]) for k in used]
        named = [(k, int(w)) for k, w, _ in pairs]
        found = [(name, value) for name, value in ends if "<w" in name]
        assert [
            (int(name.split("<w")[1].rstrip(">") or "0"), value) for name, value in found
        ] == named
        assert [value for name, value in ends if "<x" in name] == [int(x) for *_, x in pairs]


@pytest.mark.parametrize("chained", ["", ", sfu"])
@pytest.mark.parametrize("kind", ["add", "max"])
def test_a_reduction_is_of_all_pes_of_its_cluster(kind, chained):
    move = "" if chained else "\n          spu nonsf, src=0, dst=1"
    text = f", reduction={kind}{MAC}{chained}{move}\n          spu reduce, src=1, dst=2"
    run = run_of(source(text + "\n          st base=2", out="(y, stride=4)"))
    combine = max if kind == "max" else sum
    for cluster in range(2):
        ends: list[tuple[str, float]] = []
        cause = only(run.why(f"y[{4 * cluster}]"))
        wanted = combine(SUMS[4 * cluster : 4 * cluster + 4].tolist())
        assert computed(cause, ends) == cause.value == wanted
        stored = only(inputs(cause))
        reduced = only(inputs(stored))
        assert (reduced.how, reduced.value, len(inputs(reduced))) == ("spu", wanted, 4)
        assert settings(reduced) == {"reduction": kind}
        weights = [value for name, value in ends if "<w" in name]
        assert len(weights) == np.count_nonzero((W * (X != 0))[4 * cluster : 4 * cluster + 4])


@pytest.mark.parametrize("kind", ["add", "max"])
def test_the_scalar_unit_combines_reductions(kind):
    """The scalar unit combines two reductions; nonsf moves the result, and PE 0 stores it."""
    text = f", reduction=scalar_{kind}{MAC}, sfu\n          spu reduce, src=0, dst=3"
    text += "\n          mac base=0, acc=1, sfu\n          spu reduce, src=0, dst=3"
    run = run_of(
        source(text + "\n          spu nonsf, src=11, dst=5\n          st base=5"), shape="8"
    )
    combine = max if kind == "max" else sum
    for cluster in range(2):
        one = combine(SUMS[4 * cluster : 4 * cluster + 4].tolist())
        cause = only(run.why(f"y[{4 * cluster}]"))
        assert computed(cause, []) == cause.value == combine([one, one])
        taken = only(inputs(only(inputs(cause))))
        assert [(x.role, x.value, x.how) for x in taken.causes] == [("reduced", one, "spu")] * 2


def test_what_is_left_in_the_scalar_unit():
    text = f", reduction=scalar_add{MAC}, sfu\n          spu reduce, src=0, dst=3"
    run = run_of(source(text))
    for cluster in range(2):
        (left,) = run.why(f"pe[0,{cluster}].scalar_sums[0, 3]")
        assert left.value == computed(left, []) == SUMS[4 * cluster : 4 * cluster + 4].sum()
        (empty,) = run.why(f"pe[0,{cluster}].scalar_sums[0, 2]")
        assert (empty.how, empty.ends) == ("empty", True)


def test_sliding_windows():
    """If windows of a strip overlap, the causes of an output are the products of its own window.

    The kernel has zeros, which have no products.
    """
    strip = RNG.integers(-9, 10, (8, 27))
    kernel = RNG.integers(-9, 10, (8, 9)) * (RNG.random((8, 9)) < 0.7)
    run = run_of(
        f"""
        .seq    depthwise, state=sw, window=9, pop=3, shift=2
        .loop   inner=7
          ld    weights
          ld    activations
          mac   base=0, acc=0
          spu   nonsf, src=0, dst=0
          spu   requantise, src=0, dst=0
          st    base=0
        .endseq
        config  ib=0, depthwise
        exe     ib=0, last, data=(weights x sliced, activations k sliced), out=(y, stride=28, step=4)
{values("x", strip)}{values("k", kernel)}""",
        shape="8, 7",
    )
    for channel, place in [(0, 0), (0, 6), (5, 3)]:
        ends: list[tuple[str, float]] = []
        cause = only(run.why(f"y[{channel}, {place}]"))
        window = strip[channel, 3 * place : 3 * place + 9]
        wanted = round(int(window @ kernel[channel]) / 4)
        assert computed(cause, ends) == cause.value == max(-128, min(127, wanted))
        some = [k for k in range(9) if kernel[channel, k]]
        found = [value for name, value in ends if "<x" in name]
        assert found == window[some].tolist()
        places = [int(name.split("<x")[1].strip("+>") or 0) for name, _ in ends if "<x" in name]
        assert places == [27 * channel + 3 * place + k for k in some]


def test_registers_and_queues_in_the_middle_of_a_mac():
    text = source(MAC + ", balance\n          spu nonsf, src=0, dst=0\n          st base=0")
    run = of_source(HEAD.format(shape="8") + text, "reference")
    while not run.read("pe[0,1].2.q1.level") or not run.read("pe[0,1].2.acc0"):
        run.stepc(1)
    loads = run.why("pe[0,1].2.q1")
    assert len(loads) == run.read("pe[0,1].2.q1.level") > 0
    for load in loads:
        weight, activation = inputs(load)
        assert load.how == "load"
        assert computed(weight, []) in W[6]
        assert computed(activation, []) in X
        assert load.value == weight.value * activation.value
    (total,) = run.why("pe[0,1].2.acc0")
    assert total.how == "mac"
    assert computed(total, []) == total.value == run.read("pe[0,1].2.acc0")
    (entry,) = run.why("pe[0,1].2.weight_value[0]")
    first = W[6][W[6] != 0][0]
    assert (entry.how, entry.value, computed(entry, [])) == ("ld", first, first)
    (number,) = run.why("pe[0,1].2.activations[3]")
    assert (number.how, number.value, computed(number, [])) == ("ld", X[3], X[3])
    (word,) = run.why("pe[0,1].words[0, 2]")
    assert (word.how, word.core) == ("config", "pe[0]")
    (base,) = run.why("pe[0,1].headers[0, 0]")
    assert (base.value, base.how) == (5, "config")
    run.cont()
    (result,) = run.why("pe[0,1].2.output[0]")
    assert (result.how, result.value, computed(result, [])) == ("spu", SUMS[6], SUMS[6])
    for name in ("q1", "weight_value[0]"):
        (empty,) = run.why(f"pe[0,1].2.{name}")
        assert empty.how == "empty"


def test_words_have_their_sources_while_the_config_is_being_parsed():
    run = run_of(source(MAC))
    run.goto(0)
    while not run.read("pe[0,1].words[0, 1]"):
        run.stepc(1)
    (word,) = run.why("pe[0,1].words[0, 1]")
    (cause,) = inputs(word)
    assert (word.how, cause.role) == ("config", "sequence")
    assert cause.value == run.read("pe[0,1].words[0, 1]")
    (of_the_program,) = inputs(cause)
    assert of_the_program.how == "program"
    for not_parsed in ("words[0, 2]", "headers[0, 0]"):
        (nothing,) = run.why(f"pe[0,1].{not_parsed}")
        assert nothing.how == "empty"


def test_several_results_of_a_store_have_their_names():
    run = run_of(source(MAC + "\n          spu nonsf, src=0, dst=0\n          st base=0"))
    stored = [inputs(x)[0] for x in run.why("y[1]")]
    assert [x.value for x in stored] == [SUMS[1]]
    parts = [y for x in run.why("y") for y in inputs(x)]
    assert [x.value for x in parts if x.how == "st"] == SUMS.tolist()


SCALED = """
        .seq    layer, activation=table
        .types  requantise=scale
          ld    psums
          spu   nonsf, src=0, dst=0
          spu   requantise, src=0, dst=1
          spu   activation, src=1, dst=2
          st    base=2
        .endseq
        config  ib=4, layer, data=(scales k, table t)
        exe     ib=4, last, data=(psums p sliced), out=y
p:      .word   -96, -32, -8, 0, 8, 24, 48, 96
k:      .float  0.5, 0.25, -1, 1, 1, 1.5, 0.125, 2
"""


def test_scales_and_tables():
    """A PE's scale and a table's entry are settings, which a config packet brought."""
    table = [(x - 256 if x > 127 else x) // 3 for x in range(256)]
    run = run_of(SCALED + values("t", table))
    for pe, (total, scale) in enumerate([(-96, 0.5), (-32, 0.25), (-8, -1), (0, 1)]):
        mapped = only(inputs(only(inputs(only(run.why(f"y[{pe}]"))))))
        entry = int(total * scale) % 256
        assert mapped.value == table[entry]
        assert settings(mapped) == {"activation": "table", "table": table[entry]}
        place = next(x for x in mapped.causes if x.role == "table")
        assert (place.how, place.core) == ("config", "pe[0]")
        assert computed(place, []) == table[entry]
        assert f"<t+{entry}>" in place.name if entry else "<t>" in place.name
        scaled = only(inputs(mapped))
        assert (scaled.value, settings(scaled)) == (int(total * scale), {"scale": scale})
    (kept,) = run.why("pe[0,1].scales[4, 3]")
    assert (kept.value, kept.how, computed(kept, [])) == (2.0, "config", 2.0)
    (kept,) = run.why("pe[0,1].tables[4, 200]")
    assert (kept.value, kept.how, computed(kept, [])) == (table[200], "config", table[200])
    assert run.why("pe[0,1].scales[5, 0]")[0].how == "empty"


def test_a_scale_in_the_box_of_the_control():
    run = of_source(HEAD.format(shape="8") + SCALED + values("t", [0] * 256), "reference")
    for _ in range(400):
        box = run.read("pe[0,0].1.box509")
        if box.get("function") == "requantise":
            break
        run.stepc(1)
    assert (box["scale"], box["chained"]) == (0.25, False)


def test_sums_of_the_output_queue_are_causes_too():
    """Sums of the output queue are causes: the second `ld psums`, without a segment, adds them."""
    run = run_of("""
        .seq    bias
          ld    psums
        .endseq
        .seq    s
          ld    psums
          spu   nonsf
          st    base=0
        .endseq
sums:   .word   11, 12, 13, 14, 15, 16, 17, 18
        config  ib=0, bias
        config  ib=1, s
        exe     ib=0, data=(psums sums sliced)
        exe     ib=1, last, out=y
""")
    for place in range(8):
        ends: list[tuple[str, float]] = []
        cause = only(run.why(f"y[{place}]"))
        assert computed(cause, ends) == cause.value == 2 * (11 + place)
        assert [value for name, value in ends if "<sums" in name] == [11 + place] * 2
