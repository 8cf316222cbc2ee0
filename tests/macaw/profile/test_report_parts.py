"""Parts of a profile's reports by hand: names in columns, levels, lines, layers, phrases."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import macaw
from macaw.asm.network import ProgramLayer, ProgramNetwork
from macaw.profiling import phrases
from macaw.profiling.distinct_names import distinct_names
from macaw.profiling.layer_spans import layer_spans, with_layers
from macaw.profiling.model import Difference, Group, Merge, Metric, Slice, Track
from macaw.profiling.page_lines import line_totals, source_texts
from macaw.profiling.screen_text import printable_text
from macaw.profiling.slice_levels import stack_slices
from tests.macaw.profile.synthetic import by_hand


def item(begin: int, end: int, **more: Any) -> Slice:
    return Slice("cp", "cp", begin, end, more.pop("first", 0), more.pop("instructions", 1), **more)


# Names


@pytest.mark.parametrize(
    ("names", "kept", "width", "texts", "leasts"),
    [
        # names that fit, and names that differ in what the column shows
        (["abc", "abd"], [0, 0], 3, ["abc", "abd"], [0, 0]),
        (["abcdef", "xbcdef"], [0, 0], 4, ["abcdef", "xbcdef"], [0, 0]),
        # two that would look the same: the mark is in place of what they share
        (["one two three a", "one two three b"], [0, 0], 8, ["one tw~a", "one tw~b"], [8, 8]),
        (["one two three a", "one two three b"], [7, 7], 8, ["one two~a", "one two~b"], [9, 9]),
        # equal names are one name
        (["one two a", "one two a"], [0, 0], 5, ["one two a", "one two a"], [0, 0]),
        # the word that differs does not fit: it is shown whole
        (["a bcdefgh1", "a bcdefgh2"], [0, 0], 5, ["~bcdefgh1", "~bcdefgh2"], [9, 9]),
    ],
)  # fmt: skip
def test_names_that_would_look_the_same(
    names: list[str], kept: list[int], width: int, texts: list[str], leasts: list[int]
) -> None:
    assert distinct_names(names, kept, width, "~") == (texts, leasts)


def test_different_names_have_different_texts() -> None:
    rng = random.Random(3)
    for _ in range(300):
        words = ["x", "yz", "net.s:10", "exe", "exf"]
        names = [" ".join(rng.choices(words, k=rng.randint(1, 5))) for _ in range(5)]
        kept = [rng.randint(0, min(4, len(name))) for name in names]
        width = rng.randint(4, 16)
        texts, leasts = distinct_names(names, kept, width, "~")
        shown: dict[str, set[str]] = {}
        for name, text, least, first in zip(names, texts, leasts, kept, strict=True):
            assert text.startswith(name[:first])
            assert text == name or "~" in text or name.startswith(text)
            cut = text if len(text) <= width else text[: max(least, width - 1)]
            shown.setdefault(cut, set()).add(name)
        assert all(len(group) == 1 for group in shown.values())


# Slices, lines and layers


def test_slices_are_stacked_in_as_few_levels_as_possible() -> None:
    """One that begins where another ends is on its level; the number is the greatest overlap."""
    a, b, c, d = item(0, 10), item(10, 20), item(5, 12), item(5, 11, first=1)
    assert stack_slices([d, c, b, a]) == [[a, b], [d], [c]]
    rng = random.Random(1)
    for _ in range(50):
        slices = [item(at, at + rng.randint(1, 9)) for at in rng.choices(range(30), k=12)]
        levels = stack_slices(slices)
        assert sorted(map(id, itertools.chain(*levels))) == sorted(map(id, slices))
        overlap = max(sum(x.begin <= at < x.end for x in slices) for at in range(40))
        assert len(levels) == overlap
        for level in levels:
            assert all(x.end <= y.begin for x, y in itertools.pairwise(level))


def test_cycles_of_lines_are_added_up_over_cores() -> None:
    def line(place: str, run: int, **causes: int) -> Any:
        return SimpleNamespace(place=place, run=run, causes=causes)

    accounts: Any = [
        SimpleNamespace(lines=[line("a.s:1", 5, work=3, wait=9), line("", 7, idle=7)]),
        SimpleNamespace(lines=[line("a.s:2", 0, work=1), line("a.s:1", 2, work=4)]),
    ]
    found = line_totals(accounts)
    assert found == [("a.s:1", 7, 16, {"wait": 9, "work": 7}), ("a.s:2", 0, 1, {"work": 1})]
    assert list(found[0][3]) == ["wait", "work"]  # the greatest first


@pytest.mark.parametrize("gone", ["a.inc", "b.s"])
def test_source_files_that_can_be_read_have_texts(tmp_path: Path, gone: str) -> None:
    """Of a program's two files one is deleted; the text of the other is found all the same."""
    texts = {"a.inc": "nop\n", "b.s": '.core cp\n.include "a.inc"\nebreak\n'}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    program = macaw.load(tmp_path / "b.s")
    found = source_texts(program)
    assert {name: found[name] for name in texts} == texts
    (tmp_path / gone).unlink()
    assert source_texts(program) == {name: text for name, text in found.items() if name != gone}


def network(*names: str) -> ProgramNetwork:
    layers = tuple(
        ProgramLayer(name, name, "Conv", "pe", (), name, 10 * at, at)
        for at, name in enumerate(names, 1)
    )
    return ProgramNetwork("net", layers, {}, "end")


