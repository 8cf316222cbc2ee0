"""Rules of chains, against trying all ways through the units; entries of memories, against sets."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from macaw.isa import codec, config
from macaw.isa.codec import Decoded
from macaw.isa.nnp import CORE, RESET, STAGE, STEPS, WINDOW
from macaw.isa.nnp_chains import ChainError, complete, follow, memory, settings
from macaw.isa.nnp_entries import Volume, accesses, check, flow, runs, volume
from macaw.isa.nnp_layouts import VECTOR
from macaw.isa.nnp_walk import broken
from tests.fuzzing import properties

ROWS = CORE.by_mnemonic
SIZES = config.load("tiny")
# Instructions of MFU0 and MFU1 (the specification of nnp); the operand's memory, if any, says which of the two.
ADDS = ("vv_add", "vv_a_sub_b", "vv_b_sub_a", "vv_max")
ACTS = ("v_sigm", "v_tanh", "v_relu")


def chain(*texts: str) -> list[Decoded]:
    """Decode instructions that are written as `describe` prints them."""
    found = []
    for text in texts:
        mnemonic, _, rest = text.partition(" ")
        row = ROWS[mnemonic]
        words = [word.strip() for word in rest.split(",")] if rest else []
        values = {}
        for operand, word in zip(row.operands, words, strict=True):
            value = operand.kind.parse(word)
            values[operand.name] = int(word) if value is None else value
        found.append(codec.decode(CORE, codec.encode(row, values)))
    return found


STAGES = [
    "mv_mul 0", "vv_mul 0", "v_softmax", "v_quantise", *ACTS,
    *(f"{name} {where}, 0" for name in ADDS[:2] for where in ("AddSubVrf0", "AddSubVrf1")),
]  # fmt: skip


def fits(part: Sequence[str], adder: str, *others: str) -> bool:
    """Whether a unit can do the instructions: each kind at most once, in any order."""
    kinds = []
    for text in part:
        name, _, rest = text.partition(" ")
        if name in ADDS:
            kinds.append("add" if rest.startswith(adder) else "none")
        else:
            kinds.append("act" if name in ACTS or name == "v_softmax" else name)
            if name == "v_softmax" and "v_softmax" not in others:
                return False
    return len(kinds) == len(set(kinds)) and set(kinds) <= {"add", "act", "v_quantise", *others}


def possible(stages: Sequence[str]) -> bool:
    """Whether multiplier, MFU0 and MFU1 can do all stages in their order."""
    for first in range(len(stages) + 1):
        for second in range(first, len(stages) + 1):
            if (
                list(stages[:first]) in ([], ["mv_mul 0"])
                and fits(stages[first:second], "AddSubVrf0", "vv_mul", "v_softmax")
                and fits(stages[second:], "AddSubVrf1")
            ):
                return True
    return False


@properties
@given(st.lists(st.sampled_from(STAGES), max_size=7))
def test_a_chain_is_refused_exactly_if_no_way_through_the_units_does_it(stages: list[str]) -> None:
    """A chain is refused exactly if no way through the units does all of it (seed 003 ¶48-49)."""
    rows = chain("v_rd NetInQ, 0", *stages, "v_wr NetOutQ, 0")
    try:
        units = follow(rows)
    except ChainError as error:
        assert error.rule in ("order", "blocks")
        assert not possible(stages)
        assert possible(stages[: error.at - 1])  # the first that finds no room
        return
    assert possible(stages)
    assert units[0] == units[-1] == ""
    order = [("mvm", "mfu0", "mfu1").index(unit) for unit in units[1:-1]]
    assert all(first <= second for first, second in pairwise(order))
    used = [
        (unit, STEPS[row.row.mnemonic].block) for unit, row in zip(units, rows, strict=True) if unit
    ]
    assert len(used) == len(set(used))


def test_every_stage_is_tried() -> None:
    stages = {name for name, step in STEPS.items() if step.role == STAGE}
    tried = {text.split()[0] for text in STAGES} | set(ADDS)
    assert {name.removesuffix("_inc") for name in stages} == tried


@pytest.mark.parametrize("texts", [["v_rd NetInQ, 0"], ["m_rd NetInQ, 0"]])
def test_a_chain_that_is_not_written(texts: list[str]) -> None:
    with pytest.raises(ChainError, match="writes nothing") as error:
        complete(chain(*texts), "end_chain")
    assert (error.value.rule, error.value.at) == ("written", 1)


# Volumes and windows

VOLUMES = st.builds(
    Volume,
    width=st.integers(1, 6), height=st.integers(1, 6), kernel=st.integers(1, 4),
    stride=st.integers(1, 3), pad=st.integers(0, 2), depth=st.integers(1, 3),
    kernel_y=st.integers(1, 4), stride_y=st.integers(1, 3), pad_y=st.integers(0, 2),
    dilation=st.integers(1, 3), dilation_y=st.integers(1, 3),
).filter(lambda found: found.across > 0 and found.down > 0)  # fmt: skip


@properties
@given(VOLUMES)
def test_windows_are_numpy_s(found: Volume) -> None:
    """The windows of a convolution are those of NumPy's `sliding_window_view` (seed 003 ¶56-57)."""
    count = found.height * found.width * found.depth
    places = np.arange(count).reshape(found.height, found.width, found.depth)
    edge = ((found.pad_y, found.pad_y), (found.pad, found.pad), (0, 0))
    padded = np.pad(places, edge, constant_values=-1)
    reach = (found.kernel_y - 1) * found.dilation_y + 1, (found.kernel - 1) * found.dilation + 1
    views = np.lib.stride_tricks.sliding_window_view(padded, reach, (0, 1))
    views = views[:: found.stride_y, :: found.stride, :, :: found.dilation_y, :: found.dilation]
    assert views.shape[:2] == (found.down, found.across)
    for iteration in range(found.down * found.across):
        view = views[divmod(iteration, found.across)].transpose(1, 2, 0)
        assert [
            x if x is not None else -1 for x in found.window(iteration)
        ] == view.ravel().tolist()


