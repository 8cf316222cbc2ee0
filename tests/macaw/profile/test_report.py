"""The terminal report of profiles made by hand: texts, widths and encodings."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from rich.console import Console

from macaw.profiling import chart, terminal_report
from macaw.profiling.file_names import short_file_names
from macaw.profiling.model import Difference, Group, Metric, Profile, Slice
from tests.macaw.profile.synthetic import ODD, ROWS, by_chance, by_hand, track


def shown(
    profile: Profile,
    width: int = 80,
    *,
    encoding: str = "utf-8",
    colour: bool = False,
    limit: int | None = None,
) -> str:
    data = io.BytesIO()
    stream = io.TextIOWrapper(data, encoding=encoding)
    screen = Console(
        file=stream, width=width, highlight=False, force_terminal=colour, no_color=None
    )
    terminal_report.print_report(profile, screen, layers=False, limit=limit, plain=False)
    stream.flush()
    return data.getvalue().decode(encoding)


def bars(text: str, width: int = 80) -> dict[str, str]:
    """The bar that the report draws for each row, by the row's name."""
    found = {}
    for line in text.splitlines():
        match = re.match(r"[> ] (\w+) ", line)
        if match and match.group(1) in ROWS and line.endswith("%"):
            found[match.group(1)] = line[6 : width - 14]
    return found


