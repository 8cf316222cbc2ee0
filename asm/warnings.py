"""The names of the warnings, for `-W` and `-Wno-NAME`, and the meaning of each."""

from __future__ import annotations

from collections.abc import Iterable

from macaw.asm.diagnostics import ERROR, WARNING, Diagnostic, did_you_mean
from macaw.isa.errors import MacawError
from macaw.isa.lazy_dataclass import dataclass

# fmt: off
WARNINGS = {
    "alignment":        "an instruction at an address that no instruction can have",
    "buffer":           "an instruction buffer that is empty, or triggers itself without end",
    "device":           "settings of a source that --device replaces",
    "fill-value":       "a value of .fill of which bits are lost",
    "hint":             "a hint that no tool uses",
    "input-results":    "results that go to an input and are lost",
    "macro":            "a parameter or a name of a macro that has no effect",
    "overlap":          "results of PEs that overwrite each other",
    "register-group":   "a register group of a trace that is recorded twice",
    "rz-slot":          "a slice of Rz that is moved, but that dot products did not fill",
    "shift":            "a shift by 64 or more, or by less than 0",
    "unused-label":     "a label that nothing uses",
    "unused-memory":    "a tensor in the memory of a core that has no part",
    "unwritten-output": "an output that nothing writes",
    "user":             "what .warning says",
    "window":           "a sliding window without a size",
}
# fmt: on


@dataclass(frozen=True)
class WarningChoice:
    """The names of the warnings that are not reported, and of the warnings that become errors."""

    silent: frozenset[str]
    errors: frozenset[str]


class WarningNameError(MacawError, ValueError):
    """The error for an unknown name of a warning.

    The message suggests a similar name or, if there is none, lists the names that exist.
    """


def check_name(name: str) -> None:
    """Raise `WarningNameError` unless a warning has this name."""
    if name not in WARNINGS:
        hint = did_you_mean(name, WARNINGS) or "there are " + ", ".join(WARNINGS)
        raise WarningNameError(f"no warning is called '{name}'; {hint}")


def choice_of(words: Iterable[str]) -> WarningChoice:
    """Return the choice of warnings that `words`, the values of -W options, describe.

    Of `NAME` and `no-NAME`, the later one counts. `no-NAME` has priority over `error` and
    `error=NAME`. Raises `WarningNameError`.
    """
    silent: set[str] = set()
    errors: set[str] = set()
    for word in words:
        if word == "error":
            errors.update(WARNINGS)
            continue
        is_error = word.startswith("error=")
        name = word.removeprefix("error=" if is_error else "no-")
        check_name(name)
        if is_error:
            errors.add(name)
        elif word.startswith("no-"):
            silent.add(name)
        else:
            silent.discard(name)
    return WarningChoice(frozenset(silent), frozenset(errors))


def apply(choice: WarningChoice | None, diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return the diagnostics without the warnings in `choice.silent`.

    The warnings in `choice.errors` become errors.
    """
    if choice is None:
        return list(diagnostics)
    return [
        Diagnostic(
            ERROR, f"{x.message} [-Werror={x.name}]", x.span, x.hint, x.chain, x.source, x.name
        )
        if x.severity == WARNING and x.name in choice.errors
        else x
        for x in diagnostics
        if x.severity != WARNING or x.name not in choice.silent
    ]
