"""The debugger's front ends use only the public session: no private name, no module below it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from docs.trees import tree_of
from tests.contract import imports

FRONT_ENDS = (
    "macaw.debugger.commands", "macaw.debugger.screen", "macaw.debugger.views",
    "macaw.debugger.gdb", "macaw.debugger.dap", "macaw.debugger.frame_builder", "macaw.debugger.both_runs",
    "macaw.debugger.heat_map", "macaw.debugger.code_part", "macaw.debugging", "macaw.commands.debug", "macaw.notebook.device",
    "macaw.notebook.heat", "macaw.notebook.session",
)  # fmt: skip
# What they may import of the debugger's room beside one another: the session, records, values.
PUBLIC = {
    "session": "the session",
    "stops": "records of stops", "history": "positions and checkpoints", "point": "points",
    "user_values": "values that commands keep", "dprintf": "formats of texts",
    "places": "places", "events": "events by name", "counters": "counters by name",
    "expressions": "errors of expressions", "locations": "errors and pieces of code",
    "values": "types and errors of values", "state_paths": "names of members",
    "causes": "", "causes.record": "the error", "causes.finder": "the record of a cause",
    "causes.place_names": "names of state",
    "causes.cause_text": "causes as text", "causes.stalls": "waits as text",
    "causes.against": "the way back to a first difference", "causes.against_text": "it as text",
    "causes.references": "arrays to compare with", "comparison.first_difference": "of two sessions",
    "comparison.paired_causes": "of two sessions", "comparison.subjects": "what is compared",
    "comparison.observations": "the record of what differs",
    "instruction_texts": "instructions as text", "where": "places in the source",
    "line_costs": "the record of what lines cost",
    "moments": "past states for a timeline", "register_numbers": "registers as numbers",
    "frame": "what the screen shows", "layout": "the user's choice of panels",
}  # fmt: skip


def is_front_end(module: str) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in FRONT_ENDS)


def private_names(tree: ast.Module) -> Iterator[str]:
    """The private attributes that code reads from objects other than `self`."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or not node.attr.startswith("_"):
            continue
        own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
        if not own and not node.attr.startswith("__"):
            yield ast.unparse(node)


MODULES = sorted(filter(is_front_end, imports.modules()))


@pytest.mark.parametrize("module", MODULES)
def test_a_front_end_imports_the_session_and_records_alone(module):
    room = "macaw.debugger."
    found = {
        name.removeprefix(room)
        for name in imports.graph()[module]
        if name.startswith(room) and not is_front_end(name)
    }
    assert found <= set(PUBLIC)


@pytest.mark.parametrize("module", MODULES)
def test_a_front_end_uses_no_private_name(module):
    assert list(private_names(tree_of(imports.modules()[module]))) == []


def test_every_public_module_is_there_and_private_names_are_found():
    assert {f"macaw.debugger.{name}" for name in PUBLIC} <= set(imports.modules())
    tree = ast.parse("session._runner.step()\nself._own()\nx.__class__\nsession.read('y')")
    assert list(private_names(tree)) == ["session._runner"]
