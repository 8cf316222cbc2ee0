"""The text and the timeline of a plan, compared with texts written by hand."""

from __future__ import annotations

from macaw.isa.config import load
from macaw.lowering.fim.explain import reasons, steps, timeline
from macaw.lowering.fim.graph import Graph
from macaw.lowering.fim.plan import Option, Refusal
from macaw.lowering.fim.schedule import schedule


def plan():
    """A plan with two products side by side, their sum on the host, and a pair."""
    graph = Graph()
    a = graph.tensor("a", 4, 4)
    x, y = graph.product(a, a, "x"), graph.product(a, a, "y")
    both = graph.pointwise("add", x, y, name="both")
    middle = graph.gather(both, [1, 2], name="middle")
    graph.product(middle, a, "last")

    def option(unit, island, *cycles, **more):
        bring, compute, fetch = cycles
        layout = 1 if island is None else island
        return Option(unit, island, layout, bring, compute, fetch, banks=3, **more)

    def ask(unit, _config):
        refusals = Refusal(unit, 2, 3, "island 2 has no fp16, but fp32")
        return {
            "x": [option(unit, 1, 10, 100, 5, reorder=4), option(unit, 2, 10, 140, 5), refusals],
            "y": [option(unit, 1, 10, 100, 5), option(unit, 2, 10, 140, 5)],
            "both": [option(unit, None, 6, 30, 0)],
            "middle": [option(unit, None, 20, 0, 0)],
            "last": [option(unit, 1, 10, 80, 5)],
            "middle last": [option(unit, 1, 12, 70, 5, buffer=8)],
        }.get(" ".join(task.output.name for task in unit), [refusals])

    return schedule(graph, load("base"), ask)


def test_a_timeline():
    """A timeline of 80 characters shows 196 + 87 cycles, 4 cycles in each character, by hand."""
    lines = timeline(plan(), 80)
    assert max(map(len, lines)) <= 80
    rows = {line[:9].strip(): line[9:] for line in lines[1:-1]}
    assert list(rows) == ["dma in", "dma out", "island 1", "island 2", "host"]
    assert len({len(row) for row in rows.values()}) == 1
    each = 4
    assert lines[-1].startswith(f"A character is {each} cycles")
    wide = timeline(plan(), 400)
    assert wide[-1].startswith("A character is a cycle")
    rows = {line[:9].strip(): line[9:] for line in wide[1:-1]}
    assert rows["dma in"][160:166] == "2" * 6  # the host's copies, before it computes
    # The dma brings both inputs in turn; the tasks take 140 and 100 cycles; then both results go.
    assert rows["dma in"].startswith("0" * 10 + "1" * 10 + ".")
    assert rows["dma out"][10:160].strip(".-") == "0" * 5 + "1" * 5
    assert rows["island 2"].strip(".") == "0" * 140
    assert rows["island 1"].startswith("." * 20 + "1" * 100 + ".")
    assert rows["host"].strip(".") == "2" * 36
    assert rows["island 1"].count("3") == 70


def test_a_table_of_steps():
    lines = steps(plan())
    assert lines[0].split() == ["where", "in", "computes", "out", "begin", "end"]
    assert lines[5].split() == ["2", "the", "host", "6", "30", "0", "160", "196"]
    assert lines[6:] == [
        "   both = add(x, y) (4 x 4)",
        lines[7],
        "   middle = gather from both (2 segments of 4)",
        "   last = middle · a (2 x 4 x 4)",
    ]
    assert max(map(len, lines)) < 80


def test_reasons():
    lines = [line.strip() for line in reasons(plan())]
    text = "\n".join(lines)
    assert "not island 2 by tensor: island 2 has no fp16, but fp32" in text
    assert "island 1 by dot: 115 cycles, 10 to bring the inputs in" in text
    assert "(4 since they lie in another order)" in text
    # One of two alike tasks takes the slower island: 40 cycles more alone, sooner in the plan.
    assert "40 cycles more than island 1 by dot would take alone, which would end the plan" in text
    assert "producer and consumer at once, with a buffer of 8 columns" in text
    assert text.count("producer and consumer") == 1
    # Apart: 20 copying, 10 + 80 + 5, against 12 + 70 + 5.
    assert "as steps of their own they would end the plan 28 cycles later" in text
    assert "the host: 6 cycles copying and 30 cycles computing" in text
