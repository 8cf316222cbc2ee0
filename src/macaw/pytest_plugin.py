"""Collect golden folders as pytest tests: each golden.toml is one test.

pytest loads this module through the entry point of the package, so a user's tests need no code. The
module imports nothing else of Macaw until pytest finds a golden.toml.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

DESCRIPTION_FILE = "golden.toml"


class GoldenDiffersError(AssertionError):
    """Raised if the results of a program differ from its recording."""


class GoldenFile(pytest.File):
    """A golden.toml, which pytest collects as one test."""

    def collect(self) -> Iterator[GoldenItem]:
        yield GoldenItem.from_parent(self, name="golden")


class GoldenItem(pytest.Item):
    """The test of a golden folder: it runs the program and compares with `expected/`."""

    def runtest(self) -> None:
        from macaw import golden_tests

        differences = golden_tests.check(self.path.parent)
        if differences:
            raise GoldenDiffersError("\n".join(differences))

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: str | None = None
    ) -> str:
        """Return the differences, or the error of the folder.

        Only errors of Macaw itself show a traceback.
        """
        from macaw.isa.errors import MacawError

        error = excinfo.value
        if isinstance(error, GoldenDiffersError):
            return f"{self.path.parent} differs from what was recorded:\n{error}"
        if isinstance(error, MacawError):
            hint = f"\nhint: {error.hint}" if error.hint else ""
            return f"{error.message}{hint}"
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, f"golden: {self.path.parent.name}"


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> GoldenFile | None:
    """Return a collector for a golden.toml, and None for other files."""
    if file_path.name == DESCRIPTION_FILE:
        return GoldenFile.from_parent(parent, path=file_path)
    return None
