"""Loads and stores of vc: of general registers, of whole vector registers, of lanes by a stride."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from macaw.emu.address_space import ONCHIP, REGION_SHIFT
from macaw.emu.faults import Fault
from macaw.emu.scalar.semantics import LOADS, MASK, SINK, STORES
from macaw.emu.scalar.state import extended
from macaw.emu.vector.state import FIRST_VECTOR
from macaw.isa.codec import Decoded
from macaw.isa.vector import OPERATIONS
from macaw.isa.vector_layouts import ELEMENTS, VECTOR_BYTES

if TYPE_CHECKING:
    from macaw.emu.vector.processor import Processor


class Accesses:
    """The accesses of one core; each ends by `loaded`, `stored` or `await_port` of it."""

    def __init__(self, core: Processor) -> None:
        self.core = core

    def do(self, found: Decoded) -> None:
        """Do the access. Raises `Fault`, with nothing changed."""
        mnemonic, values = found.row.mnemonic, found.values
        core = self.core
        if mnemonic in OPERATIONS:
            operation = OPERATIONS[mnemonic]
            is_load = operation.name in ("vld", "vlds")
            register = values.get("rs3", values.get("rs2")) if not is_load else values["rd"]
            assert register is not None
            if "imm" not in values:
                self._strided(found, register, is_load, ELEMENTS[operation.element].bits // 8)
                return
            address = core.x[values["rs1"]] + values["imm"] & MASK
            if is_load:
                self._load(address, VECTOR_BYTES, FIRST_VECTOR + register, False)
            else:
                self._store(address, VECTOR_BYTES, int.from_bytes(core.vr[register], "little"))
            return
        address = core.x[values["rs1"]] + values["imm"] & MASK
        if mnemonic in LOADS:
            size, is_signed = LOADS[mnemonic]
            self._load(address, size, values["rd"], is_signed)
        else:
            self._store(address, STORES[mnemonic], core.x[values["rs2"]])

    def _load(self, address: int, size: int, place: int, is_signed: bool) -> None:
        """Load into the register at a place of the scoreboard."""
        core, port = self.core, self.core.port
        before = port.external_blocked
        core.beginning(address)
        answer = port.load(core.time, address, size)
        core.note(address)
        if answer is None:
            core.await_port(f"a load of {address:#010x}", place, size, is_signed)
            return
        value, ready = answer
        if address < core.device.memory.local_bytes:
            ready = core.time + core.timing.local
        if place >= FIRST_VECTOR:
            core.vr[place - FIRST_VECTOR] = np.frombuffer(value.to_bytes(size, "little"), np.uint8)
        else:
            core.x[place or SINK] = extended(value, size, is_signed)
        core.loaded(place, core.time + port.external_blocked - before, ready)

    def _store(self, address: int, size: int, value: int) -> None:
        core, port = self.core, self.core.port
        before = port.external_blocked
        core.beginning(address)
        ready = port.store(core.time, address, size, value)
        core.note(address)
        if ready is None:
            core.await_port(f"a store to {address:#010x}", None)
        else:
            core.stored(core.time + port.external_blocked - before, ready)

    def _strided(self, found: Decoded, register: int, is_load: bool, size: int) -> None:
        """Lane after lane; of on-chip memory all in one request, elsewhere one a cycle."""
        core, values = self.core, found.values
        start, stride = core.x[values["rs1"]], core.x[values["rs2"]]
        addresses = [start + lane * stride & MASK for lane in range(VECTOR_BYTES // size)]
        onchip = self._checked(addresses, size, "load" if is_load else "store")
        row = core.vr[register]
        core.beginning(addresses[0])
        if onchip:
            ranges = [(address, size) for address in addresses]
            core.port.beat(core.time, ranges, None if is_load else row.tobytes())
            what = f"a load from {start:#010x} on" if is_load else f"a store to {start:#010x} on"
            core.await_port(what, FIRST_VECTOR + register if is_load else None)
            return
        time, taken, ready = core.time, core.time, core.time
        pieces, data = [], row.tobytes()
        for lane, address in enumerate(addresses):
            before = core.port.external_blocked
            if is_load:
                piece, done = core.port.read(time, address, size, "load")
                pieces.append(piece)
            else:
                piece = data[lane * size : (lane + 1) * size]
                done = core.port.write(time, address, piece, "store")
            taken = time + core.port.external_blocked - before
            ready = max(ready, done)
            time = core.aligned(taken + 1)
        if is_load:
            row[:] = np.frombuffer(b"".join(pieces), np.uint8)
            core.loaded(FIRST_VECTOR + register, taken, ready)
        else:
            core.stored(taken, ready)

    def _checked(self, addresses: list[int], size: int, what: str) -> bool:
        """Whether the lanes lie in on-chip memory. Raises `Fault` if one cannot be accessed."""
        core = self.core
        for address in addresses:
            if address % size:
                raise Fault(
                    "misaligned access",
                    f"{what} of {size} bytes at {address:#010x}, which is no multiple of {size}",
                    {"address": address, "size": size},
                )
        memories = {core.device.memory.locate(address, size, what)[0] for address in addresses}
        if len(memories) > 1:
            first, last = addresses[0], addresses[-1]
            raise Fault(
                "out-of-range access",
                f"{what} by a stride from {first:#010x} to {last:#010x}: the lanes lie in several"
                " memories",
                {"address": first, "last": last, "size": size},
            )
        return addresses[0] >> REGION_SHIFT == ONCHIP
