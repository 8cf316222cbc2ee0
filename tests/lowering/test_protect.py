"""Protected weights: the orders of seed 002 ¶105-¶113, and properties of every scope."""

from collections import Counter
from fractions import Fraction
from math import factorial, log2
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from macaw.lowering import protect
from macaw.lowering.errors import LowerError

SCOPES = ("net", "layer", "group:2", "group:3", "node")


def names(node: int, inputs: str) -> list[int]:
    """The numbers of weights: w40 is 40, and so on."""
    return [int(f"{node}{i}") for i in inputs]


# Fig. 8: nodes 4 to 7 have the inputs 0 to 3, nodes 8 and 9 the inputs 4 to 7.
FIGURE_8 = [
    np.array([names(node, "0123") for node in (4, 5, 6, 7)], np.int32),
    np.array([names(node, "4567") for node in (8, 9)], np.int32),
]


def pmac(a: list[int], b: list[int], seq: list[int]) -> list[int]:
    """The permuted multiply-accumulate by its definition: a sum for each group of four lanes."""
    products = [a[i] * b[seq[i]] for i in range(len(a))]
    return [sum(products[i : i + 4]) for i in range(0, len(a), 4)]


def node_by_pmac(x: list[int], stored: list[int], orders: list[list[int]]) -> int:
    """The sum of a node, computed block by block from its stored weights."""
    lanes = len(orders[0])
    x = x + [1] * (-len(x) % lanes)  # whatever stands behind the inputs meets the padding
    total = 0
    for block, seq in enumerate(orders):
        part = slice(block * lanes, (block + 1) * lanes)
        total += sum(pmac(x[part], stored[part], seq))
    return total


def test_figure_8_as_the_seed_stores_it() -> None:
    """Weights of Fig. 8 are stored as in the figure; `restore` undoes it (seed 002 ¶103-108)."""
    plan = protect.layout(FIGURE_8, "net")
    assert plan.shape == (1, 1, 4)
    orders = protect.check(np.array([[[0, 3, 1, 2]]], np.uint8), plan)
    first, second = protect.shuffle(FIGURE_8, orders, plan)
    assert first.tolist() == [names(node, "0231") for node in (4, 5, 6, 7)]  # ¶107
    assert second.tolist() == [names(node, "4675") for node in (8, 9)]
    back = protect.restore([first, second], orders, plan)
    assert [array.tolist() for array in back] == [array.tolist() for array in FIGURE_8]


@pytest.mark.parametrize(
    ("scope", "first", "second"),
    [
        ("net", [0, 0, 0, 0], [0, 0]),  # ¶109
        ("layer", [0, 0, 0, 0], [1, 1]),  # ¶110
        ("group:2", [0, 0, 1, 1], [2, 2]),  # ¶111
        ("group:3", [0, 0, 0, 1], [2, 2]),
        ("group:9", [0, 0, 0, 0], [1, 1]),
        ("node", [0, 1, 2, 3], [4, 5]),  # ¶112
    ],
)
def test_whose_order_is_whose(scope: str, first: list[int], second: list[int]) -> None:
    """The scope says which nodes share an order (seed 002 ¶109-112).

    All nodes of the net, of a layer or of a group share an order; or each node has its own order.
    """
    plan = protect.layout(FIGURE_8, scope)
    assert [order.tolist() for order in plan.order_of] == [first, second]
    assert plan.shape == (second[-1] + 1, 1, 4)
    assert str(plan.scope) == scope


DTYPES = ("int8", "uint8", "int16", "float16", "int32", "float32", ">i2")


@st.composite
def networks(draw: st.DrawFn) -> tuple[list[np.ndarray], str, int, int]:
    """Draw weights of up to three layers, a scope, a number of lanes and a seed."""
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    seed = draw(st.integers(0, 2**32))
    rng = np.random.default_rng(seed)
    layers = []
    for _ in range(draw(st.integers(1, 3))):
        nodes, fan_in = draw(st.integers(1, 7)), draw(st.integers(2, 40))
        bits = rng.integers(0, 256, (nodes, fan_in * dtype.itemsize), np.uint8)
        layers.append(bits.view(dtype))
    lanes = draw(st.sampled_from([4, 8, 16][: 3 - (dtype.itemsize.bit_length() - 1)]))
    return layers, draw(st.sampled_from(SCOPES)), lanes, seed


