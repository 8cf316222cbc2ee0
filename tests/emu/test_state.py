"""Declared state, plain values and pages: snapshot, diff, hash and save follow from the fields."""

from __future__ import annotations

import contextlib
import math
import resource
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import macaw
from macaw.emu import plain
from macaw.emu.pages import PAGE, Pages, differences
from macaw.emu.state import Change, State, StateError, StateField

FIELDS = (
    StateField("pc", "int", meaning="an address", initial=0x10000),
    StateField("running", "bool"),
    StateField("queue", "object", initial=[]),
    StateField("acc", "int64", (2, 4)),
    StateField("half", "float16", (3,), initial=1.5),
    StateField("bitmask", "bool", (4,)),
    StateField("ram", "memory", (3 * PAGE,)),
)


def changed(state: State) -> None:
    state.pc = 0x10004
    state.running = True
    state.queue.append((1, b"\xff", {"a": [None, 2.5]}))
    state.acc[1, 2] = -(1 << 62)
    state.half[0] = np.nan
    state.bitmask[3] = True
    state.ram.write(PAGE - 2, b"abcd")


def test_initial_values_and_reset() -> None:
    state = State(FIELDS)
    first = state.snapshot()
    assert (state.pc, state.running, state.queue) == (0x10000, False, [])
    assert state.half.tolist() == [1.5] * 3
    changed(state)
    state.reset()
    assert state.diff(first) == []
    assert state.hash() == State(FIELDS).hash()


def test_restore_keeps_arrays_in_place_and_snapshots_apart() -> None:
    state = State(FIELDS)
    view = state.acc[1]
    before = state.snapshot()
    hash_before = state.hash()
    changed(state)
    after = state.snapshot()
    assert state.hash() != hash_before
    state.restore(before)
    assert state.hash() == hash_before
    assert view.tolist() == [0, 0, 0, 0]
    state.restore(after)
    assert view[2] == -(1 << 62)
    assert state.queue == [(1, b"\xff", {"a": [None, 2.5]})]
    state.queue[0][2]["a"].clear()
    assert after["queue"] == [(1, b"\xff", {"a": [None, 2.5]})]
    with pytest.raises(ValueError, match="read-only"):
        after["acc"][0, 0] = 1


def test_differences_name_field_place_old_and_new() -> None:
    state = State(FIELDS)
    before = state.snapshot()
    changed(state)
    changes = state.diff(before)
    assert changes[:4] == [
        Change("pc", (), 0x10000, 0x10004),
        Change("running", (), False, True),
        Change("queue", (), [], [(1, b"\xff", {"a": [None, 2.5]})]),
        Change("acc", (1, 2), 0, -(1 << 62)),
    ]
    assert changes[4][:3] == ("half", (0,), 1.5)
    # A run of changed bytes that crosses a page is told a page at a time.
    assert changes[5:] == [
        Change("bitmask", (3,), False, True),
        Change("ram", (PAGE - 2,), b"\0\0", b"ab"),
        Change("ram", (PAGE,), b"\0\0", b"cd"),
    ]
    # The same NaN is no difference; another sign of zero is one.
    held = state.snapshot()
    assert state.diff(held) == []
    state.half[1] = -0.0
    held = state.snapshot()
    state.half[1] = 0.0
    assert [change[:2] for change in state.diff(held)] == [("half", (1,))]


def test_a_hash_sees_every_field() -> None:
    hashes = {State(FIELDS).hash()}
    for name, value in (("pc", 1), ("running", True), ("queue", [0])):
        state = State(FIELDS)
        setattr(state, name, value)
        hashes.add(state.hash())
    for name in ("acc", "half", "bitmask"):
        state = State(FIELDS)
        getattr(state, name)[..., 0] = 7
        hashes.add(state.hash())
    state = State(FIELDS)
    state.ram.write(5, b"x")
    hashes.add(state.hash())
    assert len(hashes) == 8


def test_save_and_load_without_pickle(tmp_path: Path) -> None:
    state = State(FIELDS)
    changed(state)
    state.save(tmp_path / "a.npz")
    state.save(tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    other = State(FIELDS)
    other.load(tmp_path / "a.npz")
    assert other.hash() == state.hash()
    with np.load(tmp_path / "a.npz", allow_pickle=False) as file:
        assert not any(file[name].dtype.hasobject for name in file.files)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("pc", "x", "field pc: 'x' is no int"),
        ("pc", True, "field pc: True is no int"),
        ("running", 1, "field running: 1 is no bool"),
        ("acc", np.zeros(3), r"field acc: array\(\[0., 0., 0.\]\) is no int64 of shape \(2, 4\)"),
        ("half", [1], r"field half: \[1\] is no float16 of shape \(3,\)"),
    ],
)
def test_a_value_that_is_not_of_its_row(name: str, value: Any, message: str) -> None:
    state = State(FIELDS)
    setattr(state, name, value)
    with pytest.raises(StateError, match=message):
        state.snapshot()
    with pytest.raises(StateError, match=message):
        state.hash()


