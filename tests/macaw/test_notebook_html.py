"""HTML of runs, programs, profiles and devices: contents, escaping, size, colours, short reprs."""

import random
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import macaw
from macaw.emu.pe.state import shape_of
from macaw.isa import config
from macaw.notebook import displays, heat, markup
from macaw.notebook.markup import CHART_COLUMNS, column_maxima
from macaw.profiling.model import Finding
from macaw.profiling.profiler import ProfileOptions
from tests.macaw.conftest import LAYER
from tests.macaw.html_pages import Page, refers_to_nothing

pytestmark = pytest.mark.once

MOST_BYTES = 200_000
HOSTILE = "<img src=x onerror=alert(1)>\"'&</pre></table><script>\x1b[2J\u202e"
EXIT = "li a7, 93\nli a0, 0\necall\n"
PRINTING = f"""
        .device tiny
        .input x, int8, 4
        .output y, int8, 4
        .core cp
        li a7, 64
        li a0, 1
        la a1, text
        li a2, 9
        ecall
        {EXIT}
        .section .data.cp
text:   .ascii "<b>hi</b>"
"""


@pytest.fixture(scope="module")
def program() -> macaw.Program:
    return macaw.load(LAYER / "layer.s")


@pytest.fixture(scope="module")
def run(program: macaw.Program) -> macaw.Run:
    return macaw.run(program, x=np.load(LAYER / "x.npy"))


@pytest.fixture(scope="module")
def profile(program: macaw.Program) -> macaw.Profile:
    return macaw.profile(program, x=np.load(LAYER / "x.npy"))


def page_of(item: Any) -> Page:
    html = item._repr_html_()
    assert len(html.encode()) < MOST_BYTES
    page = Page.of(html)
    assert refers_to_nothing(page)
    return page


def test_a_program(program: macaw.Program) -> None:
    page = page_of(program)
    tensors, sections, symbols = page.tables
    assert (
        page.texts[0]
        == f"Program layer.s for tiny: {sum(s.size for s in program.sections):,} bytes"
    )
    assert tensors[0] == ["name", "direction", "type", "shape", "bytes", "address", "memory"]
    x, y = program.tensors
    assert tensors[1:] == [
        ["x", "input", "int8", "64", "64", f"{x.address:#010x}", "external"],
        ["y", "output", "int32", "8", "32", f"{y.address:#010x}", "external"],
    ]
    assert [row[0] for row in sections[1:]] == [item.name for item in program.sections]
    assert len(symbols) == 1 + len(program.symbols)
    assert repr(program) == (
        f"<program layer.s for tiny: {sum(s.size for s in program.sections):,} bytes,"
        " input x int8 64, output y int32 8>"
    )


def test_a_program_with_a_warning() -> None:
    program = macaw.assemble(macaw.Source(f'.core cp\n.warning "careful"\n{EXIT}', "w.s"))
    assert len(program.warnings) == 1
    assert "1 warning" in page_of(program).text
    assert "w.s:2:1: warning: careful" in page_of(program).text


def test_a_run(run: macaw.Run) -> None:
    page = page_of(run)
    assert page.texts[0] == f"Run on tiny: {run.cycles} cycles, exit code 0"
    y = run.outputs["y"]
    assert page.tables[0][1] == [
        "y", "int32", "8", str(y.min()), str(y.max()), f"{y.mean():.4g}",
        f"{' '.join(map(str, y[:6]))} …",
    ]  # fmt: skip
    assert repr(run) == f"<run: {run.cycles} cycles, exit code 0; y int32 8>"
    counters = {row[0]: row for table in page.tables[1:] for row in table}
    assert counters["macs"][-3] == f"{run.counters['pe[0]']['macs']:,}"
    assert counters["macs"][-2] == "products"


def test_a_heat_map_has_the_counter_of_each_unit(run: macaw.Run) -> None:
    """The sum over a heat map is the counter of the row, which the device adds up itself."""
    (units,) = heat.unit_counts(run.device)
    row = shape_of(run.device.config, 0)
    assert units.values.shape == (2, row.clusters * row.pes)
    assert units.counter.name == "cycles_mac"
    assert units.values.sum() == sum(run.counters[core]["cycles_mac"] for core in units.cores)
    page = page_of(run)
    titles = [title for title in page.titles if title.startswith("pe[")]
    state = run.device.cores["pe[0]"].state
    for cluster in range(row.clusters):
        for pe in range(row.pes):
            assert f"pe[0,{cluster}].{pe}: {state.cycles_mac[cluster, pe]}" in titles
    assert len(titles) == units.values.size
    assert f"greatest {units.values.max()} (pe[0,1].3)" in page.text