@settings(max_examples=150, deadline=None)
@given(networks())
def test_there_and_back(network: tuple[list[np.ndarray], str, int, int]) -> None:
    weights, scope, lanes, seed = network
    plan = protect.layout(weights, scope, lanes)
    orders = protect.check(protect.draw(plan, seed), plan)
    assert orders.dtype == np.uint8
    assert orders.shape == plan.shape
    assert (orders != np.arange(lanes)).any(axis=-1).all()
    stored = protect.shuffle(weights, orders, plan)
    for layer, (plain, shuffled) in enumerate(zip(weights, stored, strict=True)):
        assert shuffled.dtype == plain.dtype
        assert shuffled.shape == (len(plain), plan.blocks_of(layer) * lanes)
        # Only padding is added: each block of each node has the same bits as before.
        for row, new in zip(plain, shuffled, strict=True):
            for begin in range(0, len(new), lanes):
                old = [weight.tobytes() for weight in row[begin : begin + lanes]]
                old += [bytes(plain.itemsize)] * (lanes - len(old))
                found = [weight.tobytes() for weight in new[begin : begin + lanes]]
                assert sorted(found) == sorted(old)
    back = protect.restore(stored, orders, plan)
    for plain, again in zip(weights, back, strict=True):
        assert (again.dtype, again.shape) == (plain.dtype, plain.shape)
        assert again.tobytes() == plain.tobytes()


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(SCOPES),
    st.sampled_from([4, 8, 16]),
    st.lists(st.tuples(st.integers(1, 5), st.integers(2, 40)), min_size=1, max_size=3),
    st.integers(0, 2**32),
)
def test_no_row_of_distinct_weights_stands(
    scope: str, lanes: int, shapes: list[tuple[int, int]], seed: int
) -> None:
    """No row of distinct weights keeps its order, even if it is short or has a zero."""
    rng = np.random.default_rng(seed)
    weights = []
    for nodes, fan_in in shapes:
        rows = [rng.permutation(np.arange(-fan_in, fan_in))[:fan_in] for _ in range(nodes)]
        if rng.random() < 0.5:  # and one of them is zero, wherever
            for row in rows:
                row[row == 0] = fan_in
                row[rng.integers(fan_in)] = 0
        weights.append(np.array(rows, np.int8))
    plan = protect.layout(weights, scope, lanes)
    stored = protect.shuffle(weights, protect.draw(plan, seed), plan)
    for plain, shuffled in zip(weights, stored, strict=True):
        for row, new in zip(plain.tolist(), shuffled.tolist(), strict=True):
            assert len(set(row)) == len(row)
            assert new != row + [0] * (len(new) - len(row))
            for begin in range(0, len(row), lanes):
                old, part = row[begin : begin + lanes], new[begin : begin + lanes]
                if any(old):
                    assert part != old + [0] * (lanes - len(old))
                kept = [weight for weight in part if weight]
                if len(kept) > 1 and 0 not in old:
                    assert kept != old


@settings(max_examples=60, deadline=None)
@given(networks())
def test_pmac_of_what_is_stored_is_the_plain_product(
    network: tuple[list[np.ndarray], str, int, int],
) -> None:
    """pmac of the stored weights is the plain product.

    Weights have any type; sums are Python's integers. The weights past the fan-in are multiplied by
    inputs other than zero. The method needs no instruction: statements of Python do the same (seed
    002 ¶123-135).
    """
    weights, scope, lanes, seed = network
    rng = np.random.default_rng(seed)
    plan = protect.layout(weights, scope, lanes)
    orders = protect.draw(plan, seed)
    whole = [
        rng.integers(-100 * (array.dtype.kind != "u"), 101, array.shape).astype(array.dtype)
        for array in weights
    ]
    for layer, stored in enumerate(protect.shuffle(whole, orders, plan)):
        x = rng.integers(-99, 100, plan.fan_in(layer)).tolist()
        for node, row in enumerate(stored):
            used = orders[plan.order_of[layer][node], : plan.blocks_of(layer)].tolist()
            values = [int(value) for value in row]
            wanted = sum(a * int(w) for a, w in zip(x, whole[layer][node], strict=True))
            assert node_by_pmac(x, values, used) == wanted


def test_orders_say_nothing_of_the_weights() -> None:
    """Orders do not depend on the weights, only on shapes and the generator."""
    rng = np.random.default_rng(1)
    for scope in SCOPES:
        one, other = (rng.integers(-99, 99, (5, 37)).astype(np.int8) for _ in range(2))
        plans = [protect.layout([array], scope) for array in (one, other, np.zeros_like(one))]
        orders = [protect.draw(plan, 5) for plan in plans]
        assert orders[0].tolist() == orders[1].tolist() == orders[2].tolist()


