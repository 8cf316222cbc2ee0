"""Tensors that a row's packets name: places in its unit, and what is copied there and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from macaw.asm.expressions import Address
from macaw.asm.forms import Transfer
from macaw.asm.layout import Area
from macaw.asm.output import address_of
from macaw.asm.symbols import Definition
from macaw.asm.syntax import Mistake
from macaw.isa.pe import SLOT_ALIGN

if TYPE_CHECKING:
    from macaw.asm.forms.pe import CoreForm
    from macaw.asm.forms.pe.packets import Exe


class Tensors:
    """The tensors of a row's part; those that lie elsewhere get places in `area`, their slots."""

    def __init__(self, form: CoreForm, area: Area) -> None:
        self.form, self.area = form, area
        self._offsets: dict[Definition, int] = {}

    def give_slots(self) -> None:
        """Slots for what the exes name, when all sources are read."""
        for exe in self.form.exes:
            with self.form.assembly.reporting(exe.site.line):
                for found in exe.tensors():
                    self._give_slot(found, exe)

    def _is_home(self, found: Definition) -> bool:
        """Whether a tensor lies in this row's unit, and needs no copy there."""
        value = found.value
        return (
            isinstance(value, Address)
            and isinstance(value.area, Area)
            and value.area.section == self.form.home
        )

    def _give_slot(self, found: Definition, exe: Exe) -> None:
        if found in self._offsets or self._is_home(found):
            return
        assert found.datum is not None
        half = self.form.plan().limit
        if self.area.size + found.datum.size > half:
            raise Mistake(
                f"'{found.name}' of {found.datum.size} bytes does not fit half of a unit,"
                f" {half} bytes (mem.unit_half_bytes)",
                exe.place_of(found.name),
            )
        self.area.align_to(SLOT_ALIGN)
        self._offsets[found] = self.area.size
        self.area.grow(found.datum.size)

    def slot(self, found: Definition) -> int | None:
        """The address of a tensor in the unit; None if the row does not name it."""
        if self._is_home(found):
            return address_of(found)
        offset = self._offsets.get(found)
        if offset is None or self.area.base is None:
            return None
        return self.area.base + offset

    def copies(self) -> tuple[list[Transfer], list[Transfer]]:
        """What comes into the unit before the lists run, and what goes back afterwards."""
        form, plan = self.form, self.form.plan()
        loads = [Transfer(form.base, plan.areas[0].load_base, plan.size)] if plan.size else []
        stores: list[Transfer] = []
        for found in self._offsets:
            inside, outside = self.slot(found), address_of(found)
            assert inside is not None
            assert found.datum is not None
            if form.assembly.names.direction(found) == "input":
                loads.append(Transfer(inside, outside, found.datum.size))
                continue
            low, high = self._written(found)
            if high > low:
                stores.append(Transfer(outside + low, inside + low, high - low))
        for found in {exe.target for exe in form.exes if exe.target is not None}:
            if self._is_home(found):
                self._written(found)  # in its place, but another row may write it too
        return loads, stores

    def _written(self, found: Definition) -> tuple[int, int]:
        """The bytes of an output that this row has to copy back; all if it is the only one."""
        form = self.form
        parts = [part for part in form.assembly.parts if isinstance(part, type(form))]
        others = [part for part in parts if part is not form and part.tensors.writes(found)]
        if not self.writes(found):
            return 0, 0
        assert found.datum is not None
        if not others:
            return 0, found.datum.size
        low, high = self._range(found)
        for other in others:
            other_low, other_high = other.tensors._range(found)
            # Of two parts the later one is at fault.
            if parts.index(other) < parts.index(form) and low < other_high and other_low < high:
                exe = next(exe for exe in form.exes if exe.target is found)
                form.assembly.report.mistake(
                    exe.site.line,
                    Mistake(
                        f"rows {form.index} and {other.index} both write"
                        f" '{found.name}', bytes {max(low, other_low)} to {min(high, other_high)}",
                        exe.place_of(found.name),
                        "write different parts, or copy them back in a cp part of your own",
                    ),
                )
        return low, high

    def writes(self, found: Definition) -> bool:
        """Whether an exe of this row writes to the tensor."""
        return any(exe.target is found for exe in self.form.exes)

    def _range(self, found: Definition) -> tuple[int, int]:
        ranges = [exe.written for exe in self.form.exes if exe.target is found]
        return min(low for low, _ in ranges), max(high for _, high in ranges)
