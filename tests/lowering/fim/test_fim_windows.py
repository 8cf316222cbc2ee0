"""Products whose left side is a gather of windows: each tile is brought once; bits are equal."""

import numpy as np
import pytest

import macaw
from macaw.isa.fim_circuit import COLUMN_BYTES, DOT, ELEMENTWISE, OUTER, TENSOR
from macaw.lowering.fim.bank_images import BankRows
from macaw.lowering.fim.block_program import runs
from macaw.lowering.fim.dma_timing import ISLAND
from macaw.lowering.fim.fused_task import CannotError, fuse
from macaw.lowering.fim.graph import GATHER, PRODUCT, Graph, Task
from macaw.lowering.fim.island_job import copies
from macaw.lowering.fim.options import options
from macaw.lowering.fim.plan import Option
from macaw.lowering.fim.stream_program import program
from macaw.lowering.fim.windows import (
    LineGroups,
    adjacent_lines,
    distinct_tiles,
    line_groups,
    windows_of,
)
from tests.lowering.fim.running import BASE, alone, modelled, run

ONE = BASE.changed({"fim.islands": 1})  # options of island 0 alone take a quarter of the time

LAYOUTS = {(0, DOT), (3, DOT), (1, OUTER), (2, TENSOR), (0, ELEMENTWISE)}


def image_windows(side, channels, step=1):
    """Return where the segments of 3 x 3 windows begin, and the number of windows.

    The image is (side, side, channels). Each window has nine segments of `channels` numbers.
    """
    sides = range(0, side - 2, step)
    pixels = [
        (row + dy) * side + column + dx
        for row in sides
        for column in sides
        for dy in range(3)
        for dx in range(3)
    ]
    return np.asarray(pixels) * channels, len(sides) ** 2


def convolution(side, channels, to, step=1, offset=0, form=0):
    """A convolution without padding; the image begins at number `offset` of the input x."""
    random, graph = np.random.default_rng(side + channels), Graph(form)
    x = graph.tensor("x", 1, offset + side * side * channels)
    places, count = image_windows(side, channels, step)
    rows = graph.segments(x, places + offset, channels, (count, 9 * channels), "rows")
    weights = random.standard_normal((9 * channels, to)) / 8
    graph.product(rows, graph.constant("w", weights.astype("f2" if form == 0 else "f4")), name="y")
    return graph


def given(graph):
    random = np.random.default_rng(3)
    dtype = np.float32 if graph.form else np.float16
    return {x.name: random.uniform(-1, 1, (x.rows, x.columns)).astype(dtype) for x in graph.inputs}


def found_by(graph, device=BASE):
    """The options of all tasks of a graph in one start, by island and layout."""
    rows = options(graph.tasks, device, graph.form)
    return {(row.island, row.layout): row for row in rows if isinstance(row, Option)}


def test_distinct_tiles_by_hand():
    # rows of two segments of 4 numbers each: 8 and 12, 12 and 16, 16 and 8; the first number is 8
    graph = Graph()
    x = graph.tensor("x", 1, 32)
    graph.segments(x, [8, 12, 12, 16, 16, 8], 4, (3, 8))
    windows = windows_of(graph.tasks[0])
    np.testing.assert_array_equal(windows.places, [[0, 4], [4, 8], [8, 0]])
    tiles = distinct_tiles(windows, 0, 3, (1, 4))
    np.testing.assert_array_equal(tiles.keys, [[0], [4], [8]])
    np.testing.assert_array_equal(tiles.order, [[0, 1], [1, 2], [2, 0]])
    # two rows a tile; the second strip has only row 2, and the third one is like the second one
    tiles = distinct_tiles(windows, 0, 3, (2, 4))
    np.testing.assert_array_equal(tiles.keys, [[0, 0], [0, 4], [4, 8], [8, 8]])
    np.testing.assert_array_equal(tiles.order, [[1, 2], [3, 0], [3, 0]])
    part = windows.of_rows(1, 2)
    np.testing.assert_array_equal(part.places, [[4, 8], [8, 0]])
    np.testing.assert_array_equal(windows.of_rows(0, 1).places, [[0, 4]])
    np.testing.assert_array_equal(windows.of_rows(1, 1).places, [[0, 4]])


