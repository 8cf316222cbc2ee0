"""Finds the settings that are too small for an operation, and values with which it fits."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

from macaw.isa.config import ConfigError, Configuration, settings
from macaw.lowering.errors import LowerError

# The settings that limit the size of a tile, in the order in which larger values are tried.
ROOMS = {
    "mem.unit_half_bytes": "half of a unit, {value} bytes, with its packets and sequences",
    "pe.weight_queue": "the weight queue, {value} entries",
    "pe.input_buffer": "the input buffer, {value} elements",
    "pe.output_queue": "the output queue, {value} elements",
}


def refusal(config: Configuration, fits: Callable[[Configuration], bool]) -> LowerError:
    """Return the error for an operation of which no tile fits the device.

    It names the fewest settings that have to be larger, with values that are enough. `fits` takes a
    device with larger settings and returns whether a tile fits it.
    """
    for count in range(1, len(ROOMS) + 1):
        for names in combinations(ROOMS, count):
            larger = _larger(config, names, fits)
            if larger is not None:
                rooms = " and ".join(ROOMS[name].format(value=config[name]) for name in names)
                values = ", ".join(f"{name} = {larger[name]}" for name in names)
                return LowerError(f"no tile fits {rooms}", f"one fits with {values}")
    return LowerError(
        "no tile fits, nor with any room that was tried", "it has to be cut into parts"
    )


def _larger(
    config: Configuration, names: tuple[str, ...], fits: Callable[[Configuration], bool]
) -> dict[str, int] | None:
    """Return larger values of the settings `names` with which a tile fits, or None.

    All values are doubled together until a tile fits; then each is halved as far as possible. The
    result is None if the doubled values exceed a limit before a tile fits.
    """
    values = {name: int(config[name]) for name in names}
    while True:
        doubled = {name: min(2 * value, _limit(name)) for name, value in values.items()}
        if any(doubled[name] == int(config[name]) for name in names) or doubled == values:
            return None
        values = doubled
        try:
            larger = config.changed(values)
        except ConfigError:
            return None
        if fits(larger):
            return _least(config, values, fits)


def _least(
    config: Configuration, values: dict[str, int], fits: Callable[[Configuration], bool]
) -> dict[str, int]:
    """Return `values` with each setting halved repeatedly, as long as a tile still fits.

    Each value stays larger than the device's present value. `_larger` has doubled all settings
    together; halving finds those that did not need to be so large.
    """
    for name in values:
        half = values[name] // 2
        while half > int(config[name]) and fits(config.changed({**values, name: half})):
            values = {**values, name: half}
            half //= 2
    return values


def _limit(name: str) -> int:
    setting = settings()[name]
    assert setting.high is not None
    return int(setting.high)
