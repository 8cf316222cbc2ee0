"""The names of the warnings, for `-W` and `-Wno-NAME`, and what each warns of."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from macaw.asm.diagnostics import ERROR, WARNING, Diagnostic, did_you_mean
from macaw.isa.errors import MacawError

# fmt: off
WARNINGS = {
    "alignment":        "an instruction at an address that no instruction can have",
    "buffer":           "an instruction buffer that is empty, or triggers itself without end",
    "device":           "settings of a source that --device replaces",
    "fill-value":       "a value of .fill of which bits are lost",
    "hint":             "a hint that no tool knows",
    "input-results":    "results that go to an input and are lost",
    "macro":            "a parameter or a name of a macro that has no effect",
    "overlap":          "results of PEs that overwrite each other",
    "register-group":   "a register group of a trace that is recorded twice",
    "shift":            "a shift by 64 or more, or by less than 0",
    "unused-label":     "a label that nothing uses",
    "unused-memory":    "a tensor in the memory of a core that has no part",
    "unwritten-output": "an output that nothing writes",
    "user":             "what .warning says",
    "window":           "a sliding window without a size",
}
# fmt: on


class WarningNameError(MacawError, ValueError):
    """No warning has the name; the message says which there are."""


def check_name(name: str) -> None:
    """Raise `WarningNameError` unless a warning has this name."""
    if name not in WARNINGS:
        hint = did_you_mean(name, WARNINGS) or "there are " + ", ".join(WARNINGS)
        raise WarningNameError(f"no warning is called '{name}'; {hint}")


def chosen(diagnostics: Sequence[Diagnostic], silent: Collection[str]) -> list[Diagnostic]:
    """Return the diagnostics without the warnings whose names are in `silent`."""
    return [x for x in diagnostics if x.severity != WARNING or x.name not in silent]


def as_errors(diagnostics: Sequence[Diagnostic], names: Collection[str]) -> list[Diagnostic]:
    """Return the warnings of these names as errors, the rest as it is."""
    return [
        Diagnostic(ERROR, f"{x.message} [-Werror]", x.span, x.hint, x.chain, x.source, x.name)
        if x.severity == WARNING and x.name in names
        else x
        for x in diagnostics
    ]
