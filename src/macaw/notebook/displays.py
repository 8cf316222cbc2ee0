"""Chooses the function that shows an object of Macaw in a notebook.

`macaw/__init__.py` adds a method `_repr_html_`, which calls `html`, to the classes that this module
names. So the modules of these classes do not depend on the notebook package.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from macaw.asm.program import Program
from macaw.debugger.session import Session
from macaw.emu.device import Device
from macaw.execution import Run
from macaw.notebook.annotation import annotation_html
from macaw.notebook.device import device_html
from macaw.notebook.profile import profile_html
from macaw.notebook.program import program_html
from macaw.notebook.run import run_html
from macaw.notebook.session import session_html
from macaw.notebook.sweep import sweep_html
from macaw.profiling.annotation import Annotation
from macaw.profiling.model import Profile
from macaw.sweeps.results import Sweep

_DISPLAYS: dict[type, Callable[[Any], str]] = {
    Annotation: annotation_html,
    Device: device_html,
    Profile: profile_html,
    Program: program_html,
    Run: run_html,
    Session: session_html,
    Sweep: sweep_html,
}


def html(item: object) -> str | None:
    """Return the HTML of an object of Macaw that notebooks show; None for another object.

    The HTML needs no other files. If the result is None, the notebook shows the `repr`.
    """
    for kind, display in _DISPLAYS.items():
        if isinstance(item, kind):
            return display(item)
    return None
