"""The Perfetto trace, read back with the published protobuf classes."""

from __future__ import annotations

import sys

import pytest
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TrackDescriptor

from macaw.errors import InputError
from macaw.profiling import perfetto
from macaw.profiling.model import Profile, Track
from tests.macaw.profile.perfetto_reader import busy_by_core, disjoint, read_tracks
from tests.macaw.profile.synthetic import ROWS, by_chance, by_hand

Interval = tuple[int, int]


@pytest.mark.parametrize("seed", range(40))
def test_slices_nest_and_busy_times_are_the_profile_s(seed: int) -> None:
    profile = by_chance(seed)
    tracks = read_tracks(perfetto.encode(profile))
    wanted = {track.core: track.busy_cycles for track in profile.tracks}
    assert busy_by_core(tracks) == wanted
    assert all(disjoint(track.slices) for track in tracks.values())
    found: dict[str, list[Interval]] = {}
    for track in tracks.values():
        name, _, kind = track.descriptor.name.partition(": ")
        if kind == "instructions":
            found.setdefault(name, []).extend((begin, end) for begin, end, _ in track.slices)
    for core in leaves(profile):
        assert sorted(found.get(core.core, [])) == sorted((s.begin, s.end) for s in core.slices)


def leaves(profile: Profile) -> list[Track]:
    """The tracks of cores, without rows of several cores."""
    return [track for track in profile.tracks if not profile.cores(track.core)]


def test_the_six_rows_stand_in_their_order_below_one_process() -> None:
    tracks = read_tracks(perfetto.encode(by_hand()))
    (process,) = (uuid for uuid, track in tracks.items() if track.descriptor.HasField("process"))
    assert tracks[process].descriptor.child_ordering == TrackDescriptor.EXPLICIT
    below = [
        track.descriptor
        for track in tracks.values()
        if track.descriptor.parent_uuid == process and not track.descriptor.HasField("counter")
    ]
    below.sort(key=lambda track: track.sibling_order_rank)
    assert tuple(track.name for track in below) == ROWS


def test_overlapping_instructions_go_to_tracks_of_one_name() -> None:
    tracks = read_tracks(perfetto.encode(by_hand()))
    shown = [t for t in tracks.values() if t.descriptor.name == "pe[1]: instructions"]
    # 300 to 700 and 500 to 900 overlap; 700 to 800 goes on where the first one ended.
    assert [[s[:2] for s in track.slices] for track in shown] == [
        [(300, 700), (700, 800)],
        [(500, 900)],
    ]
    parents = {tracks[track.descriptor.parent_uuid].descriptor.name for track in shown}
    assert parents == {"pe[1]"}


def test_a_slice_says_where_it_is_from_and_what_was_counted() -> None:
    tracks = read_tracks(perfetto.encode(by_hand()))
    (track,) = (t for t in tracks.values() if t.descriptor.name == "pe[0]: instructions")
    ((begin, end, event),) = track.slices
    assert (begin, end, event.name) == (240, 640, "exe ib=0")
    assert (event.source_location.file_name, event.source_location.line_number) == ("net.s", 60)
    notes = {note.name: note for note in event.debug_annotations}
    assert notes["e_cu"].int_value == 900
    assert notes["unit_use"].double_value == 0.22
    assert "partial_writes" not in notes  # it has no value


def test_series_are_counter_tracks_of_their_rows() -> None:
    tracks = read_tracks(perfetto.encode(by_hand()))
    counters = {
        track.descriptor.name: track
        for track in tracks.values()
        if track.descriptor.HasField("counter")
    }
    queue = counters["net in"]
    assert queue.points == [(0, 0.0), (100, 3.0), (900, 1.0)]
    assert queue.descriptor.counter.unit_name == "vectors"
    assert tracks[queue.descriptor.parent_uuid].descriptor.name == "nnp"
    reads = counters["external reads"]
    assert reads.points == [(0, 32.5), (500, 0.25)]
    assert tracks[reads.descriptor.parent_uuid].descriptor.HasField("process")


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "perfetto.protos.perfetto.trace", None)
    with pytest.raises(InputError, match="needs the package 'perfetto'") as caught:
        perfetto.encode(by_hand())
    assert "macaw-npu[perfetto]" in str(caught.value.hint)
