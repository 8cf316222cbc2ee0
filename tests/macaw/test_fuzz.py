"""Commands and functions with damaged files give a clear error or a good result."""

import io
import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from macaw import files, golden_description, golden_tests
from macaw.errors import InputError
from tests.fuzzing import fuzz

pytestmark = pytest.mark.once


def saved(array: ArrayLike) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


GOOD = (saved(np.arange(12, dtype=np.int8).reshape(3, 4)), saved(np.float32(2)), saved(np.zeros(0)))
EDITS = st.lists(
    st.tuples(
        st.floats(0, 1, exclude_max=True),
        st.one_of(
            st.binary(max_size=4), st.sampled_from([b"(", b"9999", b"|O", b"<i8", b"'", b"\n"])
        ),
        st.integers(0, 4),
    ),
    max_size=4,
)


def damaged(good: bytes, edits: list[tuple[float, bytes, int]]) -> bytes:
    for place, piece, removed in edits:
        at = int(place * len(good))
        good = good[:at] + piece + good[at + removed :]
    return good


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


@fuzz
@given(good=st.sampled_from(GOOD), edits=EDITS)
def test_npy_files(folder: Path, good: bytes, edits: list[tuple[float, bytes, int]]) -> None:
    place = folder / "a.npy"
    place.write_bytes(damaged(good, edits))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            array = files.read_array(place)
    except InputError as error:
        assert "a.npy" in error.message
    else:
        assert isinstance(array, np.ndarray)
        assert array.dtype.kind != "O"


DESCRIPTION = b'source = "a.s"\ndevice = "tiny"\nmax_cycles = 10\nrecord = ["cycles"]\n[inputs]\nx = "x.npy"\n'


@fuzz
@given(edits=EDITS)
def test_descriptions(folder: Path, edits: list[tuple[float, bytes, int]]) -> None:
    (folder / "golden.toml").write_bytes(damaged(DESCRIPTION, edits))
    try:
        found = golden_description.read_description(folder)
    except InputError as error:
        assert "golden.toml" in error.message
    else:
        assert found.sources
        assert set(found.record) <= set(golden_description.RECORDABLE)


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@fuzz
@given(recorded=PLAIN, got=st.dictionaries(st.text(max_size=5), PLAIN, max_size=3))
def test_recordings(folder: Path, recorded: object, got: dict[str, object]) -> None:
    """Equal recordings have no difference, others at least one; a damaged one gives an error."""
    expected = folder / "expected"
    expected.mkdir(exist_ok=True)
    (expected / "run.json").write_text(json.dumps(recorded))
    description = golden_description.GoldenTest(folder, (), {}, None, None, None, None, ("cycles",))
    found = golden_tests.compare(description, golden_tests.Result(dict(got)))
    assert all(isinstance(line, str) for line in found)
    same = json.dumps(recorded, sort_keys=True) == json.dumps(got, sort_keys=True)
    assert bool(found) is not same