@pytest.mark.parametrize("width", [60, 80, 200])
def test_six_rows_at_any_width(width: int) -> None:
    lines = shown(by_hand(), width).splitlines()
    rows = [line for line in lines if re.match(r"[> ] (cp|dma|pe|vc|nnp|fim) .*%$", line)]
    assert [line[2:].split()[0] for line in rows] == list(ROWS)
    assert all(len(line) <= width for line in rows)
    assert all(line == line.rstrip() for line in rows)
    # pe is busy from 240 to 900 of 1,000 cycles.
    bar = bars("\n".join(rows), width)["pe"]
    assert len(bar.rstrip()) == -(-900 * len(bar) // 1000)
    assert len(bar) - len(bar.lstrip()) == 240 * len(bar) // 1000


@pytest.mark.parametrize("seed", range(20))
def test_busy_times_are_those_of_the_profile(seed: int) -> None:
    profile = by_chance(seed)
    text = shown(profile)
    for item in profile.tracks:
        words = [line.split() for line in text.splitlines()]
        (line,) = (w for w in words if w[:1] == [item.core] or w[:2] == [">", item.core])
        assert f"{item.busy_cycles:,}" in line


def test_the_bottleneck_is_marked_and_named() -> None:
    text = shown(by_hand())
    assert re.search(r"^> pe  ", text, flags=re.M)
    assert "bottleneck: pe\n  pe is busy for 660 of 1,000 cycles.\n" in text
    assert "most cycles go to net.s:60: exe ib=0 (pe[1], at most 400 cycles at a time)" in text
    assert "cycles saved without the work of: pe 500, dma 20" in text


def test_metrics_findings_goals_and_the_rest() -> None:
    text = shown(by_hand(), 100)
    line = next(line for line in text.splitlines() if line.startswith("pe[0]  net.s:60"))
    assert line.split()[-5:] == ["240", "400", "0.22", "!", "12.5"]
    narrow = shown(by_hand(), 80)
    assert "12.5" not in narrow  # without a threshold
    assert "0.22 !" in narrow
    assert "partial" not in text  # a metric that no group has
    assert f"1. pe[0] net.s:60: exe {ODD} (400 cycles, 3 times)\n" in text
    assert (
        f"\nfindings: 1\n  1. vc net.s:7: add {ODD}\n"
        "     loads: the operand came from a load (net.s:6: lw)\n"
        "     load earlier: saves an estimated 260 cycles (26.0%)\n\nmissed thresholds: 1\n"
    ) in text
    assert "missed 1,000 cycles, wanted at most 900\n" in text
    assert "met    unit use 0.22" in text
    assert "better 1,200 → 1,000 cycles" in text
    assert "next step (718 of Fig. 7): trace back\n  Look at net.s:60.\n" in text
    assert "the merged total is +0.15% from that" in text.replace("\n  ", " ")


def test_names_are_no_markup_and_no_control_characters() -> None:
    odd = Slice("cp", "cp", 0, 10, 0, 1, "\x1b]0;title\x07[red]x[/red]")
    profile = replace(
        by_hand(), tracks=(track("cp", "cp", [odd]),), bottleneck=None, program="\x1b[31m.s"
    )
    text = shown(profile, colour=True)
    assert "?[31m.s" in text
    assert "\x1b[31m.s" not in text


def test_colours_on_a_terminal_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    coloured = shown(by_hand(), colour=True)
    assert "\x1b[32m" in coloured
    plain = shown(by_hand())
    assert "\x1b" not in plain
    monkeypatch.setenv("NO_COLOR", "1")
    without = shown(by_hand(), colour=True)
    assert not re.search(r"\x1b\[[\d;]*3\dm", without)
    for text in (coloured, without):
        assert re.sub(r"\x1b\[[\d;]*m", "", text) == plain


def test_a_screen_of_ascii_gets_ascii() -> None:
    text = shown(by_hand(), 60, encoding="ascii")
    assert "1,200 -> 1,000" in text
    assert set(bars(text, 60)["pe"]) <= set(" .:-=+*%#")
    assert re.search(r"net\.s:61 \[bold\]\\xe9</script><b>&\"' +500 ", text)


@pytest.mark.parametrize(
    ("busy", "cycles", "columns", "wanted"),
    [
        ([(0, 10)], 10, 5, [1, 1, 1, 1, 1]),
        ([(0, 1), (3, 4)], 10, 5, [0.5, 0.5, 0, 0, 0]),
        ([(1, 5)], 10, 5, [0.5, 1, 0.5, 0, 0]),
        ([(9, 10)], 10, 3, [0, 0, 0.3]),
        ([(0, 1)], 2, 4, [1, 1, 0, 0]),
        ([], 10, 2, [0, 0]),
        ([(5, 20)], 10, 2, [0, 1]),
        ([(0, 1)], 0, 2, [0, 0]),
    ],
)
def test_shares(
    busy: list[tuple[int, int]], cycles: int, columns: int, wanted: list[float]
) -> None:
    assert chart.column_shares(busy, cycles, columns) == pytest.approx(wanted)


def test_a_bar_is_blank_only_where_nothing_was_busy() -> None:
    assert chart.bar_text([0, 1e-6, 0.5, 1 - 1e-3, 1], ascii_only=False) == " ▁▄▇█"
    assert chart.bar_text([0, 1e-6, 1], ascii_only=True) == " .#"


def test_axis_labels_begin_in_the_columns_of_their_cycles() -> None:
    text = chart.axis_text(1000, 100)
    for label in text.split():
        assert text.split(label, 1)[0] == text[: int(label) * 100 // 1000] or label == "0"
    assert text.split() == ["0", "100", "200", "300", "400", "500", "600", "700", "800", "900"]


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_places_are_whole_at_any_width(width: int) -> None:
    """At any width of the report, the file name and line of each finding are complete (F36).

    If a row of the report is too long, the text of the instruction is cut.
    """
    slices = [
        Slice(
            "dma", "dma", n, n + 90, n, 1, "transfer 1, 128 bytes", f"a_long_name_of_a.s:{1600 + n}"
        )
        for n in range(9)
    ]
    groups = tuple(Group(item, (Metric("blocked", 0.5, 0.1, False),)) for item in slices)
    made = replace(by_hand(), tracks=(track("dma", "dma", slices),), groups=groups)
    text = shown(made, width)
    for n in range(9):
        assert len(re.findall(rf"^dma +a_long_name_of_a\.s:{1600 + n}\b", text, flags=re.M)) == 1
    assert ("transfer 1, 128 bytes" in text) == (width >= 80)


def with_names(names: list[str], place: str = "a.s:16") -> Profile:
    """A profile with one record for each of the names, all at one place in the source."""
    slices = [Slice("dma", "dma", n, n + 90, n, 1, name, place) for n, name in enumerate(names)]
    groups = tuple(Group(item, (Metric("blocked", 0.5, 0.1, False),)) for item in slices)
    return replace(by_hand(), tracks=(track("dma", "dma", slices),), groups=groups)


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@pytest.mark.parametrize("width", [40, 50, 60, 80])
def test_names_that_begin_alike_stay_different(width: int, encoding: str) -> None:
    """Names that begin alike stay different when they are cut (F36).

    These are transfers 1, 10 and 101 of one line, and statements that differ at their ends.
    """
    ends = [f"exe ib=0, last, data=(images[0], images[1], w[{n}])" for n in (1, 10, 11)]
    names = [f"transfer {n}, 32 bytes" for n in (1, 10, 100, 101)]
    text = shown(with_names([*names, *ends]), width, encoding=encoding)
    lines = [line for line in text.splitlines() if re.match(r"dma +a\.s:16", line)]
    cells = [re.sub(r"^dma +| +\d+ +90 .*$", "", line) for line in lines]
    assert len(cells) == len(set(cells)) == 7
    words = [cell.replace("…", " ").replace("...", " ").split() for cell in cells]
    assert [re.sub(r"\D", "", found[-1]) for found in words[-3:]] == ["1", "10", "11"]
    assert any("101" in found for found in words[3])


@pytest.mark.parametrize(
    ("limit", "records", "findings"), [(None, 12, 8), (0, 0, 0), (3, 3, 3), (99, 20, 10)]
)
def test_a_limit_of_records_and_findings(limit: int | None, records: int, findings: int) -> None:
    made = with_names([f"transfer {n}" for n in range(20)])
    (first,), (cause,) = by_hand().missed_thresholds, by_hand().findings
    made = replace(
        made,
        missed_thresholds=tuple(replace(first, where=f"net.s:{n}") for n in range(10)),
        findings=tuple(replace(cause, where=f"net.s:{n}") for n in range(10)),
    )
    text = shown(made, limit=limit)
    assert len(re.findall(r"^dma +a\.s:16", text, flags=re.M)) == records
    for core in ("pe\\[0\\]", "vc"):
        assert len(re.findall(rf"^ +\d+\. {core} net\.s:\d", text, flags=re.M)) == findings
    assert (f"{20 - records} more records not shown" in text) == (records < 20)
    for word in ("findings", "missed thresholds"):
        assert (f"{10 - findings} more {word} not shown" in text) == (findings < 10)


def test_file_names_are_as_long_as_they_must_be() -> None:
    files = ("/x/a/layer.s", "/x/b/layer.s", "/y/b/layer.s", "net.s", "", "layer.s")
    assert dict(short_file_names(files)) == {
        "/x/a/layer.s": "a/layer.s",
        "/x/b/layer.s": "x/b/layer.s",
        "/y/b/layer.s": "y/b/layer.s",
        "net.s": "net.s",
        "": "",
        "layer.s": "layer.s",
    }


def test_other_places_and_all_that_were_waited_for() -> None:
    (missed,), (finding,) = by_hand().missed_thresholds, by_hand().findings
    others = tuple(f"net.s:{n}: exe" for n in range(5))
    text = " ".join(
        shown(replace(by_hand(), missed_thresholds=(replace(missed, others=others),))).split()
    )
    assert "the same at 5 places more: net.s:0: exe, net.s:1: exe, net.s:2: exe, ..." in text
    made = replace(by_hand(), findings=(replace(finding, others=others[:1], whom=others),))
    text = " ".join(shown(made).split())
    assert "from a load (net.s:0: exe, net.s:1: exe, net.s:2: exe, ...) load earlier" in text
    assert "(26.0%) the same at 1 place more: net.s:0: exe missed" in text


def test_what_is_not_judged_is_a_note() -> None:
    items = (
        Difference("work of pe", 2, 1, None, "work of pe: 2 before, 1 now (-50.0%)"),
        Difference("cycles", 1, 1, None, "cycles: 1 before, 1 now (+0.0%), as before"),
    )
    text = shown(replace(by_hand(), differences=items))
    assert "  note   work of pe: 2 before" in text
    assert "  same   cycles: 1 before" in text


def test_the_busiest_of_many_cores() -> None:
    """Of many cores the report shows the busiest; of equally busy cores it omits the first."""
    busy = [n * 7 % 41 // 2 for n in range(41)]
    least = sorted(range(41), key=lambda n: (busy[n], n))[:9]
    assert busy[least[-1]] in [cycles for n, cycles in enumerate(busy) if n not in least]
    cores = [
        track(f"pe[{n}]", "pe", [Slice(f"pe[{n}]", "pe", 0, busy[n], n, 1, "exe")])
        for n in range(41)
    ]
    row = track("pe", "pe", [item for core in cores for item in core.slices])
    lines = shown(replace(by_hand(), tracks=(row, *cores))).splitlines()
    named = [line.split()[:2] for line in lines if re.match(r"pe\[\d+\] .*%", line)]
    wanted = [[f"pe[{n}]", str(busy[n])] for n in range(41) if n not in least]
    assert named == wanted
    assert "9 more cores not shown" in lines


def test_an_interval_outside_of_the_run_hides_no_later_one() -> None:
    assert chart.column_shares([(-5, 0), (2, 4), (9, 30), (40, 50)], 10, 5) == [0, 1, 0, 0, 0.5]
