"""Writes the page of the Python API, which Sphinx fills with signatures and docstrings."""

from __future__ import annotations

import inspect

import macaw

_TITLE = "Python API"
_ABOUT = """\
`import macaw` brings all of these names. The command line has the same functions; `cli` describes
both with examples.
"""


def reference() -> str:
    """Return the page as reStructuredText: functions, classes, and errors, by name."""
    names = [name for name in macaw.__all__ if not name.startswith("_")]
    things = {name: getattr(macaw, name) for name in names}
    errors = [n for n, x in things.items() if inspect.isclass(x) and issubclass(x, Exception)]
    classes = [n for n, x in things.items() if inspect.isclass(x) and n not in errors]
    functions = [n for n in names if n not in errors and n not in classes]
    blocks = [_heading(_TITLE, "="), _ABOUT.replace("`cli`", ":doc:`cli`")]
    for title, group, directive in (
        ("Functions", functions, "autofunction"),
        ("Classes", classes, "autoclass"),
        ("Errors", errors, "autoexception"),
    ):
        blocks.append(_heading(title, "-"))
        for name in group:
            options = "\n   :members:" if directive == "autoclass" else ""
            blocks.append(f".. {directive}:: macaw.{name}{options}\n")
    return "\n".join(blocks)


def _heading(text: str, line: str) -> str:
    return f"{text}\n{line * len(text)}\n"
