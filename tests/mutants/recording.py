"""A pytest plugin that records which lines of the product each test executes, and for how long.

`python -m tests.mutants --map` loads it in the copy of the tree. It needs `sys.monitoring` (Python
3.12), with which only the first execution of a line in a test costs time.
"""

from __future__ import annotations

import os
import sys
import time
from array import array
from collections.abc import Generator
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np
import pytest

from tests.mutants.paths import PACKAGE

FILE = "MACAW_MUTANTS_LINES"  # the variable that names the file to write
monitoring: Any = getattr(sys, "monitoring", None)
COLLECTION = ""  # the name of what runs before the first test: modules are loaded


class Recorder:
    """Collects for each test the lines that it executes."""

    def __init__(self, root: Path) -> None:
        self.product = f"{root}{os.sep}{PACKAGE}{os.sep}"
        self.met: list[tuple[CodeType, int]] = []
        self.numbers: dict[tuple[str, int], int] = {}
        self.ids = array("I")
        self.ends: list[int] = []
        self.tests: list[str] = []
        self.seconds: list[float] = []
        self.failed: set[str] = set()
        monitoring.use_tool_id(monitoring.COVERAGE_ID, "macaw mutants")
        monitoring.register_callback(monitoring.COVERAGE_ID, monitoring.events.LINE, self.line)
        monitoring.set_events(monitoring.COVERAGE_ID, monitoring.events.LINE)

    def line(self, code: CodeType, line: int) -> object:
        if code.co_filename.startswith(self.product):
            self.met.append((code, line))
        return monitoring.DISABLE

    def end(self, test: str, seconds: float) -> None:
        """Assign the lines executed since the last call to `test`."""
        numbers = self.numbers
        places = {(code.co_filename, line) for code, line in self.met}
        self.ids.extend(numbers.setdefault(place, len(numbers)) for place in places)
        self.ends.append(len(self.ids))
        self.tests.append(test)
        self.seconds.append(seconds)
        self.met = []
        monitoring.restart_events()

    def pytest_collection_finish(self) -> None:
        self.end(COLLECTION, 0)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        start = time.process_time()
        try:
            return (yield)
        finally:
            self.end(item.nodeid, time.process_time() - start)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self.failed.add(report.nodeid)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        monitoring.set_events(monitoring.COVERAGE_ID, 0)
        root = session.config.rootpath
        np.savez_compressed(
            os.environ[FILE],
            ids=np.array(self.ids, np.uint32),
            ends=np.array(self.ends, np.int64),
            tests=np.array(self.tests),
            seconds=np.array(self.seconds),
            passed=np.array([test not in self.failed for test in self.tests]),
            files=np.array([str(Path(file).relative_to(root)) for file, _ in self.numbers]),
            lines=np.array([line for _, line in self.numbers], np.int64),
        )


def pytest_configure(config: pytest.Config) -> None:
    """Start recording."""
    config.pluginmanager.register(Recorder(config.rootpath), "mutants-recorder")
