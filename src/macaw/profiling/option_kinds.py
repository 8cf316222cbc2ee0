"""The kinds of values that the options of a profile accept (`macaw.arguments`)."""

from __future__ import annotations

import sys
from typing import Any

from macaw.arguments import (
    Kind,
    flag,
    instance,
    integer,
    mapping,
    number,
    optional,
    path,
    seed,
    sequence,
    whole,
    word,
)


def _limit(value: Any) -> str | None:
    """Return None for a finite number from 0, else "a finite number from 0" for the message."""
    good = number(value) is None and 0 <= value <= sys.float_info.max
    return None if good else "a finite number from 0"


def _size(value: Any) -> str | None:
    """Return None for a number that the register TRACE_NUM can have, else what it is."""
    good = integer(value) is None and 0 < value < 1 << 32
    return None if good else "a whole number from 1 to 4294967295"


# by field of `macaw.profiling.profiler.ProfileOptions`
KINDS: dict[str, Kind] = {
    "mode": word,
    "num": mapping(_size, "whole numbers from 1 to 4294967295 by the name of a core"),
    "groups": optional(whole(1)),
    "segments": optional(whole(1)),
    "shared": whole(1),
    "jitter": optional(seed),
    "repeat": whole(1),
    "workers": whole(1),
    "scheduler": optional(word),
    "goals": mapping(_limit, "finite numbers from 0 by the name of a goal"),
    "thresholds": mapping(_limit, "finite numbers from 0 by the name of a metric"),
    "guide": flag,
    "against": optional(instance("a Profile of macaw", "macaw.profiling.model:Profile")),
    "against_name": word,
    "max_cycles": optional(whole(0)),
    "item": whole(0),
    "causes": flag,
    "roofline": flag,
    "energy": optional(path),
    "allow": sequence(word, "a list of words"),
    "lines": flag,
    "findings": flag,
}
