"""gdb's writes to memory become debugger commands, if a limited number of commands suffices."""

from __future__ import annotations

from macaw.debugger.raw_state import MOST_COMMANDS, memory_commands

BASE = 0x8000_0000


def test_a_command_writes_a_word_where_it_can() -> None:
    assert len(memory_commands(BASE, bytes(4 * MOST_COMMANDS))) == MOST_COMMANDS
    assert len(memory_commands(BASE + 1, bytes(4 * 8))) == 2 + 7 + 1  # byte, half; words; byte


def test_a_change_that_needs_too_many_commands_has_none() -> None:
    assert memory_commands(BASE, bytes(4 * MOST_COMMANDS + 1)) == ()
    assert memory_commands(BASE, bytes(1 << 20)) == ()
