"""Limits the size of a PE array (PEs, queues, buffers) to what can be simulated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MOST_PES = 1 << 16
MOST_ENTRIES = 100_000_000

COUNTS = ("pe.rows", "pe.clusters", "pe.pes")
QUEUES = ("pe.weight_queue", "pe.input_buffer", "pe.output_queue")


def too_large(config: Mapping[str, Any]) -> str:
    """Return an error sentence if the device's array is too large to simulate, else ""."""
    rows, clusters, pes = (int(config[name]) for name in COUNTS)
    entries = sum(int(config[name]) for name in QUEUES)
    count = rows * clusters * pes
    factors = " x ".join(f"{name} ({config[name]})" for name in COUNTS)
    if count > MOST_PES:
        return f"{factors} are {count:,} PEs, {MOST_PES:,} can be simulated"
    if count * entries > MOST_ENTRIES:
        queues = " + ".join(f"{name} ({config[name]})" for name in QUEUES)
        return (
            f"{factors} PEs of {queues} entries have {count * entries:,} of them,"
            f" {MOST_ENTRIES:,} can be simulated"
        )
    return ""