def test_a_batch_and_texts() -> None:
    run = macaw.run(macaw.assemble(macaw.Source(PRINTING)), x=np.zeros((3, 4), np.int8))
    page = page_of(run)
    assert repr(run).startswith("<run of 3 items: ")
    assert page.texts[0].startswith("Run of 3 items on tiny: ")
    assert "<b>hi</b><b>hi</b><b>hi</b>" in page.text
    assert "Nothing was written to the output 'y'." in page.text
    many = page_of(replace(run, unwritten=tuple("abcdefgh")))
    assert many.text.count("Nothing was written to the output") == 6


def test_a_device(program: macaw.Program) -> None:
    device = macaw.Device(macaw.configuration("tiny"))
    assert repr(device) == "<device tiny: no program>"
    assert page_of(device).texts[0] == "Device tiny, fast engine: no program"
    device.load(program)
    device.write_tensor("x", np.load(LAYER / "x.npy"))
    device.run(until=155)
    assert repr(device) == "<device tiny: cycle 155>"
    page = page_of(device)
    cores, queues = page.tables[:2]
    assert {row[0] for row in cores[1:]} >= {"cp", "pe[0]"}
    assert all(re.match("waits for |runs$|idle$", row[1]) for row in cores[1:])
    state = device.cores["pe[0]"].state
    rows = {row[0]: row for row in queues[1:]}
    assert rows["pe[0].weights"][2] == f"{state.weight_count.sum():,}"
    assert rows["pe[0].q1"][3] == str(8 * config.load("tiny")["pe.load_queue_1"])
    assert "pe[0].q1: " not in page.text
    shown: Any = device  # `macaw.notebook` gives the class this method when it is imported
    charts = {
        queue: path.count("H")
        for queue, path in re.findall(
            r'<title>(\w+) of pe\[0\]: [^<]*</title>.*?<path d="([^"]*)"', shown._repr_html_()
        )
    }
    assert charts["weights"] == 8  # a step for each PE
    assert charts["input"] == 1  # the contents of `input` have another shape than the PEs
    device.run(until=170)
    _, queues, *_ = page_of(device).tables
    # The queues between these two are empty; the layer has 8 outputs.
    assert [row[0] for row in queues[1:]] == ["pe[0].input", "pe[0].output"]
    assert queues[-1][2] == "8"
    device.run()
    assert repr(device) == f"<device tiny: cycle {device.cycle}, exit with code 0>"
    differing = {row[0] for row in page.tables[-1][1:]}
    assert "pe.rows" in differing
    html = shown._repr_html_()
    assert '<th>setting</th><th class="number">value</th><th class="number">default</th>' in html


def test_a_session(program: macaw.Program) -> None:
    session = macaw.debug(program, x=np.load(LAYER / "x.npy"))
    assert repr(session) == "<session of layer.s: cycle 0, start, cp at <default cp>:16>"
    assert page_of(session).texts[0] == "Session of layer.s on tiny: start at cycle 0"
    session.break_("layer.s:16", "cp.x0 == 0")
    session.cont()
    cycle = session.device.cycle
    assert repr(session) == f"<session of layer.s: cycle {cycle}, breakpoint, pe[0] at layer.s:16>"
    page = page_of(session)
    assert page.tables[0][1] == ["1", "break", "layer.s:16", "cp.x0 == 0", "1", "yes"]
    assert "breakpoint at cycle" in page.texts[0]
    levels = []
    for moment in range(150, 166, 2):
        session.goto(moment)
        session.checkpoint()
        levels.append(int(session.read("pe[0].q1.level")))
    assert len(set(levels)) > 3
    html = session._repr_html_()  # type: ignore[attr-defined]
    page = page_of(session)
    queues = next(table for table in page.tables if table[0][1] == "level at checkpoints")
    rows = {row[0]: row for row in queues[1:]}
    assert rows["pe[0].q1"][2:] == [str(levels[-1]), "64"]
    assert f"pe[0].q1: at most {max(levels)}" in page.titles
    shown = html.split(f"<title>pe[0].q1: at most {max(levels)}</title>")[1].split("<path", 1)[1]
    steps = [float(level) for level in re.findall(r"V([\d.]+)H", shown.split("</svg>", 1)[0])]
    heights = [(markup.CHART_HEIGHT - step) / (markup.CHART_HEIGHT - 1) for step in steps]
    wanted = [0.0, *(level / max(levels) for level in levels)]
    assert all(min(abs(height - each) for each in wanted) < 0.01 for height in heights)
    assert (max(heights), heights[0]) == (1.0, 0.0)
    session.cont()
    assert "exit with code 0" in page_of(session).texts[0]


