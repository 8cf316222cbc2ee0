"""The sources that are whole programs: the samples, and the sources in `ok`."""

from __future__ import annotations

from pathlib import Path

from macaw.network_description import NETWORK_FILE

_HERE = Path(__file__).parent


def sample_sources() -> list[Path]:
    """Return all sources of programs/ and of ok/, but none from a folder of a compiled network."""
    programs = (_HERE.parents[1] / "programs").glob("**/*.s")
    single = (path for path in programs if not (path.parent / NETWORK_FILE).exists())
    return sorted([*single, *(_HERE / "ok").glob("*.s")])
