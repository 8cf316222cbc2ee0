"""Assembles a source with and without the fast path and the replay of expansions."""

from __future__ import annotations

from pathlib import Path

import pytest

from macaw.asm import elf, fast_path
from macaw.asm.assembler import assemble
from macaw.asm.diagnostics import AssemblyError
from macaw.asm.source import Source
from macaw.isa.config import Configuration


def outcome(
    sources: list[Source],
    device: Configuration | None,
    monkeypatch: pytest.MonkeyPatch,
    enabled: bool,
) -> object:
    """Return all that a user sees of a run: executable, lines and warnings, or the diagnostics."""
    monkeypatch.setattr(fast_path.FastPath, "enabled", enabled)
    try:
        program = assemble(sources, device=device)
    except AssemblyError as error:
        return error.diagnostics
    return elf.write(program), list(program.lines), program.warnings


def both(
    text: str,
    folder: Path | None = None,
    before: str = "",
    device: Configuration | None = None,
) -> object:
    """Assert that the outcome is the same with and without the fast path; return it."""
    sources = [Source(before, "before.s")] if before else []
    sources.append(Source(text, "short.s", folder))
    with pytest.MonkeyPatch.context() as patch:
        found = outcome(sources, device, patch, True)
        assert found == outcome(sources, device, patch, False)
    return found