def test_a_session_with_output(tmp_path: Path) -> None:
    (tmp_path / "p.s").write_text(PRINTING)
    session = macaw.debug(tmp_path / "p.s", x=np.zeros(4, np.int8))
    session.cont()
    page = page_of(session)
    assert "<b>hi</b>" in page.text
    assert "Breakpoints" not in page.text


def test_a_profile(profile: macaw.Profile) -> None:
    page = page_of(profile)
    timeline, missed, series = page.tables
    assert page.texts[0] == f"Profile of layer.s on tiny: {profile.cycles} cycles"
    assert [row[0] for row in timeline[1:]] == [track.core for track in profile.rows]
    assert [row[2] for row in timeline[1:]] == [f"{t.busy_cycles:,}" for t in profile.rows]
    assert not profile.findings
    assert len(missed) == 1 + len(profile.missed_thresholds)
    found = Finding("vc", "loads", "a.s:1: lw", 1234, 9, "load earlier", ("a.s:0: nop",))
    _, findings, *_ = page_of(replace(profile, findings=(found,))).tables
    cause = "loads: the operand came from a load (a.s:0: nop)"
    assert findings[1] == ["vc", "a.s:1: lw", cause, "load earlier", "1,234"]
    assert [row[0] for row in series[1:]] == [item.name for item in profile.series]
    assert profile.bottleneck is not None
    assert profile.bottleneck.why in page.text
    assert repr(profile) == (
        f"<profile of layer.s on tiny: {profile.cycles} cycles,"
        f" bottleneck {profile.bottleneck.core}, {len(profile.findings)} findings>"
    )


def test_all_of_a_profile_is_shown(profile: macaw.Profile) -> None:
    options = ProfileOptions(
        segments=2, jitter=3, goals={"cycles": 10}, guide=True, against=profile, against_name="old"
    )
    full = macaw.profile(LAYER / "layer.s", {"x": np.load(LAYER / "x.npy")}, options)
    page = page_of(full)
    assert full.merge
    assert full.step
    assert full.goals
    assert full.differences
    assert "missed" in page.text
    assert full.step.title in page.text
    assert "since old" in page.text
    assert "on average; the merged" in page.text


