"""Where tensors are in the memory of a part: declared there, or copied into a slot."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from macaw.asm.layout import Area
from macaw.asm.object_symbols import address_of
from macaw.asm.symbols import Definition
from macaw.isa.lazy_dataclass import dataclass


@dataclass(eq=False)
class TensorSlots:
    """The positions of tensors in the memories of parts, by the index of the part.

    `sections` has the name of the section for tensors that are declared in a part's memory. Other
    tensors that the part uses get copies in that memory.
    """

    sections: dict[int, str] = field(default_factory=dict)
    _copies: dict[int, dict[Definition, tuple[Area, int]]] = field(default_factory=dict)

    def lies_in(self, tensor: Definition, index: int) -> bool:
        """Return whether a tensor is declared in the memory of part `index`.

        Then it needs no copy there.
        """
        area = tensor.area
        return area is not None and area.section == self.sections.get(index)

    def add(self, tensor: Definition, index: int, area: Area, offset: int) -> None:
        """Record that the copy of a tensor for part `index` is at `offset` of `area`."""
        self._copies.setdefault(index, {})[tensor] = area, offset

    def copies(self, index: int) -> list[Definition]:
        """Return the tensors that have a copy in part `index`, in the order of calls of `add`."""
        return list(self._copies.get(index, ()))

    def addresses(self, tensors: Iterable[Definition]) -> dict[tuple[str, int], int]:
        """Return the addresses of tensors in the memories of parts, by (name, index of the part).

        Valid after the layout.
        """
        indices = {*self.sections, *self._copies}
        found = {
            (tensor.name, index): self.address(tensor, index)
            for tensor in tensors
            for index in sorted(indices)
        }
        return {key: address for key, address in found.items() if address is not None}

    def address(self, tensor: Definition, index: int) -> int | None:
        """Return the address of a tensor in the memory of part `index`; None if it is not there.

        Valid after the layout.
        """
        if self.lies_in(tensor, index):
            return address_of(tensor)
        return self._copy_address(tensor, index)

    def copy_addresses(self, tensor: Definition) -> list[int]:
        """Return the addresses of all copies of a tensor. Valid after the layout."""
        found = (self._copy_address(tensor, index) for index in sorted(self._copies))
        return [address for address in found if address is not None]

    def _copy_address(self, tensor: Definition, index: int) -> int | None:
        copy = self._copies.get(index, {}).get(tensor)
        if copy is None or copy[0].base is None:
            return None
        return copy[0].base + copy[1]
