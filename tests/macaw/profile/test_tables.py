"""The tables of a profile: columns of equal length, with the numbers of the profile."""

from __future__ import annotations

from typing import Any

import pytest

import macaw
from macaw.profiling.model import Profile
from tests.macaw.profile.programs import copies
from tests.macaw.profile.synthetic import by_hand


@pytest.fixture(scope="module")
def whole() -> Profile:
    options = macaw.ProfileOptions(causes=True, lines=True, roofline=True, energy="")
    return macaw.profile(copies(3), options=options)


def rows_of(table: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """The rows of a table; fails if its columns have different lengths."""
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


def test_every_table_has_columns_of_one_length(whole: Profile) -> None:
    for profile in (whole, by_hand()):
        for name, table in macaw.profile_tables(profile).items():
            assert len({len(column) for column in table.values()}) <= 1, name


def test_slices_have_their_counters(whole: Profile) -> None:
    rows = rows_of(macaw.profile_tables(whole)["slices"])
    slices = [item for track in whole.rows for item in track.slices]
    assert len(rows) == len(slices) > 0
    for row, item in zip(rows, slices, strict=True):
        assert (row["core"], row["begin"], row["cycles"]) == (item.core, item.begin, item.cycles)
        assert {name: row[name] for name in item.counters} == dict(item.counters)


def test_sums_of_tables_are_those_of_the_profile(whole: Profile) -> None:
    tables = {name: rows_of(table) for name, table in macaw.profile_tables(whole).items()}
    for account in whole.accounts:
        causes = [row for row in tables["causes"] if row["core"] == account.core]
        assert sum(row["cycles"] for row in causes if not row["above"]) == account.total
        for above in {row["above"] for row in causes} - {""}:
            below = sum(row["cycles"] for row in causes if row["above"] == above)
            assert below == next(row["cycles"] for row in causes if row["cause"] == above)
    assert sum(row["run"] for row in tables["annotation"]) == whole.cycles
    assert sum(row["run"] for row in tables["lines"]) == whole.cycles
    assert whole.energy is not None
    assert sum(row["picojoules"] for row in tables["energy"]) == pytest.approx(whole.energy.total)
    assert whole.work is not None
    levels = [
        (roof.core, level.memory, level.bytes) for roof in whole.work.roofs for level in roof.levels
    ]
    assert [(row["core"], row["memory"], row["bytes"]) for row in tables["roofs"]] == levels
    assert tables["layers"] == tables["differences"] == []


def test_metrics_findings_and_series_by_hand() -> None:
    profile = by_hand()
    tables = {name: rows_of(table) for name, table in macaw.profile_tables(profile).items()}
    assert len(tables["metrics"]) == sum(len(group.metrics) for group in profile.groups)
    missed, findings = tables["missed_thresholds"], tables["findings"]
    assert [row["sentence"] for row in missed] == [x.sentence for x in profile.missed_thresholds]
    assert [(row["cause"], row["saved"]) for row in findings] == [("loads", 260)]
    points = [(x.name, *point) for x in profile.series for point in x.points]
    assert [(row["name"], row["cycle"], row["value"]) for row in tables["series"]] == points
