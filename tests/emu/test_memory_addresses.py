"""`address` gives the address of an element of a memory; `locate` finds the element again."""

from __future__ import annotations

import pytest

from macaw.emu.device import Device
from macaw.emu.pages import Pages
from macaw.isa import config


@pytest.mark.parametrize("name", ["tiny", "base"])
def test_an_address_leads_back_to_its_memory_and_offset(name: str) -> None:
    memory = Device(config.load(name)).memory
    rows = [
        row for row in memory.state.fields if isinstance(getattr(memory.state, row.name), Pages)
    ]
    assert len(rows) > 2 + len(memory.halves)
    for row in rows:
        pages = getattr(memory.state, row.name)
        for offset in (0, 1, pages.size // 2, pages.size - 1):
            found, at = memory.locate(memory.address(row.name, offset), 1, "test")
            assert found is pages, row.name
            assert at == offset