def test_wrong_snapshots_and_rows() -> None:
    with pytest.raises(StateError, match="the snapshot has other fields than this state"):
        State(FIELDS).restore({"pc": 1})
    with pytest.raises(StateError, match="a field is declared twice: a, a"):
        State((StateField("a", "int"), StateField("a", "int")))
    with pytest.raises(plain.PlainError, match="a value of type object is not plain"):
        plain.pack([object()])


def test_wrong_files(tmp_path: Path) -> None:
    state = State(FIELDS)
    with pytest.raises(StateError, match=r"none\.npz: No such file or directory"):
        state.load(tmp_path / "none.npz")
    (tmp_path / "text").write_text("no")
    with pytest.raises(StateError, match=r"text: is no saved state: it is no \.npz file$"):
        state.load(tmp_path / "text")
    np.save(tmp_path / "one.npy", np.zeros(1))
    with pytest.raises(StateError, match=r"one\.npy: is no saved state: it is a single array"):
        state.load(tmp_path / "one.npy")
    np.savez(tmp_path / "less.npz", pc=np.zeros(1))
    with pytest.raises(StateError, match="the file has no field state/pc"):
        state.load(tmp_path / "less.npz")
    State(FIELDS[:1]).save(tmp_path / "cut.npz")
    with np.load(tmp_path / "cut.npz") as file:
        np.savez(tmp_path / "cut.npz", **{"state/pc": file["state/pc"][:-1]})
    with pytest.raises(StateError, match="field pc: the bytes are cut off"):
        State(FIELDS[:1]).load(tmp_path / "cut.npz")
    arrays = state.arrays()
    for pages, data, message in (
        ([0], b"", "the pages of a memory do not fit their numbers"),
        ([0, 0], bytes(2 * PAGE), "the pages of a memory do not fit their numbers"),
        ([3], bytes(PAGE), "a page lies outside of its memory"),
        ([-1], bytes(PAGE), "a page lies outside of its memory"),
    ):
        arrays["ram#pages"], arrays["ram"] = np.array(pages), np.frombuffer(data, np.uint8)
        with pytest.raises(StateError, match=message):
            state.from_arrays(arrays)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_are_a_value_or_refused(data: bytes) -> None:
    with contextlib.suppress(plain.PlainError):
        plain.pack(plain.unpack(data))


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary(),
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(st.text() | st.integers(), inner)
    ),
    max_leaves=20,
)


