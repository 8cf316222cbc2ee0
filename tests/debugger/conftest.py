"""A fixture for tests of the server for editors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.debugger.dap_client import Client, serving


@pytest.fixture
def client() -> Iterator[Client]:
    with serving() as run:
        yield run


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """A function that writes a source and returns its path."""

    def put(text: str, name: str = "a.s") -> Path:
        path = tmp_path / name
        path.write_text(text, "utf-8")
        return path

    return put
