"""The loads and stores of vc: executes them for general registers and vector registers.

A strided load or store accesses each lane of a vector register on its own: from one lane to the
next, the address grows by a stride, which a general register contains.
"""

from __future__ import annotations

import numpy as np

from macaw.emu.address_space import ONCHIP, REGION_SHIFT
from macaw.emu.faults import Fault
from macaw.emu.scalar.semantics import LOADS, MASK, SINK, STORES
from macaw.emu.scalar.state import sign_extend
from macaw.emu.vector.core import VectorCore
from macaw.emu.vector.state import FIRST_VECTOR
from macaw.isa.codec import Decoded
from macaw.isa.vector import OPERATIONS
from macaw.isa.vector_layouts import ELEMENTS, VECTOR_BYTES


class Accesses:
    """Executes the loads and stores of one core.

    At the end of a load or store, or when it has to wait for memory, the class calls a method of
    the core.
    """

    def __init__(self, core: VectorCore) -> None:
        self.core = core

    def execute(self, found: Decoded) -> None:
        """Execute the load or store `found`.

        Raises `Fault`, and `WindowNotReady` if the core has to try again later. It raises them
        before it changes anything.
        """
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
        """Load `size` bytes at `address` into the register with the scoreboard place `place`.

        A general register gets the bytes sign-extended if `is_signed`.
        """
        core, port = self.core, self.core.port
        before = port.external_blocked
        core.record_try(address)
        answer = port.load(core.time, address, size)
        core.note_access(address)
        if answer is None:
            core.await_banks(f"a load of {address:#010x}", place, size, is_signed)
            return
        value, ready = answer
        if address < core.device.memory.local_bytes:
            ready = core.time + core.timing.local
        if place >= FIRST_VECTOR:
            core.vr[place - FIRST_VECTOR] = np.frombuffer(value.to_bytes(size, "little"), np.uint8)
        else:
            core.x[place or SINK] = sign_extend(value, size, is_signed)
        core.retire_load(place, core.time + port.external_blocked - before, ready)

    def _store(self, address: int, size: int, value: int) -> None:
        core, port = self.core, self.core.port
        before = port.external_blocked
        core.record_try(address)
        ready = port.store(core.time, address, size, value)
        core.note_access(address)
        if ready is None:
            core.await_banks(f"a store to {address:#010x}", None, 0, signed=False)
        else:
            core.retire_store(core.time + port.external_blocked - before, ready)

    def _strided(self, found: Decoded, register: int, is_load: bool, size: int) -> None:
        """Load or store the lanes of a vector register at addresses that differ by a stride.

        The instruction `found` has the base and the stride; a lane has `size` bytes. On-chip memory
        takes all lanes in one request, other memory takes one lane in each cycle. Raises `Fault`
        or `WindowNotReady` before any change.
        """
        core, values = self.core, found.values
        start, stride = core.x[values["rs1"]], core.x[values["rs2"]]
        addresses = [start + lane * stride & MASK for lane in range(VECTOR_BYTES // size)]
        ranges = [(address, size) for address in addresses]
        access = "load" if is_load else "store"
        onchip = self._are_onchip(addresses, size, access)
        row = core.vr[register]
        core.record_try(addresses[0])
        if onchip:
            core.port.beat(core.time, ranges, None if is_load else row.tobytes())
            what = f"a load from {start:#010x} on" if is_load else f"a store to {start:#010x} on"
            core.await_banks(what, FIRST_VECTOR + register if is_load else None, 0, signed=False)
            return
        # No lane may be done unless all can be: an island may guard the bank of a later lane.
        core.port.admit(ranges, access)
        time, taken, ready = core.time, core.time, core.time
        pieces, data = [], row.tobytes()
        for lane, address in enumerate(addresses):
            before = core.port.external_blocked
            if is_load:
                piece, done = core.port.read(time, address, size, access)
                pieces.append(piece)
            else:
                piece = data[lane * size : (lane + 1) * size]
                done = core.port.write(time, address, piece, access)
            taken = time + core.port.external_blocked - before
            ready = max(ready, done)
            time = core.aligned(taken + 1)
        if is_load:
            row[:] = np.frombuffer(b"".join(pieces), np.uint8)
            core.retire_load(FIRST_VECTOR + register, taken, ready)
        else:
            core.retire_store(taken, ready)

    def _are_onchip(self, addresses: list[int], size: int, what: str) -> bool:
        """Return whether these addresses of lanes are all in on-chip memory.

        A lane has `size` bytes. Raises `Fault`, whose message begins with `what`, if a lane cannot
        be accessed, or if the lanes are in several memories.
        """
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
