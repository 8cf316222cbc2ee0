"""Generated Python is broken into lines that are as long as allowed; the program is the same.

Indents are multiples of four.
"""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from macaw.lowering.concord.line_layout import WIDTH, Group, arguments, bare, lay_out, numbers
from tests.fuzzing import properties

NAMES = st.integers(1, 30).map(lambda count: "x" * count)
GROUPS = st.recursive(
    st.lists(NAMES, min_size=1, max_size=9).map(tuple),
    lambda inner: st.lists(st.one_of(NAMES, inner), min_size=1, max_size=5).map(tuple),
    max_leaves=12,
)


def group_of(items: tuple[object, ...], *, call: bool) -> Group:
    parts = [x if isinstance(x, str) else group_of(x, call=False) for x in items]  # type: ignore[arg-type]
    return Group(tuple(parts), call=call)


@properties
@given(GROUPS, st.booleans(), st.sampled_from([0, 4, 8]))
def test_a_group_over_lines_is_the_same_expression(
    items: tuple[object, ...], call: bool, indent: int
) -> None:
    group = group_of(items, call=call)
    start = " " * indent + ("result = f" if call else "result = ")
    lines = lay_out(start, group, "", indent)
    wanted = ast.dump(ast.parse(f"{start.strip()}{group}"))
    assert ast.dump(ast.parse("\n".join(line[indent:] for line in lines))) == wanted
    assert (len(lines) == 1) == (len(f"{start}{group}") <= WIDTH)
    for line in lines:
        depth = len(line) - len(line.lstrip())
        assert depth % 4 == 0
        assert depth >= indent
        assert len(line) <= WIDTH or "," not in line.strip(" ,")
    if len(lines) > 1:
        assert lines[-1] == " " * indent + ")"
        assert len(lines[1]) - len(lines[1].lstrip()) == indent + 4


def test_arguments_share_a_line_if_they_fit_there() -> None:
    names = [f"argument_{n}" for n in range(7)]
    assert lay_out("def layer", arguments(*names), ":") == [
        "def layer(",
        "    argument_0, argument_1, argument_2, argument_3, argument_4, argument_5, argument_6",
        "):",
    ]
    assert lay_out("def layer", arguments(*names[:6]), ":") == [
        "def layer(argument_0, argument_1, argument_2, argument_3, argument_4, argument_5):"
    ]


@pytest.mark.parametrize("count", [1, 2, 9, 30])
def test_a_tuple_without_brackets(count: int) -> None:
    group = Group(tuple(f"name_{n}" for n in range(count)))
    lines = bare("    return ", group, "", 4)
    code = "\n".join(line.removeprefix("    ") for line in lines)
    wanted = f"return ({', '.join(map(str, group.items))},)"
    assert ast.dump(ast.parse(code)) == ast.dump(ast.parse(wanted))
    assert max(map(len, lines)) <= WIDTH


@properties
@given(st.lists(st.integers(0, 9), min_size=1, max_size=6))
def test_numbers_of_rows_as_a_range_or_a_list(rows: list[int]) -> None:
    assert list(eval(str(numbers(rows)))) == rows
