"""The simulator has an implementation for each row of the PE array's table, and no other one."""

from __future__ import annotations

from macaw.emu.pe import operands
from macaw.emu.pe.commands import COMMANDS as RULES
from macaw.emu.pe.delivery import DELIVERIES
from macaw.emu.pe.expansion import Expansion
from macaw.emu.pe.sequence import UNIT_OF
from macaw.isa.pe import COMMANDS, INSTRUCTIONS, PAYLOADS


def test_every_command_has_its_meaning():
    """Each command of the table is implemented (seed 000 ¶105, ¶113)."""
    assert list(PAYLOADS) == [row.mnemonic for row in COMMANDS]
    assert sorted(RULES) == sorted(DELIVERIES) == sorted(row.mnemonic for row in COMMANDS)


def test_every_instruction_has_its_meaning():
    """Each instruction of the table is implemented (seed 000 ¶113, ¶118-121)."""
    assert sorted(UNIT_OF) == sorted(row.mnemonic for row in INSTRUCTIONS)
    for row in INSTRUCTIONS:
        assert callable(operands.meaning(row))
        assert callable(getattr(Expansion, row.mnemonic))
