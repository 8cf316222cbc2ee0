"""Compares the version of a file's format with the versions that this Macaw reads."""

from __future__ import annotations


def version_problem(
    version: object, newest: int, again: str, oldest: int = 1
) -> tuple[str, str] | None:
    """Return why Macaw cannot read a file of this version, and a hint; None if Macaw can.

    Macaw reads the versions `oldest` to `newest`. `again` says how to write the file again, for the
    hint.
    """
    if type(version) is not int or version < 1:
        return "its format is not a whole number from 1", f"write it again: {again}"
    reads = f"format {version}, this Macaw reads {_versions(oldest, newest)}"
    if version > newest:
        return reads, f"upgrade Macaw, or write it again: {again}"
    if version < oldest:
        return reads, f"write it again: {again}"
    return None


def _versions(oldest: int, newest: int) -> str:
    return f"format {newest}" if oldest == newest else f"formats {oldest} to {newest}"
