"""Writes a sweep as one self-contained HTML page with plots and a table.

`page/sweep.html` is the template with style and script. This module makes the data.
"""

from __future__ import annotations

import html
from importlib.resources import files
from typing import Any

from macaw.html_pages import fill, script_data
from macaw.sweeps.results import Sweep


def page(sweep: Sweep) -> str:
    """Return the HTML page that shows a sweep. The caller must write the text in UTF-8."""
    return fill(
        _page_file("sweep.html"),
        {
            "title": html.escape(f"{sweep.subject}: sweep"),
            "style": _page_file("sweep.css"),
            "script": _page_file("sweep.js"),
            "data": script_data(_page_data(sweep)),
        },
    )


def _page_file(name: str) -> str:
    return files("macaw.sweeps").joinpath("page", name).read_text("utf-8")


def _page_data(sweep: Sweep) -> dict[str, Any]:
    """Return the data of a sweep for the script of the page.

    The data are columns of settings and metrics, and the refused points with their reasons.
    """
    return {
        "subject": sweep.subject,
        "settings": list(sweep.settings),
        "metrics": list(sweep.metrics),
        "columns": sweep.to_dict(),
        "refused": [[row.point.name, row.refused] for row in sweep.outcomes if row.refused],
    }