@given(values)
def test_plain_values_come_back(value: Any) -> None:
    data = plain.pack(value)
    back = plain.unpack(data)
    assert back == value
    assert plain.pack(back) == data
    assert plain.copy(value) == value
    for cut in {0, len(data) // 2, len(data) - 1} - {len(data)}:
        with pytest.raises(plain.PlainError):
            plain.unpack(data[:cut])
    with pytest.raises(plain.PlainError, match="bytes are left over"):
        plain.unpack(data + b"n")


# Values that are equal in Python but not as bytes, and their containers.
ALIKE: list[object] = [0, 1, True, False, None, 0.0, -0.0, 1.0, "", b"", [], (), {}, [0], [False], (0,), [0.0],
         [-0.0], {0: 1}, {False: 1}, {0: True}, {0: 1, 1: 0}, {1: 0, 0: 1}, [[], ()], [[], []],
         np.int8(1), np.zeros(2), -np.zeros(2), [np.zeros(2)], float("nan")]  # fmt: skip


def test_same_plain_values_are_those_of_equal_bytes() -> None:
    for one in ALIKE:
        for other in (*ALIKE, plain.copy(one)):
            assert plain.same(one, other) == (plain.pack(one) == plain.pack(other)), (one, other)
    with pytest.raises(plain.PlainError, match="a value of type object is not plain"):
        plain.same([1, object()], [1, object()])


def test_plain_arrays_and_limits() -> None:
    array = np.arange(6, dtype=np.float16).reshape(2, 3)
    back = plain.unpack(plain.pack([array, np.int8(3)]))
    assert back[0].dtype == np.float16
    assert back[0].tolist() == array.tolist()
    assert back[1] == 3
    deep: list[object] = []
    for _ in range(80):
        deep = [deep]
    with pytest.raises(plain.PlainError, match="containers are nested too deeply"):
        plain.pack(deep)
    with pytest.raises(plain.PlainError, match="a key of type tuple is not plain"):
        plain.pack({(1,): 2})
    with pytest.raises(plain.PlainError, match="the tag b'z' is unknown"):
        plain.unpack(b"z")


def test_arrays_in_arrays_are_bounded():
    """Damaged bytes may have an array where the bytes of an array should be."""
    start = b"a" + plain.pack(("<i4", (1,)))
    with pytest.raises(plain.PlainError, match="containers are nested too deeply"):
        plain.unpack(start * 10_000)


# Pages


def test_views_share_the_bytes() -> None:
    pages = Pages(PAGE)
    pages.write(4, b"\1\2\3\4")
    assert (pages.words[1], pages.halves[2], pages.bytes[7]) == (0x04030201, 0x0201, 4)


def test_only_written_pages_are_copied() -> None:
    pages = Pages(100 * PAGE)
    pages.write(0, b"a")
    pages.write(50 * PAGE, b"b")
    first = pages.snapshot()
    pages.write(50 * PAGE + 1, b"c")
    second = pages.snapshot()
    assert sorted(second) == [0, 50]
    assert second[0] is first[0]
    assert second[50] is not first[50]
    # Written again with what was there, the copy is another one; zeros need none.
    pages.write(50 * PAGE, b"bc")
    third = pages.snapshot()
    assert third == second
    assert third[50] is not second[50]
    pages.write(50 * PAGE, bytes(2))
    assert sorted(pages.snapshot()) == [0]


def test_a_holder_is_told_of_each_change_once() -> None:
    pages = Pages(4 * PAGE)
    told: list[int] = []
    pages.on_change(told.append)
    pages.write(0, b"x")
    assert told == []
    pages.watch(0, PAGE)
    pages.watch(PAGE, PAGE)
    pages.write(PAGE - 1, b"xy")
    pages.write(0, b"x")
    assert told == [0, 1]
    held = pages.snapshot()
    pages.watch(0, PAGE)
    pages.restore(held)
    assert told == [0, 1]  # nothing had changed
    pages.write(1, b"z")
    pages.watch(0, PAGE)
    pages.restore(held)
    assert told == [0, 1, 0, 0]
    pages.watch(0, PAGE)
    pages.reset()
    assert told == [0, 1, 0, 0, 0]


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(("write", "write", "write", "snapshot", "restore", "reset")),
            st.integers(0, 4 * PAGE - 8),
            st.binary(max_size=8) | st.just(bytes(8)),
        ),
        max_size=30,
    )
)
def test_pages_equal_a_plain_array(steps: list[tuple[str, int, bytes]]) -> None:
    pages, model = Pages(4 * PAGE), bytearray(4 * PAGE)
    held: list[tuple[dict[int, bytes], bytes, bytes]] = []
    for name, offset, data in steps:
        if name == "write":
            pages.write(offset, data)
            model[offset : offset + len(data)] = data
        elif name == "snapshot":
            held.append((pages.snapshot(), bytes(model), pages.digest()))
        elif name == "reset":
            pages.reset()
            model = bytearray(4 * PAGE)
        elif held:
            snapshot, contents, digest = held[offset % len(held)]
            pages.restore(snapshot)
            model = bytearray(contents)
            assert pages.digest() == digest
        assert pages.read(0, 4 * PAGE) == model
    fresh = Pages(4 * PAGE)
    fresh.write(0, bytes(model))
    assert fresh.digest() == pages.digest()
    for snapshot, contents, _digest in held:
        runs = differences(snapshot, pages.snapshot())
        patched = bytearray(contents)
        for offset, old, new in runs:
            assert patched[offset : offset + len(old)] == old
            patched[offset : offset + len(new)] = new
        assert patched == model


def test_zeros_take_no_memory_until_they_are_written() -> None:
    """Zeros take no memory until they are written: a device may have gigabytes of registers."""

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

    before = resident()
    state = State([StateField("cells", "int64", (1 << 28,))])
    state.add([StateField("more", "int64", (4,), initial=3)])
    assert resident() - before < 64 << 20
    assert state.cells[-1] == 0
    assert state.more.tolist() == [3] * 4
    state.reset()
    assert resident() - before < 64 << 20


def test_reset_leaves_no_negative_zero() -> None:
    state = State([StateField("sums", "float32", (3,))])
    state.sums[1] = -0.0
    state.reset()
    assert not np.signbit(state.sums).any()


def test_registers_have_the_width_of_their_table() -> None:
    """A file's width in a core's table is that of its widest registers, over all element types.

    A debugger shows this number of bits.
    """
    widths: dict[tuple[str, str], int] = {}
    for element in ("int8", "int16", "fp32"):
        device = macaw.Device(macaw.configuration("tiny").changed({"pe.element": element}))
        for core in device.order:
            for file in core.table.files:
                values = np.asarray(getattr(core.state, file.name))
                units = core.table.levels and values.shape[: len(core.table.levels)]
                registers = len(file.names) * math.prod(units or ())
                bits = 8 * values.nbytes // registers
                widths[core.name, file.name] = max(bits, widths.get((core.name, file.name), 0))
                assert widths[core.name, file.name] <= file.width
    for core in device.order:
        for file in core.table.files:
            assert widths[core.name, file.name] == file.width


def test_differences_after_an_equal_page() -> None:
    """Page 0 is equal in both snapshots; in page 1 two bytes differ."""
    old = bytes(PAGE)
    new = bytes([0, 5, 6]) + bytes(PAGE - 3)
    same = bytes([1]) * PAGE
    assert differences({0: same, 1: old}, {0: same, 1: new}) == [(PAGE + 1, old[1:3], new[1:3])]
