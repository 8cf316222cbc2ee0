"""A pytest plugin that collects golden folders: each golden.toml is one test.

pytest loads this module through the entry point of the package, so a user's tests need no code. The
module imports nothing else of Macaw until pytest finds a golden.toml. With `--macaw-update` the
tests record their current results.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

DESCRIPTION_FILE = "golden.toml"
RECORDED = "macaw_recorded"  # the name of a test's property: lines that say what changed


class GoldenDiffersError(AssertionError):
    """The results of a program differ from its recording or its references."""


class GoldenFile(pytest.File):
    """The collector of a golden.toml, which is one test."""

    def collect(self) -> Iterator[GoldenItem]:
        yield GoldenItem.from_parent(self, name="golden")


class GoldenItem(pytest.Item):
    """The test of a golden folder: it runs the program and compares the results.

    The results are compared with the recording in `expected/` and with the test's references.
    """

    def runtest(self) -> None:
        from macaw import golden_tests

        update = bool(self.config.getoption("macaw_update"))
        found = golden_tests.check(self.path.parent, update=update)
        if update and found.recording:
            self.user_properties.append((RECORDED, "\n".join(found.recording)))
        differences = (*(() if update else found.recording), *found.references)
        if differences:
            raise GoldenDiffersError("\n".join(differences))

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: str | None = None
    ) -> str:
        """Return the differences, or the error that the folder causes, as text.

        Only mistakes in Macaw itself have a traceback.
        """
        from macaw.isa.errors import MacawError

        error = excinfo.value
        if isinstance(error, GoldenDiffersError):
            return f"{self.path.parent} differs:\n{error}"
        if isinstance(error, MacawError):
            hint = f"\nhint: {error.hint}" if error.hint else ""
            return f"{error.message}{hint}"
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, f"golden: {self.path.parent.name}"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option `--macaw-update`."""
    parser.getgroup("macaw").addoption(
        "--macaw-update",
        action="store_true",
        help="record the current results of golden tests, as `macaw test --update` does",
    )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the golden tests that were recorded, and the changes in them."""
    lines = [
        (report.nodeid, str(text).splitlines())
        for reports in terminalreporter.stats.values()
        for report in reports
        if isinstance(report, pytest.TestReport) and report.when == "call"
        for name, text in report.user_properties
        if name == RECORDED
    ]
    if lines:
        terminalreporter.section("golden tests recorded")
    for test, changes in lines:
        terminalreporter.line(test)
        for change in changes:
            terminalreporter.line(f"  {change}")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> GoldenFile | None:
    """Return a collector for a golden.toml, and None for other files."""
    if file_path.name == DESCRIPTION_FILE:
        return GoldenFile.from_parent(parent, path=file_path)
    return None
