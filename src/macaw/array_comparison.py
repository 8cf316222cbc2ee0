"""Compares an output bit for bit with its recording, or within a tolerance with a reference."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu import bfloat16
from macaw.golden_description import Tolerance
from macaw.phrases import plural, shape_text

MOST_SHOWN = 8  # elements listed for an output


def equal_results(first: Any, second: Any) -> bool:
    """Return whether two results have equal values; arrays are equal if all their bits are.

    Results are of the same dataclass; its fields with `compare=False` do not count.
    """
    return all(
        _equal(getattr(first, row.name), getattr(second, row.name))
        for row in fields(first)
        if row.compare
    )


def _equal(first: Any, second: Any) -> bool:
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        same_form = first.dtype == second.dtype and first.shape == second.shape
        return same_form and first.tobytes() == second.tobytes()
    if isinstance(first, dict) and isinstance(second, dict):
        same_keys = first.keys() == second.keys()
        return same_keys and all(_equal(first[key], second[key]) for key in first)
    return bool(first == second)


def array_differences(name: str, expected: NDArray[Any], got: NDArray[Any]) -> list[str]:
    """Return the differences between the bits of an output and of its recording, as lines.

    `expected` is the recording, `got` the output, and `name` the output's name in the lines.
    """
    if expected.dtype != got.dtype or expected.shape != got.shape:
        before = f"{expected.dtype.name} {shape_text(expected.shape)}"
        now = f"{got.dtype.name} {shape_text(got.shape)}"
        return [f"output {name}: expected {before}, got {now}"]
    # Compare bits: a NaN equals the same NaN, and -0.0 differs from 0.0.
    bits = np.dtype(f"u{expected.dtype.itemsize}")
    differ = np.atleast_1d(
        np.ascontiguousarray(expected).view(bits) != np.ascontiguousarray(got).view(bits)
    )
    if not differ.any():
        return []
    places = np.flatnonzero(differ)
    lines = [f"output {name}: {_count_text(len(places), expected.size)} differ"]
    for place in places[:MOST_SHOWN]:
        lines.append(f"  {_pair_text(name, expected, got, int(place))}")
    if len(places) > MOST_SHOWN:
        lines.append(f"  ... and {len(places) - MOST_SHOWN:,} more")
    return lines


def reference_differences(
    name: str,
    file: str,
    reference: NDArray[Any],
    got: NDArray[Any],
    tolerance: Tolerance,
    element_type: str = "",
) -> list[str]:
    """Return the differences between the output `got` and its reference as lines of text.

    The function compares numbers; the types may differ. A NaN equals a NaN, an infinity equals
    itself, and 0.0 equals -0.0. In the lines the output is called `name` and the reference `file`.
    If elements have errors above the tolerance, the lines give the number of such elements, the
    first of them, and the element with the largest error. `element_type` is the declared type of
    the output, `bfloat16` for an array of float32; by default it is the type of `got`.
    """
    if reference.dtype.kind not in "biuf":
        return [f"output {name}: {file} has elements of type {reference.dtype}, not numbers"]
    if reference.shape != got.shape:
        shapes = f"{shape_text(reference.shape)}, the output is {shape_text(got.shape)}"
        return [f"output {name}: {file} is {shapes}"]
    if reference.dtype.kind == "u" and (reference > np.uint64(np.iinfo(np.int64).max)).any():
        return [f"output {name}: {file} has numbers beyond int64"]
    errors = _errors(reference, got, tolerance, element_type or got.dtype.name)
    wrong = np.flatnonzero(~(errors.sizes <= errors.allowed))
    if not len(wrong):
        return []
    first, largest = int(wrong[0]), int(wrong[np.argmax(errors.sizes.reshape(-1)[wrong])])
    count = _count_text(len(wrong), got.size)
    limit = _tolerance_text(tolerance)
    how = f"are further from {file} than {limit}" if limit else f"differ from {file}"
    return [
        f"output {name}: {count} {how}",
        f"  first: {_pair_text(name, reference, got, first)}{errors.text(first, tolerance)}",
        f"  largest: {_pair_text(name, reference, got, largest)}{errors.text(largest, tolerance)}",
    ]


@dataclass(frozen=True)
class _Errors:
    """Each element's error against the reference (`sizes`), its allowed error and its unit.

    The arrays have the output's shape. `units` has the units that `Tolerance` explains. If two
    numbers differ and one of them is not finite, the error is infinite.
    """

    sizes: NDArray[Any]  # the error of each element, at least 0
    allowed: NDArray[np.float64]  # the greatest allowed error of each element
    units: NDArray[np.float64]  # the unit of the tolerance for each element

    def text(self, place: int, tolerance: Tolerance) -> str:
        """Return an element's error as the end of a line: `, error 3 (1.5 units), allowed 2`.

        `place` is the element's flat index. The text has the units only if `tolerance` allows
        errors in units, and the allowed error only if `tolerance` allows any errors.
        """
        size = self.sizes.reshape(-1)[place]
        text = f", error {_number(size)}"
        unit = float(self.units.reshape(-1)[place])
        if tolerance.units and unit and np.isfinite(size):
            text += f" ({_number(float(size) / unit)} units)"
        if tolerance != Tolerance():
            text += f", allowed {_number(float(self.allowed.reshape(-1)[place]))}"
        return text


def _errors(
    reference: NDArray[Any], got: NDArray[Any], tolerance: Tolerance, element_type: str
) -> _Errors:
    real = np.asarray(reference, np.float64)
    magnitudes = np.where(np.isfinite(real), np.abs(real), 0.0)
    units = _units(magnitudes, element_type, tolerance)
    with np.errstate(over="ignore"):
        allowed = tolerance.absolute + tolerance.relative * magnitudes + tolerance.units * units
    if reference.dtype.kind != "f" and got.dtype.kind != "f":
        # A difference of int64 may need 64 bits without a sign.
        a, b = reference.astype(np.int64), got.astype(np.int64)
        sizes: NDArray[Any] = np.asarray(np.where(a > b, a - b, b - a)).view(np.uint64)
        return _Errors(sizes, allowed, units)
    values = np.asarray(got, np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        sizes = np.abs(values - real)
    same = (values == real) | (np.isnan(values) & np.isnan(real))
    sizes = np.where(same, 0.0, np.where(np.isnan(sizes), np.inf, sizes))
    # The tolerance is for numbers: what is not finite must be the same.
    allowed = np.where(np.isfinite(values) & np.isfinite(real), allowed, 0.0)
    return _Errors(sizes, allowed, units)


def _units(
    magnitudes: NDArray[np.float64], element_type: str, tolerance: Tolerance
) -> NDArray[np.float64]:
    """Return the unit (see `Tolerance`) of each element, in the shape of `magnitudes`.

    `magnitudes` are the absolute values of the reference, `element_type` is the output's type.
    """
    if tolerance.block is not None and tolerance.bits is not None:
        return _block_units(magnitudes, tolerance.block, tolerance.bits)
    if element_type == bfloat16.NAME:
        return bfloat16.distances(magnitudes)
    dtype = np.dtype(element_type)
    if dtype.kind != "f":
        return np.ones(magnitudes.shape)
    greatest = np.finfo(dtype).max
    nearest = np.minimum(magnitudes, float(greatest)).astype(dtype)
    below = nearest - np.nextafter(nearest, dtype.type(0))  # finite for the greatest number, too
    with np.errstate(over="ignore", invalid="ignore"):
        above = np.nextafter(nearest, dtype.type(np.inf)) - nearest
    return np.asarray(np.where(nearest < greatest, above, below), np.float64)


def _block_units(magnitudes: NDArray[np.float64], block: int, bits: int) -> NDArray[np.float64]:
    rows = np.atleast_1d(magnitudes)
    length = rows.shape[-1]
    padded = np.zeros((*rows.shape[:-1], -(-length // block) * block))
    padded[..., :length] = rows
    largest = padded.reshape(*rows.shape[:-1], -1, block).max(axis=-1, initial=0.0)
    exponents = np.frexp(largest)[1]
    units = np.where(largest > 0, np.ldexp(1.0, exponents - (bits - 1)), 0.0)
    return np.repeat(units, block, axis=-1)[..., :length].reshape(magnitudes.shape)


def _tolerance_text(tolerance: Tolerance) -> str:
    parts = []
    if tolerance.absolute:
        parts.append(f"{tolerance.absolute:g}")
    if tolerance.relative:
        parts.append(f"{tolerance.relative:g} of the reference")
    if tolerance.units:
        parts.append(f"{tolerance.units:g} unit{'' if tolerance.units == 1 else 's'}")
    return " + ".join(parts)


def _count_text(count: int, size: int) -> str:
    return f"{count:,} of {plural(size, 'element')}"


def _pair_text(name: str, expected: NDArray[Any], got: NDArray[Any], place: int) -> str:
    """Return a text such as `y[3]: expected 1, got 2` for the element with flat index `place`."""
    index = np.unravel_index(place, expected.shape)
    at = "".join(f"[{int(number)}]" for number in index)
    before, now = expected[index], got[index]
    return f"{name}{at}: expected {before}, got {now}"


def _number(value: Any) -> str:
    return f"{int(value):,}" if isinstance(value, np.integer) else f"{float(value):.6g}"
