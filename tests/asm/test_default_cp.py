"""The default program of cp executes the commands that the layout appends to it."""

from __future__ import annotations

import re
from importlib.resources import files

from macaw.asm.forms.cp import Command


def test_the_walk_compares_with_the_numbers_of_the_commands():
    text = (files("macaw.asm.forms") / "default_cp.s").read_text("utf-8")
    found = re.findall(r"li +t1, (\d+)\n +beq +t0, t1, default\.(\w+)\n", text)
    found += [("0", name) for name in re.findall(r"beq .*\ndefault\.(\w+):", text)]  # falls through
    assert {name: int(number) for number, name in found} == {
        command.name.lower(): command.value for command in Command
    }