def test_every_order_and_block_has_its_own() -> None:
    """Each order and each block is drawn separately (seed 002 ¶109, ¶112).

    A node of 160 weights has ten blocks of 16.
    """
    plan = protect.layout([np.ones((20, 160), np.int8)], "node")
    orders = protect.draw(plan, 1)
    assert orders.shape == (20, 10, 16)
    assert len(np.unique(orders.reshape(-1, 16), axis=0)) == 200
    assert protect.draw(plan, 1).tolist() == orders.tolist()
    assert protect.draw(plan, 2).tolist() != orders.tolist()
    assert protect.draw(plan).tolist() != protect.draw(plan).tolist()


def test_convolution_weights_keep_their_shape() -> None:
    kernel = np.arange(2 * 3 * 3 * 3, dtype=np.int16).reshape(2, 3, 3, 3)
    plan = protect.layout([kernel], "node")
    assert (plan.fan_in(0), plan.shape) == (27, (2, 4, 8))
    orders = protect.draw(plan, 0)
    stored = protect.shuffle([kernel], orders, plan)
    assert stored[0].shape == (2, 32)
    assert protect.restore(stored, orders, plan)[0].tolist() == kernel.tolist()


# How many orders


@pytest.mark.parametrize("scope", SCOPES)
def test_strength_of_full_blocks(scope: str) -> None:
    """The strength is orders * blocks * log2(lanes! - 1) bits (seed 002 ¶113)."""
    weights = [np.arange(6 * 32, dtype=np.int16).reshape(6, 32), np.ones((3, 32), np.int16)]
    plan = protect.layout(weights, scope)
    orders, blocks, lanes = plan.shape
    assert protect.log2_orders(plan) == pytest.approx(orders * blocks * log2(factorial(lanes) - 1))


def test_strength_of_short_blocks() -> None:
    """Short blocks have fewer orders; blocks of 1 or 2 weights have no strength.

    By hand: blocks of 16, 16 and 5 weights.
    """
    for fan_in, factors in ((37, (16, 16, 5)), (33, (16, 16)), (18, (16,))):
        plan = protect.layout([np.zeros((3, fan_in), np.int8)], "node")
        wanted = 3 * sum(log2(factorial(n) - 1) for n in factors)
        assert protect.log2_orders(plan) == pytest.approx(wanted)


def test_strength_of_layers_that_share_is_that_of_the_widest() -> None:
    plan = protect.layout([np.zeros((3, 20), np.int8), np.zeros((3, 7), np.int8)], "net")
    assert protect.log2_orders(plan) == pytest.approx(log2(factorial(16) - 1) + log2(23))
    plan = protect.layout([np.zeros((3, 20), np.int8), np.zeros((3, 7), np.int8)], "layer")
    wanted = log2(factorial(16) - 1) + log2(23) + log2(factorial(7) - 1)
    assert protect.log2_orders(plan) == pytest.approx(wanted)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(SCOPES), st.integers(2, 12), st.integers(2, 12), st.integers(0, 2**32))
def test_equal_weights_are_interchangeable(scope: str, one: int, other: int, seed: int) -> None:
    """`log2_distinct` of weights with repetitions equals a count of the columns that differ."""
    rng = np.random.default_rng(seed)
    weights = [rng.integers(0, 3, (4, fan_in)).astype(np.int16) for fan_in in (one, other)]
    plan = protect.layout(weights, scope)
    wanted = Fraction(1)
    for order in range(plan.shape[0]):
        for block in range(plan.shape[1]):
            columns = []
            for lane in range(block * 8, block * 8 + 8):
                column = []
                for array, of in zip(weights, plan.order_of, strict=True):
                    fan_in = array.shape[1]
                    mine = [row for row, number in zip(array, of, strict=True) if number == order]
                    if mine and block * 8 < fan_in:
                        column += [int(row[lane]) if lane < fan_in else 0 for row in mine]
                columns.append(tuple(column))
            most = max(
                min(max(array.shape[1] - block * 8, 0), 8) if order in of else 0
                for array, of in zip(weights, plan.order_of, strict=True)
            )
            columns = columns[:most]
            ways = factorial(most)
            for same in Counter(columns).values():
                ways //= factorial(same)
            wanted *= ways - 1 if ways == factorial(most) and most > 1 else ways
    assert protect.log2_distinct(weights, plan) == pytest.approx(log2(wanted))
    assert protect.log2_distinct(weights, plan) <= protect.log2_orders(plan) + 1e-9


