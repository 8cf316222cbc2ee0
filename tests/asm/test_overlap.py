"""Whether results of two PEs overlap in memory: the formula against sets of bytes."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from macaw.asm.forms.pe.results import overlap


@settings(max_examples=300)
@given(
    writers=st.integers(1, 6),
    elements=st.integers(1, 6),
    stride=st.integers(1, 40),
    step=st.integers(0, 40),
    size=st.sampled_from([1, 2, 4, 8]),
)
def test_overlap(writers: int, elements: int, stride: int, step: int, size: int) -> None:
    places = [
        {pe * stride + n * step + byte for n in range(elements) for byte in range(size)}
        for pe in range(writers)
    ]
    wanted = sum(map(len, places)) != len(set().union(*places))
    assert overlap(writers, elements, stride, step, size) == wanted