def test_groups_of_lines_by_hand():
    """The first lines of all pixels become adjacent, then the second lines, and so on.

    Here six pixels have two lines of 4 numbers each, and a tile has two adjacent pixels.
    """
    keys = np.array([[0, 8], [4, 12], [8, 16], [12, 20], [32, 40], [36, 44]])
    groups = line_groups([np.tile(keys, (3, 1))], 4, 48)
    assert groups == LineGroups(pitch=8, deep=4, pixels=6, counts=(6, 6))
    # the first four numbers of pixels 0 to 5, then the other four
    np.testing.assert_array_equal(groups.places(keys)[:2], [[0, 4], [24, 28]])
    assert adjacent_lines(groups.places(keys), 4) == [(0, 2)]
    assert groups.numbers == 48
    # a last pixel of 4 numbers only is in the first group
    groups = line_groups([np.tile(keys, (3, 1))], 4, 44)
    assert groups is not None
    assert groups.counts == (6, 5)
    # 12 lines make groups, and then 6 tiles are copied: no fewer than 12 lines
    assert line_groups([keys], 4, 48) is None
    # the pitch is no multiple of a line
    assert line_groups([np.array([[0, 6], [6, 12]] * 20)], 4, 48) is None
    assert adjacent_lines(np.array([[0, 4, 12], [8, 12, 16]]), 4) == [(0, 2), (2, 1)]


@pytest.mark.few(4)
@pytest.mark.parametrize("engine", ["fast", "reference"])
@pytest.mark.parametrize(
    ("side", "channels", "to", "step", "offset"),
    [
        (5, 16, 12, 1, 0),
        (5, 32, 5, 2, 16),
        (5, 4, 33, 1, 4),
        (5, 8, 7, 1, 3),
        (5, 16, 5, 1, 6),
        (4, 3, 8, 1, 1),
    ],
)
def test_each_layout_has_the_bits_of_a_written_gather(side, channels, to, step, offset, engine):
    """Each layout gives the bits of the model, which computes the gather and then the product.

    Images may begin within a column, and segments may be shorter than a column.
    """
    graph = convolution(side, channels, to, step, offset)
    inputs, found = given(graph), found_by(graph)
    fitting = {DOT: channels % 16 == 0, TENSOR: channels % 4 == 0}
    assert LAYOUTS & {*found} == {row for row in LAYOUTS if fitting.get(row[1], True)}
    for key in LAYOUTS & {*found}:
        option = found[key]
        plan = alone(graph, option)
        done = run(plan, graph, BASE, "base", engine=engine, **inputs)
        np.testing.assert_array_equal(done.outputs["y"], modelled(plan, graph, inputs)["y"])
        assert abs(option.total - done.cycles) <= max(8, 0.02 * done.cycles)


def test_numbers_of_32_bits():
    graph = convolution(4, 8, 12, form=1)
    inputs, found = given(graph), found_by(graph)
    assert {(0, DOT), (1, OUTER)} <= {*found}
    for option in found.values():
        plan = alone(graph, option)
        done = run(plan, graph, BASE, "base", **inputs)
        np.testing.assert_array_equal(done.outputs["y"], modelled(plan, graph, inputs)["y"])


def test_each_column_comes_once():
    """Each column that a block needs is brought to it once, although several windows contain it.

    An image has 36 pixels, each a column of memory, and 16 windows of nine columns. Two blocks have
    two items each, of four adjacent windows. At a step, an item pulls a pixel of each window: p to
    p + 3, then p + 1 to p + 4, p + 2 to p + 5, and p + 6 to p + 9 in the next row of the image. So
    the start pointer of the buffer moves twice for each of three rows of the image, and once before
    the second item.
    """
    option = found_by(convolution(6, 16, 16), ONE)[0, DOT]
    stream = option.job.stream
    (phase,) = option.job.phases()
    buffers = {stream.buffer(block) for block in range(stream.blocks)}
    bank_bytes = stream.memory.bank_bytes
    into = [copy for copy in copies(phase.bring) if copy.dst.memory == ISLAND]
    columns = sum(
        copy.rows * copy.row_bytes // COLUMN_BYTES
        for copy in into
        if copy.dst.offset // bank_bytes in buffers
    )
    assert columns == sum(len(stream.tiles_of(block).keys) for block in range(stream.blocks))
    assert 36 <= columns <= 36 * stream.blocks
    assert (stream.blocks, stream.items, stream.high) == (2, 2, 4)
    several = (run for block in program(stream) for run in runs(block.items))
    words = [word.text for words, count in several for word in words * count]
    assert sum("pull" in word for word in words) == 16 * 9 + stream.blocks
    assert sum("_start" in word for word in words) == 4 * 3 * 2 + stream.blocks


