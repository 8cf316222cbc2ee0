"""docs/pruning.json, the record of pruned networks, gives the table and the picture of the page."""

import json
import re
from xml.etree import ElementTree

from docs import pruning

TEXT = (pruning.ROOT / "docs" / "networks.md").read_text("utf-8")
ROWS = json.loads(pruning.RECORD.read_text("utf-8"))


def test_the_table_has_the_recorded_cycles() -> None:
    runs = pruning.recorded()
    assert all(run.equal for run in runs)
    speeds = {name: dict(line) for name, line in pruning.speeds(runs).items()}
    names = list(speeds)
    cells = {(run.network, run.zeros): run.cycles for run in runs}
    for zeros in dict.fromkeys(run.zeros for run in runs):
        numbers = (f"{cells[name, zeros]:,} | {speeds[name][zeros]:.2f}" for name in names)
        assert f"| {zeros:.0%} | {' | '.join(numbers)} |" in TEXT


def test_what_the_text_says_of_layers() -> None:
    """The page states the share of pools in SqueezeNet's cycles; `n2` is the name of a pool."""
    found = []
    for zeros in (0.0, 0.9):
        (row,) = (x for x in ROWS if (x["network"], x["zeros"]) == ("squeezenet", zeros))
        cycles = sum(count for name, count, _ in row["layers"] if name in ("n2", "n17", "n32"))
        found.append(f"{cycles / row['cycles']:.0%}")
    text = " ".join(TEXT.split())
    assert f"pools take {found[0]} of its cycles without pruning and {found[1]} at 90%" in text


def test_the_picture_has_a_line_for_each_series() -> None:
    root = ElementTree.fromstring(pruning.picture())
    lines = [x for x in root.iter() if x.tag.endswith("polyline")]
    points = [x.attrib["points"].split() for x in lines]
    networks = dict.fromkeys(run.network for run in pruning.recorded())
    assert len(points) == 2 * (len(networks) + len(pruning.DRAWN) * len(networks))
    shown = [len(x) for x in points if len(x) > 2]
    used = [len(run.used) for run in pruning.recorded() if run.zeros in pruning.DRAWN]
    assert sorted(shown) == sorted([5] * len(networks) + used)
    assert re.findall(r"\w+: share of the PEs' cycles", pruning.picture())