def test_names_of_columns_are_exact_for_any_number_of_nodes() -> None:
    """Columns of weights that differ only in the first node count as different, for 41 nodes.

    `log2_distinct` numbers the columns, and numbers them anew before a number needs 64 bits.
    """
    for dtype in (np.int8, np.int32):
        weights = np.full((41, 4), -1, dtype)
        weights[0, 2] = 5
        plan = protect.layout([weights], "net", 4)
        assert protect.log2_distinct([weights], plan) == pytest.approx(log2(4))


# Refusals


def orders_of(*blocks: list[int]) -> np.ndarray:
    return np.array([blocks], np.uint8)


@pytest.mark.parametrize(
    ("orders", "message"),
    [
        (np.zeros((1, 1, 4)), "the orders are float64 of the shape"),
        (np.zeros((1, 4), np.uint8), r"uint8 of the shape \(1, 4\)"),
        (
            orders_of([0, 1, 2, 3], [0, 1, 2, 3]),
            r"the shape \(1, 2, 4\), these .* need \(1, 1, 4\)",
        ),
        (orders_of([0, 1, 2, 4]), "order 0, block 0 names lane 4 of 4"),
        (orders_of([0, 2, 2, 3]), "order 0, block 0 names lane 2 twice"),
    ],
)
def test_orders_that_are_none(orders: np.ndarray, message: str) -> None:
    with pytest.raises(LowerError, match=message):
        protect.check(orders, protect.layout(FIGURE_8, "net"))


@pytest.mark.parametrize(
    "scope",
    [
        "nodes",
        "",
        "group",
        "group:",
        "group:0",
        "group:-1",
        "group:x",
        "group:N",
        "group:1:2",
        "group:" + 5000 * "9",
        "net:1",
    ],
)
def test_scopes_that_are_none(scope: str) -> None:
    with pytest.raises(LowerError, match="is no scope"):
        protect.Scope.parse(scope)


def test_weights_that_pmac_cannot_take() -> None:
    good = np.ones((2, 4), np.int8)
    cases: tuple[tuple[list[NDArray[Any]], int | None, str], ...] = (
        ([], None, "there are no weights"),
        ([good[0]], None, r"the weights have the shape \(4,\)"),
        ([good, good[:0]], None, r"layer 2: the weights have the shape \(0, 4\)"),
        ([good.astype(float)], None, "the weights hold float64, which pmac cannot multiply"),
        ([good.astype(bool)], None, "hold bool"),
        ([good.astype("U2")], None, "hold <U2"),
        ([good[:, :1]], None, "a node of one weight has no order"),
        ([good], 12, "no format of pmac has 12 lanes"),
        ([good], 32, "no format of pmac has 32 lanes"),
        ([good, good.astype(np.int16)], 16, "a register does not hold 16 lanes of int16"),
    )
    for weights, lanes, message in cases:
        with pytest.raises(LowerError, match=message):
            protect.layout(weights, "net", lanes)


def test_orders_of_other_weights_show_in_the_padding() -> None:
    weights = [np.arange(1, 11, dtype=np.int8).reshape(2, 5)]
    plan = protect.layout(weights, "node", 4)
    stored = protect.shuffle(weights, protect.draw(plan, 1), plan)
    other = np.tile(np.array([3, 2, 1, 0], np.uint8), (2, 2, 1))
    with pytest.raises(LowerError, match="not those of these weights"):
        protect.restore(stored, other, plan)


@pytest.mark.parametrize("shape", [(2, 9), (2, 4), (3, 5), (10,), (2, 0), (0, 5), (-2, -5), ()])
def test_shapes_that_were_not_shuffled(shape: tuple[int, ...]) -> None:
    with pytest.raises(LowerError, match="have not been"):
        protect.stored_layout(
            [np.ones((2, 8), np.int8)], "net", np.zeros((1, 2, 4), np.uint8), [shape]
        )


@pytest.mark.parametrize("scope", ["net", "layer", "group:4", "node"])
def test_the_table_of_the_manual(scope: str) -> None:
    """docs/protection.md has the numbers of orders and the strengths of the digits network."""
    root = Path(__file__).parents[2]
    weights = [np.load(root / "programs" / "digits_mlp" / f"w{k}.npy") for k in (1, 2, 3)]
    plan = protect.layout(weights, scope)
    orders, blocks, _ = plan.shape
    bits, distinct = protect.log2_orders(plan), protect.log2_distinct(weights, plan)
    line = f"| `{scope}` | {orders} × {blocks} | {bits:,.1f} | {distinct:,.1f} |"
    assert line in (root / "docs" / "protection.md").read_text("utf-8").splitlines()