def test_layers_that_have_begun_and_ended() -> None:
    """A layer without its own begin, or without that of the next one, was not executed."""
    busy = ((0, 15), (18, 40), (60, 70))
    tracks = [Track("cp", "cp", (), busy), Track("pe[0]", "pe", (), busy)]
    spans = layer_spans(network("a", "b", "c", "d"), {0: 10, 1: 20, 2: 20, 4: 90}, tracks)
    assert [(x.name, x.begin, x.end, x.cycles, x.predicted, x.bound) for x in spans] == [
        ("a", 10, 20, 10, 10, 1), ("b", 20, 20, 0, 20, 2)
    ]  # fmt: skip
    # of [10, 20), cp works in [10, 15) and [18, 20); a row of several cores is not listed
    assert [x.busy for x in spans] == [{"cp": 7}, {"cp": 0}]
    late = layer_spans(network("a", "b", "c"), {1: 20, 2: 30, 3: 45}, tracks)
    assert [(x.name, x.begin, x.end) for x in late] == [("b", 20, 30), ("c", 30, 45)]
    assert layer_spans(None, {0: 1, 1: 2}, tracks) == ()


def test_a_slice_is_of_the_layer_in_which_it_began() -> None:
    spans = layer_spans(network("a", "b"), {0: 10, 1: 20, 2: 30}, [])
    spans = (spans[0], replace(spans[1], begin=22))
    slices = tuple(item(begin, begin + 100) for begin in (9, 10, 19, 20, 21, 22, 29, 30))
    (track,) = with_layers([Track("cp", "cp", slices)], spans)
    assert [x.layer for x in track.slices] == ["", "a", "a", "", "", "b", "b", ""]
    assert with_layers([Track("cp", "cp", slices)], []) == (Track("cp", "cp", slices),)


# Phrases


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (0.0, "0"), (3.5, "3.5"), (0.12345, "0.123"), (999.4, "999"), (1000.4, "1,000"),
     (-1000.6, "-1,001"), (1234.0, "1,234"), (-7.0, "-7")],
)  # fmt: skip
def test_numbers_of_metrics(value: float | None, text: str) -> None:
    assert phrases.number_text(value) == text


def test_shares_and_runs() -> None:
    assert (phrases.share_text(1, 3), phrases.share_text(1, 0)) == ("33.3%", "")
    profile = replace(
        by_hand(), device="tiny", cycles=1, runs=(1,), jitter=None, exit_code=0, merge=None
    )
    assert phrases.run_summary(profile) == "on tiny: 1 cycle"
    merged = replace(profile, cycles=9, runs=(7, 8), merge=Merge(9, 7.5, 0.2, (7, 8), 7))
    assert phrases.run_summary(merged) == "on tiny: 9 cycles"  # that is no mean of the runs
    profile = replace(profile, cycles=1500, runs=(2000, 1000), jitter=0, exit_code=2)
    assert phrases.run_summary(profile) == (
        "on tiny: 1,500 cycles, the mean of 2 runs of 1,000 to 2,000, jitter from seed 0; "
        "the program failed with exit code 2"
    )


def test_a_difference_is_better_worse_the_same_or_a_note() -> None:
    def verdict(better: bool | None, sentence: str) -> str:
        fields: Any = SimpleNamespace(better=better, sentence=sentence)
        return phrases.verdict(fields)

    found = [verdict(True, ""), verdict(False, "as before"), verdict(None, "x: as before"),
             verdict(None, "no difference"), verdict(None, "as before, but")]  # fmt: skip
    assert found == ["better", "worse", "same", "same", "note"]
    assert "better" in Difference.__dataclass_fields__


def test_the_longest_group_of_each_instruction() -> None:
    """The longest without its waits; equal ones in the order given."""
    rows = [
        item(0, 50, name="a", waited=45), item(60, 70, name="a"), item(80, 88, name="b"),
        item(40, 49, name="c", instructions=1001), item(2, 11, name="c"),
    ]  # fmt: skip
    groups = tuple(Group(row, ()) for row in rows)
    assert [phrases.group_place(group) for group in groups] == ["a", "a", "b", "c +1,000", "c"]
    for most, places in (
        (5, [4, 3, 1, 2]), (3, [4, 3, 1]), (2, [3, 1]), (1, [1]), (0, []),
    ):  # fmt: skip
        assert phrases.longest_groups(groups, most) == [groups[place] for place in places]


def test_the_keys_of_metrics_that_have_a_value() -> None:
    def group(**values: float | None) -> Group:
        return Group(item(0, 1), tuple(Metric(key, x) for key, x in values.items()))

    assert phrases.metric_keys([group(a=None, b=0.0), group(c=1.0, b=2.0)]) == ["b", "c"]


def test_a_heaviest_slice_and_more_places() -> None:
    assert phrases.heaviest_sentence(item(0, 9, name="a", place="x.s:1", waited=8)) == (
        "most cycles go to x.s:1: a (cp, at most 1 cycle at a time)"
    )
    for count, more in ((1, "1 place more: p0"), (3, "3 places more: p0, p1, p2"),
                        (4, "4 places more: p0, p1, p2, ...")):  # fmt: skip
        missed: Any = SimpleNamespace(others=[f"p{at}" for at in range(count)])
        assert phrases.same_places(missed) == f"the same at {more}"


def test_what_a_threshold_cost() -> None:
    def note(cycles: int, slices: int) -> str:
        missed: Any = SimpleNamespace(cycles=cycles, slices=slices)
        return phrases.cost_note(missed)

    assert [note(0, 5), note(1, 1), note(400, 1000)] == [
        "",
        "(1 cycle)",
        "(400 cycles, 1,000 times)",
    ]


def test_a_text_for_a_screen() -> None:
    assert printable_text("a\tb\nc\x1b×", False) == "a?b\nc?×"
    assert printable_text("a\nb漢", True) == "a\nb\\u6f22"
