"""The table of causes in docs/profile.md, from `macaw.isa.causes` and `macaw.isa.advice`."""

from __future__ import annotations

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
    """Return a row for each cause, with a dash before those below another one."""
    from macaw.isa.advice import BY_CAUSE, WITHOUT_ADVICE
    from macaw.isa.causes import CAUSES

    last = "cores with advice, or why there is none"
    rows = [f"| cause | the cycles in which | {last} |", "|---|---|---|"]
    for cause in CAUSES:
        dash = "– " if cause.parent else ""
        advice = BY_CAUSE.get(cause.name)
        last = ", ".join(advice.cores) if advice else WITHOUT_ADVICE.get(cause.name, "")
        rows.append(f"| {dash}`{cause.name}` | {cause.meaning} | {last} |")
    return "\n" + "\n".join(rows) + "\n\n"
