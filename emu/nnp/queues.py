"""NetInQ, NetOutQ and messages: how others reach them through the windows of nnp."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from macaw.emu.core import NEVER, Core
from macaw.emu.faults import Fault
from macaw.emu.nnp.state import NnpState, size
from macaw.emu.nnp.timing import Timing
from macaw.emu.system import Startable
from macaw.emu.windows import Windowed
from macaw.isa.codec import DecodeError, StructureError, decode, unpack
from macaw.isa.nnp import CORE, MESSAGE, SCALARS
from macaw.isa.nnp_chains import ChainError, scalar

if TYPE_CHECKING:
    from macaw.emu.device import Device


START = MESSAGE.members[2].legal.parse("start")
_PLACES = {row.name: place for place, row in enumerate(SCALARS)}


def _missing(head: bytes) -> int:
    """Bytes that a message's head still lacks; first those of its structure."""
    if len(head) < MESSAGE.size:
        return MESSAGE.size - len(head)
    words: int = unpack(MESSAGE, head[: MESSAGE.size])["scalars"]
    return MESSAGE.size + 4 * words - len(head)


def registers_of(head: bytes) -> list[tuple[int, int]]:
    """The registers that a head sets: their places in the file, and values. Raises `Fault`."""
    found = []
    for (word,) in struct.iter_unpack("<I", head[MESSAGE.size :]):
        try:
            row = decode(CORE, word, 32)
            if row.row.mnemonic != "s_wr":
                raise Fault(
                    "illegal instruction", f"a message with {row.row.mnemonic}", {"word": word}
                )
            name, value = scalar(row)
        except DecodeError as error:
            text = f"a message with the word {word:#010x}: {error.detail.lstrip(': ')}"
            raise Fault(error.kind, text, {"word": word}) from None
        except ChainError as error:
            raise Fault("broken chain", f"a message: {error}", {"rule": error.rule}) from None
        found.append((_PLACES[name], value))
    return found


class Queues(Core, Startable, Windowed):
    """What of the core others reach."""

    state: NnpState

    def __init__(self, device: Device) -> None:
        config = device.config
        super().__init__(device, CORE, CORE.name, CORE.number, NnpState(config))
        self.timing = Timing(config)
        self.divider = self.timing.divider
        self.net_in, self.net_out = size(config, "NetInQ"), size(config, "NetOutQ")

    def window_room(self, window: str, time: int, wanted: int) -> tuple[int, int]:
        """See `Windowed.window_room`."""
        state, whole = self.state, self.timing.vector_bytes
        if window == "netin":
            return (self.net_in - len(state.net_in)) * whole - len(state.arriving), NEVER
        if window == "message":
            if not state.payload:
                return self._missing(), NEVER
            room = (self.net_in - len(state.net_in)) * whole - len(state.parcel)
            return min(state.payload, room), NEVER
        seen = sum(at <= time for at, _ in state.net_out)
        need = -(-(wanted + state.leaving) // whole)
        again = state.net_out[need - 1][0] if need <= len(state.net_out) else NEVER
        return seen * whole - (state.leaving if seen else 0), again

    def push(self, window: str, data: bytes, time: int) -> None:
        """Bytes of vectors come to NetInQ, or of a message."""
        state = self.state
        if window == "netin":
            state.arriving = self._vectors(state.arriving + data, time)
        elif state.payload:
            state.payload -= len(data)
            state.parcel = self._vectors(state.parcel + data, time)
        else:
            head = state.message + data
            self._check(head)
            state.message = head
            if not self.running:
                self._deliver(time + 1)

    def _vectors(self, data: bytes, time: int) -> bytes:
        """Push the vectors that are whole; gives the bytes behind them."""
        whole = self.timing.vector_bytes
        while len(data) >= whole:
            self.state.net_in.append(data[:whole])
            data = data[whole:]
            self._wake(time)
        return data

    # Messages

    def _missing(self) -> int:
        """Bytes that the head of the message lacks; none: it waits for the core to be idle."""
        return _missing(self.state.message)

    def _check(self, head: bytes) -> None:
        """Raise `Fault` for a head that no message has, as far as it is there."""
        if len(head) >= MESSAGE.size:
            try:
                unpack(MESSAGE, head[: MESSAGE.size])
            except StructureError as error:
                raise Fault("illegal instruction", f"a {error}", {"bytes": head.hex()}) from None
        if not _missing(head):
            registers_of(head)

    def _deliver(self, time: int) -> None:
        """The head of a message takes effect if it is whole, the core being idle until `time`."""
        state = self.state
        if not state.message or self._missing():
            return
        head = unpack(MESSAGE, state.message[: MESSAGE.size])
        for place, value in registers_of(state.message):
            state.scalars[place] = value
        state.message = b""
        state.payload = head["vectors"] * self.timing.vector_bytes
        if head["control"] == START:
            self.start(head["entry"], time)

    def pull(self, window: str, length: int, time: int) -> bytes:
        """Bytes of the vectors in NetOutQ."""
        state, whole = self.state, self.timing.vector_bytes
        found = b""
        while len(found) < length:
            _, data = state.net_out[0]
            piece = data[state.leaving : state.leaving + length - len(found)]
            found += piece
            state.leaving += len(piece)
            if state.leaving == whole:
                state.net_out.pop(0)
                state.leaving = 0
                self._wake(time)
        return found

    def _wake(self, time: int) -> None:
        """A queue has changed in cycle `time`."""
        if self.waiting is not None and self.time > time + 1:
            self.time = self.aligned(time + 1)
