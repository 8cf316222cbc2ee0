"""The table of causes in docs/profile.md, from `macaw.isa.causes` and `macaw.isa.advice`."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

PAGE = Path(__file__).parent / "profile.md"
BEGIN, END = "<!-- causes: by make docs -->\n", "<!-- end of causes -->\n"


def page() -> str:
    """Return docs/profile.md with the present table of causes. Raises `ValueError`."""
    before, begin, rest = PAGE.read_text("utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"{PAGE} has no place for the table of causes")
    return before + begin + table() + end + after


def table() -> str:
    """Return a row for each cause, with a dash before causes that are a part of another cause."""
    from macaw.isa.advice import BY_CAUSE, WITHOUT_ADVICE
    from macaw.isa.causes import CAUSES

    cores = mendable()
    last = "cores with advice, or why there is none"
    rows = [f"| cause | what happened in these cycles | {last} |", "|---|---|---|"]
    for cause in CAUSES:
        dash = "– " if cause.parent else ""
        last = WITHOUT_ADVICE.get(cause.name, "")
        if cause.name in BY_CAUSE:
            last = ", ".join(core for core, causes in cores.items() if cause.name in causes)
        rows.append(f"| {dash}`{cause.name}` | {cause.meaning} | {last} |")
    return "\n" + "\n".join(rows) + "\n\n"


def mendable() -> dict[str, tuple[str, ...]]:
    """Return the causes by core whose advice other programs of the core follow."""
    from macaw.emu.accountant import Accountant
    from macaw.isa import registry

    found = {}
    for name in registry.names():
        path = f"macaw.emu.{registry.module(name)}.accountant"
        if find_spec(path) is None:
            continue
        module = import_module(path)
        classes = [
            item
            for item in vars(module).values()
            if isinstance(item, type) and issubclass(item, Accountant)
        ]
        found[name] = max(classes, key=lambda item: len(item.mro())).mendable
    return found
