"""Gather and scatter by copies: right places, and no more copies than a simple rule needs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import macaw
import macaw.lowering.fim.host_job
from macaw.lowering.errors import LowerError
from macaw.lowering.fim.graph import GATHER, Graph
from macaw.lowering.fim.host_job import HostJob


def carried(job, memory):
    """Do the copies of a job on arrays of bytes, row after row."""
    for copy in job.phases()[0].bring[0].copies:
        for row in range(copy.rows):
            src = memory[copy.src.symbol][copy.src.offset + row * copy.src_stride :][
                : copy.row_bytes
            ]
            at = copy.dst.offset + row * copy.dst_stride
            assert len(src) == copy.row_bytes
            assert 0 <= at <= len(memory[copy.dst.symbol]) - copy.row_bytes
            memory[copy.dst.symbol][at : at + copy.row_bytes] = src


def naive(job):
    """Return the number of copies that a simple rule needs.

    Adjacent segments are joined; then segments of equal sizes and distances become one copy.
    """
    width = job.task.width * job.size
    run = [n * width for n in range(len(job.task.places))]
    places = [int(place) * job.size for place in job.task.places]
    to, at = (run, places) if job.task.kind == GATHER else (places, run)
    merged: list[list[int]] = []
    for dst, src in zip(to, at, strict=True):
        if merged and (dst, src) == (merged[-1][0] + merged[-1][2], merged[-1][1] + merged[-1][2]):
            merged[-1][2] += width
        else:
            merged.append([dst, src, width])
    count = first = 0
    while first < len(merged):
        end = first + 1
        if end < len(merged) and merged[end][2] == merged[first][2]:
            strides = [merged[end][n] - merged[first][n] for n in (0, 1)]
            while end < len(merged) and merged[end] == [
                merged[end - 1][0] + strides[0], merged[end - 1][1] + strides[1], merged[first][2],
            ]:  # fmt: skip
                end += 1
        count, first = count + 1, end
    return count


@st.composite
def tasks(draw):
    """Draw a gather or a scatter (into zeros or a tensor), at places with some order."""
    rng = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    graph, width = Graph(), draw(st.integers(1, 5))
    rows, columns = draw(st.integers(1, 12)), draw(st.integers(1, 12))
    cells = rows * columns
    pool = (
        rng.permutation(cells)
        if draw(st.booleans())
        else np.arange(cells).reshape(rows, columns).T.reshape(-1)
    )
    x = graph.tensor("x", cells, width)
    kind = draw(st.sampled_from(["gather", "scatter", "into"]))
    count = draw(st.integers(1, cells))
    if kind == "gather":
        places = rng.choice(pool, count) if draw(st.booleans()) else pool[:count]
        graph.gather(x, places.tolist(), "y")
    else:
        into = graph.tensor("z", cells, width) if kind == "into" else None
        graph.scatter(
            graph.view(x, count, width, name="part"), pool[:count].tolist(), cells, "y", into
        )
    return graph.tasks[-1], rng


@settings(max_examples=150, deadline=None)
@given(drawn=tasks(), piece=st.sampled_from([4, 12, 64, 1 << 20]))
def test_copies_do_what_the_task_says(drawn, piece):
    (task, rng), job = drawn, HostJob(drawn[0], 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(macaw.lowering.fim.host_job, "PIECE", piece)
        sizes = {
            name: array.numbers
            for name, array in (
                ("x", task.inputs[0].memory),
                ("y", task.output),
                ("z", task.output),
            )
        }
        numbers = {
            name: rng.integers(1, 999, size).astype(np.float16) for name, size in sizes.items()
        }
        memory = {name: array.view(np.uint8).copy() for name, array in numbers.items()}
        memory |= {
            name: np.zeros(size, np.uint8)
            for name, size in job.phases()[0].bring[0].scratch.items()
        }
        carried(job, memory)
        copies = len(job.phases()[0].bring[0].copies)
    y = memory["y"].view(np.float16)
    x, z = (numbers[name].astype(float).reshape(-1) for name in "xz")
    where = (task.places[:, None] + np.arange(task.width)).reshape(-1)
    if task.kind == GATHER:
        wanted = x[where]
    else:
        wanted = z.copy() if len(task.inputs) > 1 else np.zeros(task.output.numbers)
        wanted[where] = x[: len(where)]
    np.testing.assert_array_equal(y, wanted)
    if piece == 1 << 20:
        assert copies == naive(job) + 1 + (len(task.inputs) > 1)


def test_large_results_share_one_place_in_local_memory():
    """Results of 1.25 MiB each, which local memory could not hold side by side, share one place."""
    graph = Graph()
    x = graph.tensor("x", 1024, 640)
    order = np.roll(np.arange(1024), 1).tolist()  # a few copies of long rows
    for number in range(2):
        x = graph.gather(x, order, f"y{number}")
    found = macaw.lower_graph(graph)
    assert found.source.count(".skip   1048576") == 1
    given = np.arange(1024 * 640).reshape(1024, 640) % 2048
    measured = found.measure({"x": given})
    np.testing.assert_array_equal(measured.outputs["y1"], np.roll(given, 2, axis=0))
    assert found.cycles == pytest.approx(measured.cycles, rel=0.02)


def test_too_many_copies_are_refused(monkeypatch):
    monkeypatch.setattr(macaw.lowering.fim.host_job, "MOST", 3)
    graph = Graph()
    graph.gather(graph.tensor("x", 9, 2), [0, 5, 1, 7, 2], "y")
    with pytest.raises(LowerError, match="its numbers go by more than 3 copies of the dma"):
        HostJob(graph.tasks[0], 0).phases()