def test_the_cycles_in_the_guide():
    """The cycles in docs/scheduling-fim.md, "Windows of an image", are right.

    They are for the first 16 of 64 windows, with constants that stay in the banks.
    """
    places, _ = image_windows(10, 64)
    graph = Graph()
    image, weights = graph.tensor("x", 100, 64), np.ones((576, 64), np.float16)
    rows = graph.segments(image, places[: 16 * 9], 64, (16, 576), "rows")
    graph.product(rows, graph.constant("w", weights))
    stays = BankRows(4096, 2048, resident=True)

    def bring(tasks):
        options_of_dot = (row for row in options(tasks, ONE, place=stays) if row.layout == DOT)
        return next(row.bring for row in options_of_dot if isinstance(row, Option))

    assert (bring(graph.tasks), bring(graph.tasks[1:])) == (1597, 3163)
    (host,) = options(graph.tasks[:1], ONE, place=stays)
    assert isinstance(host, Option)
    assert host.total == 1578


@pytest.mark.usefixtures("short_search")
def test_the_islands_share_a_convolution():
    graph = convolution(5, 16, 32)
    lowered = macaw.lower_graph(graph)
    steps = lowered.plan.steps
    assert all([task.kind for task in step.tasks] == [GATHER, PRODUCT] for step in steps)
    regions = [step.option.job.region for step in steps]
    assert len(regions) > 1
    assert sum(region.rows for region in regions) == 9
    inputs = given(graph)
    measured = lowered.measure(inputs)
    np.testing.assert_array_equal(measured.outputs["y"], modelled(lowered.plan, graph, inputs)["y"])
    assert abs(lowered.cycles / measured.cycles - 1) < 0.02
    apart = macaw.lower_graph(graph, together=False)
    assert apart.plan.steps[0].option.island is None  # the host writes all windows
    assert apart.cycles > 1.3 * lowered.cycles


@pytest.mark.usefixtures("short_search")
def test_a_dynamic_plan_brings_windows():
    graph = convolution(5, 16, 8)
    graph.pointwise("relu", graph.tensors["y"], name="z")
    inputs = given(graph)
    lowered = macaw.lower_graph(graph, dynamic=True)
    assert GATHER in {task.kind for task in lowered.plan.steps[0].tasks[:1]}
    assert len(lowered.plan.steps[0].tasks) > 1
    exact = graph.evaluate(inputs)["z"]
    np.testing.assert_allclose(
        macaw.run(lowered.assemble(), inputs).outputs["z"], exact, rtol=0, atol=0.02
    )


def test_windows_that_no_island_can_take():
    graph = Graph()
    x, image = graph.tensor("x", 8, 16), graph.constant("image", np.ones((8, 16), np.float16))
    w = graph.constant("w", np.ones((16, 16), np.float16))
    rows = graph.gather(x, [0, 1, 1, 2] * 4, "rows")
    y = graph.product(rows, w)
    gather, product = graph.tasks
    cases: list[tuple[Task, ...]] = [(gather, graph.tasks[0])]
    graph.product(w, rows, name="right")
    cases.append((gather, graph.tasks[-1]))
    graph.product(rows, rows, name="both")
    cases.append((gather, graph.tasks[-1]))
    graph.product(graph.gather(image, [0, 1], "known"), w, name="of_known")
    cases.append(tuple(graph.tasks[-2:]))
    graph.product(graph.segments(x, [0, 8, 16, 24], 8, (8, 4), "halves"), graph.view(w, 4, 16))
    cases.append(tuple(graph.tasks[-2:]))
    view = graph.view(rows, rows.rows * 2, rows.columns // 2)
    graph.product(view, graph.view(w, w.rows // 2, w.columns * 2), name="other_rows")
    cases.append((gather, graph.tasks[-1]))
    graph.product(y, w, name="chain")
    cases.append((gather, product, graph.tasks[-1]))
    other = graph.product(x, w, name="other")
    graph.pointwise("add", other, graph.product(graph.gather(x, range(8), "all"), w, name="p"))
    whys = []
    for tasks in cases:
        with pytest.raises(CannotError) as error:
            fuse(tasks)
        whys.append(str(error.value))
    assert whys == [
        "rows is no left side of a product",
        "rows is no left side of a product",
        "rows is both sides of a product",
        "the rows of known are no windows of another tensor",
        "the rows of halves are no windows of another tensor",
        "the product reads rows as rows of another length",
        "a product of windows is no part of a chain of products",
    ]


def test_segments_that_are_no_whole_tiles():
    graph = convolution(5, 6, 16)
    whys = {
        row.layout: row.why for row in options(graph.tasks, BASE) if not isinstance(row, Option)
    }
    assert whys[DOT] == "segments of 6 numbers are no whole tiles of 16 numbers"
