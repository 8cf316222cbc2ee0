"""The tensors that a row's packets name: their slots in the row's unit, and copies to the slots."""

from __future__ import annotations

from collections.abc import Sequence

from macaw.asm.core_part import Transfer
from macaw.asm.forms.pe.image import RowImage
from macaw.asm.forms.pe.packets import Config, Exe
from macaw.asm.object_symbols import address_of
from macaw.asm.symbols import Definition
from macaw.asm.syntax import Mistake
from macaw.isa.pe import SLOT_ALIGN


class Tensors:
    """The tensors that a row's packets name.

    A tensor that is declared outside of the row's unit gets a slot: room for a copy in the unit.
    """

    def __init__(self, image: RowImage, exes: Sequence[Exe], configs: Sequence[Config]) -> None:
        self._image = image
        self._exes, self._configs = exes, configs
        self._slots = image.state.tensor_slots

    def give_slots(self) -> None:
        """Give a slot to each tensor that a packet names and that is not declared in the unit.

        The method is called after all sources are read.
        """
        packets: list[Config | Exe] = [*self._exes, *self._configs]
        for packet in packets:
            with self._image.state.report.catching(packet.context.line):
                for tensor in packet.tensors():
                    self._give_slot(tensor, packet)

    def _give_slot(self, tensor: Definition, packet: Config | Exe) -> None:
        index, area = self._image.index, self._image.slots
        if self._slots.lies_in(tensor, index) or tensor in self._slots.copies(index):
            return
        assert tensor.datum is not None
        half = self._image.plan.limit
        if area.size + tensor.datum.size > half:
            raise Mistake(
                f"'{tensor.name}' of {tensor.datum.size} bytes does not fit half of a unit,"
                f" {half} bytes (mem.unit_half_bytes)",
                packet.place_of(tensor.name),
            )
        area.align_to(SLOT_ALIGN)
        self._slots.add(tensor, index, area, area.size)
        area.grow(tensor.datum.size)

    def copies(self, rows: Sequence[Tensors]) -> tuple[list[Transfer], list[Transfer]]:
        """Return the copies into the unit (before the lists run) and out of it (afterwards).

        The copies into the unit are the image of the row and the inputs in slots. `rows` are the
        tensors of all rows, in the order of their parts. If two rows write the same bytes, report
        an error.
        """
        image, plan = self._image, self._image.plan
        loads = [Transfer(image.base, plan.areas[0].load_base, plan.size)] if plan.size else []
        stores: list[Transfer] = []
        for tensor in self._slots.copies(image.index):
            inside, outside = self._slots.address(tensor, image.index), address_of(tensor)
            assert inside is not None
            assert tensor.datum is not None
            if image.state.symbols.direction(tensor) == "input":
                loads.append(Transfer(inside, outside, tensor.datum.size))
                continue
            low, high = self._written(tensor, rows)
            if high > low:
                stores.append(Transfer(outside + low, inside + low, high - low))
        for tensor in {exe.target for exe in self._exes if exe.target is not None}:
            if self._slots.lies_in(tensor, image.index):
                self._written(tensor, rows)  # reports another row that writes it, too
        return loads, stores

    def _written(self, tensor: Definition, rows: Sequence[Tensors]) -> tuple[int, int]:
        """Return the range (first, end) of bytes of the output `tensor` that this row copies out.

        If this row does not write the output, the range is empty. If no other row of `rows` writes
        the output, the range has all its bytes. If two rows write the same bytes, the method
        reports an error.
        """
        others = [row for row in rows if row is not self and row.writes(tensor)]
        if not self.writes(tensor):
            return 0, 0
        assert tensor.datum is not None
        if not others:
            return 0, tensor.datum.size
        low, high = self._range(tensor)
        for other in others:
            other_low, other_high = other._range(tensor)
            # If two rows write the same bytes, the error is at the later one.
            if rows.index(other) < rows.index(self) and low < other_high and other_low < high:
                exe = next(exe for exe in self._exes if exe.target is tensor)
                self._image.state.report.mistake(
                    exe.context.line,
                    Mistake(
                        f"rows {self._image.index} and {other._image.index} both write"
                        f" '{tensor.name}', bytes {max(low, other_low)} to {min(high, other_high)}",
                        exe.place_of(tensor.name),
                        "write different parts, or copy them back in a cp part of your own",
                    ),
                )
        return low, high

    def writes(self, tensor: Definition) -> bool:
        """Return whether an exe packet of this row writes to the tensor."""
        return any(exe.target is tensor for exe in self._exes)

    def _range(self, tensor: Definition) -> tuple[int, int]:
        ranges = [exe.written_range for exe in self._exes if exe.target is tensor]
        written = [(low, high) for low, high in ranges if low < high] or [(0, 0)]
        return min(low for low, _ in written), max(high for _, high in written)
