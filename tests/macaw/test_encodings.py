"""Output on terminals and pipes whose encoding has few characters, such as ASCII."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from unittest import mock

import onnx
import pytest

from macaw.terminal.substitutes import SUBSTITUTES, accept_all_text
from tests.lowering.net.models import ModelBuilder
from tests.macaw.command_runs import run_apart


@pytest.mark.once
@pytest.mark.parametrize("encoding", ["ascii", "cp437"])
def test_a_table_is_shown_in_any_encoding(encoding: str, tmp_path: Path) -> None:
    builder = ModelBuilder(0, (1, 2, 5, 5))
    builder.conv("depth", 2, 3, stride=2, group=2)
    onnx.save(builder.model(), tmp_path / "m.onnx")
    words = ["estimate", "m.onnx", "--device", "tiny"]
    done = run_apart(words, tmp_path, {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"})
    assert (done.returncode, done.stderr) == (0, "")
    assert "depthwise 3x3/2x2" in done.stdout


def test_a_sign_without_a_substitute_is_a_question_mark() -> None:
    written = io.BytesIO()
    stream = io.TextIOWrapper(written, "ascii")
    with mock.patch.object(sys, "stdout", stream):
        accept_all_text()
        print("a × 漢 \udc80", flush=True)
    assert written.getvalue() == b"a x ? ?\n"


def test_substitutes_are_ascii() -> None:
    assert all(text.isascii() for text in SUBSTITUTES.values())
