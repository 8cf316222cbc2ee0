"""docs/notebook.ipynb: its cells give the outputs that it shows."""

from __future__ import annotations

import json
import re

import pytest

from docs.notebook import NOTEBOOK, executed, outputs

NOTED = json.loads(NOTEBOOK.read_text("utf-8"))


@pytest.mark.once
def test_the_outputs_are_those_of_a_run_now() -> None:
    reason = "needs the extra notebook, which `make setup` installs for one Python"
    pytest.importorskip("nbclient", reason=reason)
    pytest.importorskip("ipykernel", reason=reason)
    assert outputs(executed()) == outputs(NOTED)


def test_every_kind_of_object_is_shown() -> None:
    titles = {
        title
        for cell in outputs(NOTED)
        for output in cell
        for title in re.findall(r"<h4>(\w+)", output.get("data", {}).get("text/html", ""))
    }
    assert titles == {"Device", "Profile", "Program", "Run", "Session"}


def test_an_error_has_no_traceback() -> None:
    errors = [
        output for cell in outputs(NOTED) for output in cell if output["output_type"] == "error"
    ]
    (error,) = errors
    assert error["ename"] == "AssemblyError"
    assert "In[" in error["traceback"]
    assert "Traceback" not in error["traceback"]


def test_the_pages_lines_are_not_too_long() -> None:
    sources = ["".join(cell["source"]) for cell in NOTED["cells"]]
    assert max(len(line) for source in sources for line in source.splitlines()) <= 120