@pytest.mark.parametrize("name", ["kernel", "stride", "pad", "dilation"])
def test_a_register_of_windows_also_sets_the_one_for_the_y_direction(name: str) -> None:
    """Sources with square windows, as those of seed 003 ¶56, set no register for y."""
    found = settings(chain(f"s_wr {name}, 5")[0])
    assert found == {name: 5, f"{name}_y": 5} | (
        {"dilation": 1, "dilation_y": 1} if name == "kernel" else {}
    )
    assert settings(chain(f"s_wr {name}_y, 6")[0]) == {f"{name}_y": 6}


def scalars(found: Volume | None, rows: int, cols: int, iterations: int) -> dict[str, int]:
    values = {**RESET, "rows": rows, "cols": cols, "iterations": iterations}
    if found is not None:
        values |= {name: getattr(found, name) for name in WINDOW}
    return values


CHAINS = [
    chain("v_rd InitialVrf, 3", "v_wr AddSubVrf0, 9"),
    chain("v_rd_inc InitialVrf, 3, 2", "mv_mul_inc 5, 3", "vv_add_inc AddSubVrf0, 1, 2",
          "vv_mul 6", "vv_max AddSubVrf1, 4", "v_wr_inc MulVrf, 0, 4", "v_wr AddSubVrf0, 40"),
    chain("v_rd InitialVrf, 0", "mv_mul 0", "vv_a_sub_b_inc AddSubVrf0, 0, 0", "v_wr_inc MulVrf, 1, 1"),
]  # fmt: skip


@properties
@given(
    st.sampled_from(CHAINS),
    st.none() | VOLUMES,
    st.integers(1, 4),
    st.integers(1, 4),
    st.integers(1, 8),
)
def test_entries_are_those_of_all_iterations(
    rows: list[Decoded], found: Volume | None, height: int, width: int, iterations: int
) -> None:
    if found is not None:
        iterations = min(iterations, found.across * found.down)
    values = scalars(found, height, width, iterations)
    sets = volume(values)
    for access in accesses(rows, values):
        asked = [access.addresses(i, sets) for i in range(iterations)]
        entries = {entry for item in asked for entry in item if entry is not None}
        listed = runs(access, values)
        assert {entry for begin, end in listed for entry in range(begin, end)} == entries
        assert all(one[1] < two[0] for one, two in pairwise(listed))  # apart, ascending
        assert {len(item) for item in asked} == {access.count}


