"""Number types of the array and of nnp: their limits by hand and from OCP MX 1.0, table 1 and 2."""

from __future__ import annotations

import pytest

from macaw.isa import pe_elements, pe_size
from macaw.isa.nnp_elements import MX_ELEMENTS, Element, float_element, greatest_power


@pytest.mark.parametrize(
    ("name", "greatest", "emax", "least_normal", "least"),
    [
        ("e4m3", 448, 8, 2**-6, 2**-9),
        ("e5m2", 57344, 15, 2**-14, 2**-16),
        ("e2m3", 7.5, 2, 1, 0.125),
        ("e3m2", 28, 4, 0.25, 0.0625),
        ("e2m1", 6, 2, 1, 0.5),
        ("int8", 127 / 64, 0, 1, 1 / 64),
    ],
)
def test_the_elements_of_microscaling(
    name: str, greatest: float, emax: int, least_normal: float, least: float
) -> None:
    item = MX_ELEMENTS[name]
    assert item.greatest_value == greatest
    assert item.greatest_exponent == emax
    assert 2.0**item.least_exponent == least_normal
    assert 2.0**item.unit == least
    # each number is a multiple of the least one; the greatest multiple needs `size` bits
    assert 2 ** (item.size - 1) <= greatest / least < 2**item.size


@pytest.mark.parametrize(("exponent", "mantissa"), [(2, 1), (3, 0), (4, 3), (5, 2), (1, 2)])
def test_a_float_without_an_exponent_of_all_ones(exponent: int, mantissa: int) -> None:
    item = float_element(exponent, mantissa)
    assert item == Element(exponent, mantissa, item.greatest)
    bias = 2 ** (exponent - 1) - 1
    field = 2**exponent - 2  # the greatest exponent field that is used
    if field:
        assert item.greatest_value == 2.0 ** (field - bias) * (2 - 2.0**-mantissa)
    assert item.greatest == field * 2**mantissa + 2**mantissa - 1


def test_the_magnitudes_of_the_kind_log() -> None:
    """One bit is the sign, one code is 0; the others are 2**-K to 2**K, and K is at most 15."""
    assert [greatest_power(bits) for bits in range(3, 9)] == [1, 3, 7, 15, 15, 15]
    for bits in range(3, 7):
        assert 2 * greatest_power(bits) + 1 == 2 ** (bits - 1) - 1


@pytest.mark.parametrize(
    ("element", "widest", "types"),
    [
        ("int8", "element", ("int8",)), ("int16", "element", ("int8", "int16")),
        ("int8", "int16", ("int8", "int16")), ("fp16", "element", ("fp16",)),
        ("fp16", "fp32", ("fp16", "fp32")), ("fp32", "element", ("fp16", "fp32")),
    ],
)  # fmt: skip
def test_the_types_up_to_the_widest(element: str, widest: str, types: tuple[str, ...]) -> None:
    config = {"pe.element": element, "pe.widest": widest}
    assert pe_elements.available(config) == types
    assert pe_elements.widest_of(config) == types[-1]
    assert pe_elements.disagreeing(config) == ""


@pytest.mark.parametrize(
    ("element", "widest"), [("int16", "int8"), ("int8", "fp16"), ("fp16", "int16")]
)
def test_types_that_contradict_each_other(element: str, widest: str) -> None:
    assert pe_elements.disagreeing({"pe.element": element, "pe.widest": widest}) == (
        f"pe.widest is {widest} and pe.element {element}: an array multiplies integers or floating"
        " numbers"
    )


def test_sums_are_wider_than_operands() -> None:
    assert pe_elements.SUM_DTYPES == {
        "int8": "int32", "int16": "int64", "fp16": "float32", "fp32": "float32"
    }  # fmt: skip
    assert [name for name in pe_elements.ELEMENTS if pe_elements.is_floating(name)] == [
        "fp16",
        "fp32",
    ]


def test_the_greatest_array() -> None:
    config = {"pe.rows": 16, "pe.clusters": 64, "pe.pes": 64, "pe.weight_queue": 1000,
              "pe.input_buffer": 500, "pe.output_queue": 25}  # fmt: skip
    assert pe_size.too_large(config) == ""  # 65,536 PEs with 1,525 entries each
    assert pe_size.too_large({**config, "pe.rows": 17}) == (
        "pe.rows (17) x pe.clusters (64) x pe.pes (64) are 69,632 PEs, 65,536 can be simulated"
    )
    assert pe_size.too_large({**config, "pe.output_queue": 26}) == (
        "pe.rows (16) x pe.clusters (64) x pe.pes (64) PEs of pe.weight_queue (1000) + "
        "pe.input_buffer (500) + pe.output_queue (26) entries have 100,007,936 of them, "
        "100,000,000 can be simulated"
    )
    exact = {**config, "pe.rows": 10, "pe.clusters": 10, "pe.pes": 100, "pe.weight_queue": 9475}
    assert pe_size.too_large(exact) == ""  # 10,000 PEs with 10,000 entries
    assert pe_size.too_large({**exact, "pe.weight_queue": 9476}).endswith(
        "100,010,000 of them, 100,000,000 can be simulated"
    )
