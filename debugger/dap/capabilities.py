"""The capabilities of the adapter, which `initialize` announces."""

from __future__ import annotations

from typing import Any

from macaw.isa import registry
from macaw.isa.common import EVENTS


def exception_filters() -> list[dict[str, Any]]:
    """Return an exception filter for each event of `catch` that a core can have."""
    tables = [registry.core(name) for name in registry.names()]
    events = {row.name: row for row in (*EVENTS, *(x for table in tables for x in table.events))}
    return [
        {
            "filter": event.name, "label": event.name, "description": event.meaning,
            "default": False, "supportsCondition": True,
            "conditionDescription": "an expression that must be true, as s0 == 7",
        }
        for event in events.values()
    ]  # fmt: skip


def capabilities() -> dict[str, Any]:
    """Return the body of the response to `initialize`."""
    names = (
        "ConfigurationDoneRequest", "FunctionBreakpoints", "ConditionalBreakpoints",
        "HitConditionalBreakpoints", "EvaluateForHovers", "StepBack", "SetVariable",
        "SetExpression", "RestartRequest", "GotoTargetsRequest", "CompletionsRequest",
        "ExceptionInfoRequest", "TerminateRequest", "DataBreakpoints", "DataBreakpointBytes",
        "ReadMemoryRequest", "WriteMemoryRequest", "DisassembleRequest",
        "BreakpointLocationsRequest", "ClipboardContext", "SteppingGranularity",
        "InstructionBreakpoints", "ExceptionFilterOptions", "DelayedStackTraceLoading", "LogPoints",
        "LoadedSourcesRequest", "ValueFormattingOptions",
    )  # fmt: skip
    return {
        **{f"supports{name}": True for name in names},
        "completionTriggerCharacters": [".", " "],
        "exceptionBreakpointFilters": exception_filters(),
    }