@properties
@given(
    st.integers(0, 12), st.integers(0, 12), st.integers(0, 3), st.integers(0, 3),
    st.integers(1, 3), st.integers(1, 4), st.none() | VOLUMES, st.booleans(),
)  # fmt: skip
def test_an_entry_that_is_read_and_written_is_found(
    first: int, second: int, inc: int, step: int, cols: int, iterations: int,
    found: Volume | None, plain: bool,
) -> None:  # fmt: skip
    read = f"v_rd InitialVrf, {first}" if plain else f"v_rd_inc InitialVrf, {first}, {inc}"
    rows = chain(read, f"v_wr_inc InitialVrf, {second}, {step}")
    if found is not None:
        iterations = min(iterations, found.across * found.down)
    values = scalars(found, 1, cols, iterations)
    sets = volume(values)
    one, two = (
        {entry for i in range(iterations) for entry in access.addresses(i, sets)}
        for access in accesses(rows, values)
    )
    if one & two - {None}:
        with pytest.raises(ChainError) as error:
            check(rows, values, SIZES)
        assert error.value.rule == "in place"
    else:
        check(rows, values, {**SIZES, "nnp.initial_vrf": 4096})


@properties
@given(st.sampled_from(CHAINS), st.none() | VOLUMES, st.sets(st.sampled_from(sorted(RESET))))
def test_what_is_not_known_breaks_no_rule_that_it_might_not(
    rows: list[Decoded], found: Volume | None, unknown: set[str]
) -> None:
    """If fewer registers have known values, a chain accesses no entries that it did not before.

    The counts of vectors are equal, or None because they are unknown.
    """
    values = scalars(found, 2, 3, 1)
    less = {name: value for name, value in values.items() if name not in unknown}
    for known, count in zip(flow(rows, values), flow(rows, less), strict=True):
        assert count in (known, None)
    for all_of_it, some in zip(accesses(rows, values), accesses(rows, less), strict=True):
        entries = {x for begin, end in runs(all_of_it, values) for x in range(begin, end)}
        assert {x for begin, end in runs(some, less) for x in range(begin, end)} <= entries


def test_vectors_of_a_chain_become_rows_of_the_product() -> None:
    """A chain has `cols` vectors before its product and `rows` vectors after it (seed 003 ¶45)."""
    rows = CHAINS[1]
    assert flow(rows, scalars(None, 5, 2, 1)) == (2, 2, 5, 5, 5, 5, 5)
    memories = [memory(row) for row in rows]
    kinds = [found.elements[0] for found in memories if found is not None]
    assert [kind == VECTOR for kind in kinds] == [True, False, *[True] * 5]
    assert None not in memories
    counts = [access.count for access in accesses(rows, scalars(None, 5, 2, 1))]
    assert counts == [2, 10, 5, 5, 5, 5, 5]


# Whole programs


def words(*texts: str) -> list[int]:
    return [codec.encode(found.row, found.values) for found in chain(*texts)]


def rules(program: Sequence[int | None]) -> list[tuple[int, str]]:
    return [(found.at, found.error.rule) for found in broken(program, SIZES)]


COPY = ("v_rd NetInQ, 0", "v_wr NetOutQ, 0")


def test_registers_are_followed_to_the_end_of_a_program() -> None:
    update = ("v_rd InitialVrf, 0", "v_wr InitialVrf, 3", "end_chain")
    assert rules(words(*update)) == []
    assert rules(words("s_wr cols, 4", *update)) == [(2, "in place")]
    assert rules([*words("s_wr cols, 4", *COPY, "end_chain"), 0, *words(*update)]) == []


def test_a_word_that_is_not_known_takes_its_chain_along() -> None:
    assert rules([*words("v_sigm", "end_chain")]) == [(0, "begin")]
    assert rules([None, *words("v_sigm", "end_chain")]) == []
    assert rules([*words("v_rd NetInQ, 0"), None, *words("v_sigm", "end_chain")]) == []
    assert rules([None, *words("end_chain", "v_sigm", "end_chain")]) == [(2, "begin")]


def test_the_end_of_a_program() -> None:
    assert rules([]) == []
    assert rules(words(*COPY)) == [(1, "end")]
    assert rules([*words(*COPY), 0]) == [(1, "end")]
    assert rules([*words(*COPY, "end_chain"), 0, 0]) == []
    assert rules([*words(*COPY), None]) == []


def test_a_chain_that_stands_often_is_judged_under_each_setting() -> None:
    update = ("v_rd InitialVrf, 0", "v_wr InitialVrf, 3")
    program = words(*update, "s_wr cols, 4", *update, "s_wr cols, 3", *update, *update, "end_chain")
    assert rules(program) == [(4, "in place")]