def test_a_chart_of_a_series_keeps_peaks() -> None:
    """A chart of a series shows each peak, compared with a list of a value for each cycle."""
    rng = random.Random(3)
    for _ in range(50):
        cycles = rng.randrange(1, 400)
        begins = sorted({0, *(rng.randrange(cycles) for _ in range(rng.randrange(9)))})
        points = [(begin, float(rng.randrange(9))) for begin in begins]
        each = [0.0] * cycles
        for begin, value in points:
            each[begin:] = [value] * (cycles - begin)
        columns = rng.randrange(1, 60)
        wanted = [
            max(each[at * cycles // columns : max(-(-(at + 1) * cycles // columns), at * cycles // columns + 1)])
            for at in range(columns)
        ]  # fmt: skip
        assert column_maxima(points, cycles, columns) == wanted
    assert column_maxima([], 10, 3) == [0.0] * 3
    assert column_maxima([(0, 1.0)], 0, 2) == [0.0] * 2
    assert column_maxima([(0, 2.0)], 1, 2) == [2.0] * 2
    points = [(0, 1.0), (5, 9.0), (5, 2.0), (8, 3.0)]  # the second lasts 0 cycles
    assert column_maxima(points, 10, 10) == [1.0] * 5 + [2.0] * 3 + [3.0] * 2


def test_a_step_chart_has_a_step_for_each_value() -> None:
    svg = markup.step_chart([0, 5, 10, 20], 10, title="").html
    levels = re.findall(r"V([\d.]+)H", svg)
    top = markup.CHART_HEIGHT
    assert [float(level) for level in levels] == pytest.approx([top, top - (top - 1) / 2, 1, 1])
    assert "<path" in markup.step_chart([], 0, title="").html


def test_a_map_of_many_units_has_means() -> None:
    counter = heat.unit_counts(macaw.Device(macaw.configuration("tiny")))[0].counter
    values = np.arange(100 * 50).reshape(100, 50)
    cores = tuple(f"pe[{row}]" for row in range(100))
    page = Page.of(heat.heat_map(heat.UnitCounts(counter, cores, (5, 10), values)).html)
    # 100 × 50 units are 50 × 50, then 25 × 50 and 25 × 25 cells.
    assert len(page.titles) == 25 * 25
    assert page.titles[0] == f"pe[0,0].0: {values[:4, :2].mean():,.1f}"
    assert page.titles[-1] == f"pe[96,4].8: {values[96:, 48:].mean():,.1f}"
    assert "a cell is the mean of 4 × 2 units" in page.text
    odd = Page.of(heat.heat_map(heat.UnitCounts(counter, ("pe[0]",), (1, 2049), values.reshape(1, -1)[:, :2049])).html)  # fmt: skip
    assert odd.titles[-1] == "pe[0,0].2048: 2,048"
    small = heat.UnitCounts(counter, cores[:2], (5, 10), values[:2])
    assert "a cell is the mean" not in Page.of(heat.heat_map(small).html).text


@pytest.mark.parametrize("most", [1, 8, 2**40])
def test_the_strongest_colour_is_that_of_the_greatest_mean(most: int) -> None:
    """The cell with the greatest mean has the strongest colour, even if this mean is below 1."""
    counter = heat.unit_counts(macaw.Device(macaw.configuration("tiny")))[0].counter
    values = np.zeros((100, 50), int)
    values[0, 0], values[99, 49] = most, most // 2
    cores = tuple(f"pe[{row}]" for row in range(100))
    html = heat.heat_map(heat.UnitCounts(counter, cores, (5, 10), values)).html
    opacities = [float(x) for x in re.findall(r'fill-opacity="([\d.]+)"', html)]
    low = heat.LEAST_OPACITY
    last = low + (1 - low) * (most // 2 / most)
    assert opacities == pytest.approx([1, *[low] * (25 * 25 - 2), last], abs=0.006)


def test_a_device_of_4096_pes(program: macaw.Program) -> None:
    values = {**config.load("tiny"), "pe.rows": 16, "pe.clusters": 4, "pe.pes": 64}
    device = config.Configuration("wide", values)
    run = macaw.run(program, x=np.load(LAYER / "x.npy"), device=device)
    (units,) = heat.unit_counts(run.device)
    assert units.values.shape == (16, 256)
    for item in (run, run.device):
        titles = [title for title in page_of(item).titles if title.startswith("pe[")]
        assert len(titles) == heat.MOST_CELLS


def test_long_lists_are_cut(program: macaw.Program, profile: macaw.Profile) -> None:
    labels = "".join(f"label{index}: nop\n" for index in range(3000))
    page = page_of(macaw.assemble(macaw.Source(f".core cp\n{labels}{EXIT}")))
    assert "and 2,9" in page.text
    many = replace(
        profile,
        missed_thresholds=profile.missed_thresholds * 500,
        series=tuple(
            replace(profile.series[0], points=tuple((at, float(at % 7)) for at in range(5000)))
            for _ in range(200)
        ),
    )
    assert f"and {len(many.missed_thresholds) - markup.MOST_ROWS:,} more" in page_of(many).text
    assert CHART_COLUMNS <= 200
    long = markup.output("Output", "a" * 10 + "b" * markup.MOST_OUTPUT)
    assert "(without the first 10 characters)" in long.html
    assert f"<pre>{'b' * markup.MOST_OUTPUT}</pre>" in long.html


def hostile_program(program: macaw.Program) -> macaw.Program:
    return replace(
        program,
        device=HOSTILE,
        source_files=(HOSTILE,),
        symbols=tuple(item._replace(name=HOSTILE, section=HOSTILE) for item in program.symbols),
        sections=tuple(replace(item, name=HOSTILE, core=HOSTILE) for item in program.sections),
        tensors=tuple(replace(item, name=HOSTILE, at=HOSTILE) for item in program.tensors),
    )


def hostile_run(run: macaw.Run) -> macaw.Run:
    outputs = {HOSTILE: run.outputs["y"]}
    return replace(run, outputs=outputs, stdout=HOSTILE, stderr=HOSTILE, unwritten=(HOSTILE,))


def hostile_profile(profile: macaw.Profile) -> macaw.Profile:
    assert profile.bottleneck is not None
    return replace(
        profile,
        program=HOSTILE,
        device=HOSTILE,
        tracks=tuple(replace(item, core=HOSTILE, row=HOSTILE) for item in profile.tracks),
        missed_thresholds=tuple(replace(item, core=HOSTILE, where=HOSTILE, sentence=HOSTILE) for item in profile.missed_thresholds),
        series=tuple(replace(item, name=HOSTILE, unit=HOSTILE) for item in profile.series),
        bottleneck=replace(profile.bottleneck, core=HOSTILE, why=HOSTILE),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "spoil"),
    [("program", hostile_program), ("run", hostile_run), ("profile", hostile_profile)],
)
def test_names_are_texts(
    name: str, spoil: Callable[[Any], Any], request: pytest.FixtureRequest
) -> None:
    """Names of symbols, files and devices are escaped, whatever they contain."""
    item = request.getfixturevalue(name)
    hostile = spoil(item)
    html = hostile._repr_html_()
    page = page_of(hostile)
    assert {tag for tag, _ in page.tags} == {tag for tag, _ in page_of(item).tags} | {
        "p",
        "b",
        "pre",
    } & {tag for tag, _ in page.tags}
    assert "<img src=x onerror=alert(1)>" in page.text
    assert "\x1b" not in html
    assert "\u202e" not in html
    assert "\n" not in repr(hostile)
    if name != "run":  # of which only names of outputs, identifiers, are in the text
        assert "\x1b" not in repr(replace(hostile, **({"device": ""} if name == "program" else {})))


def luminance(colour: str) -> float:
    """The relative luminance of a colour by WCAG 2."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def test_colours_do_for_light_and_dark_pages(run: macaw.Run, profile: macaw.Profile) -> None:
    """Colours suit light and dark pages.

    Text has the page's colour; drawings differ from white and from near black by 3:1 (WCAG).
    """
    assert set(re.findall(r"(?<![-\w])color: *([^;}]+)", markup.STYLE)) == {"inherit"}
    html = run._repr_html_() + profile._repr_html_()  # type: ignore[attr-defined]
    drawn = set(re.findall(r"#[0-9a-f]{6}\b", html))
    assert drawn
    for colour in drawn:
        for page in ("#ffffff", "#111111", "#1e1e1e"):
            low, high = sorted((luminance(colour), luminance(page)))
            assert (high + 0.05) / (low + 0.05) >= 3, (colour, page)


def test_an_annotation(program: macaw.Program) -> None:
    made = macaw.annotate(program, x=np.load(LAYER / "x.npy"))
    page = page_of(made)
    assert f"Annotation of {made.program}, {made.cycles:,} cycles" in page.text
    costly = sorted(
        (x for x in made.lines if x.place.startswith("layer.s:")), key=lambda line: -line.run
    )
    shown = re.findall(r"\blayer\.s:\d+", page.text)
    assert [line.place for line in costly[:3]] == shown[:3]
    assert all(f"{line.run:,}" in page.text for line in costly[:3])


def test_a_sweep() -> None:
    """A sweep shows the point with fewest cycles first, and refused points with their reasons."""
    made = macaw.sweep(
        LAYER / "layer.s",
        settings={"dist.bus_bytes": [4, 32], "dma.width": [16, 0]},
        inputs={"x": LAYER / "x.npy"},
    )
    page = page_of(made)
    assert f"Sweep of {made.subject}, 4 points" in page.text
    cycles = sorted(made.column("cycles"))
    places = [page.text.index(f"{value:,}") for value in cycles]
    assert places == sorted(places)
    assert "1.00" in page.text
    refused = next(row for row in made.outcomes if row.refused)
    assert refused.point.name in page.text
    assert refused.refused[:40] in page.text


def test_other_objects_have_no_html() -> None:
    assert displays.html(macaw.configuration("tiny")) is None
    assert not hasattr(macaw.Source("x"), "_repr_html_")
