"""Finds the addresses that pairs of scalar instructions compute, such as `lui` and `addi`."""

from __future__ import annotations

from macaw.asm.disassembly.forms import PartPrinter
from macaw.isa.codec import Decoded

_TOP = 1 << 32


class ScalarPrinter(PartPrinter):
    """Tracks the value of a `lui` or `auipc` up to the instruction that completes the address.

    A branch, a jump or a label ends the tracking.
    """

    begins = frozenset(("lui", "auipc"))

    def __init__(self) -> None:
        self._known: dict[int, int] = {}  # the value of a register
        self.begun = self._known

    def forget(self) -> None:
        self._known.clear()

    def target_of(self, instruction: Decoded, address: int) -> int | None:
        values, mnemonic = instruction.values, instruction.row.mnemonic
        base = self._known.get(values.get("rs1", 0))
        whole = None
        if base is not None and "imm" in values:
            whole = (base + values["imm"]) % _TOP
        if "rd" in values:
            self._known.pop(values["rd"], None)
            if mnemonic in self.begins and values["rd"]:
                start = address if mnemonic == "auipc" else 0
                self._known[values["rd"]] = (start + (values["imm"] << 12)) % _TOP
        if instruction.row.flow:
            self.forget()
        return whole


PRINTER = ScalarPrinter
