"""The windows of nnp, by which other cores access NetInQ and NetOutQ, and send messages."""

from __future__ import annotations

import struct

from macaw.emu.core import Core
from macaw.emu.faults import Fault
from macaw.emu.nnp.arrivals import slice_pieces
from macaw.emu.nnp.origins import ChainOrigins
from macaw.emu.nnp.schedules.timing import Timing
from macaw.emu.nnp.state import NnpState, size
from macaw.emu.system import Startable, System
from macaw.emu.waits import NEVER
from macaw.emu.windows import Windowed
from macaw.isa.codec import DecodeError, StructureError, decode, unpack
from macaw.isa.nnp import CORE, MESSAGE, SCALARS
from macaw.isa.nnp_chains import ChainError, settings

START = MESSAGE.members[2].legal.parse("start")
_PLACES = {row.name: place for place, row in enumerate(SCALARS)}
_HEAD = "head"  # stands for the bytes of a message in `Arrivals`, like the name of a window
_WORD = 4  # bytes


def _missing(head: bytes) -> int:
    """Return how many bytes of a message's head have not arrived yet.

    The head is a `MESSAGE` structure, followed by the words that set registers.
    """
    if len(head) < MESSAGE.size:
        return MESSAGE.size - len(head)
    words: int = unpack(MESSAGE, head[: MESSAGE.size])["scalars"]
    return MESSAGE.size + 4 * words - len(head)


def registers_of(head: bytes) -> list[list[tuple[int, int]]]:
    """Return for each s_wr of a message's head the registers that it sets, with their values.

    A register is given by its index in `SCALARS`. Raises `Fault` for a word that is no s_wr, and
    for a value that a register cannot have.
    """
    pairs = []
    for (word,) in struct.iter_unpack("<I", head[MESSAGE.size :]):
        try:
            row = decode(CORE, word, 32)
            if row.row.mnemonic != "s_wr":
                raise Fault(
                    "illegal instruction", f"a message with {row.row.mnemonic}", {"word": word}
                )
            registers = settings(row)
        except DecodeError as error:
            detail = error.detail or f"no instruction of {CORE.name}"
            text = f"a message with the word {word:#010x}: {detail}"
            raise Fault(error.kind, text, {"word": word}) from None
        except ChainError as error:
            raise Fault("broken chain", f"a message: {error}", {"rule": error.rule}) from None
        pairs.append([(_PLACES[name], value) for name, value in registers.items()])
    return pairs


class WindowCore(Core, Startable, Windowed):
    """The part of nnp that implements its windows for other cores."""

    state: NnpState

    def __init__(self, device: System) -> None:
        config = device.config
        super().__init__(device, CORE, CORE.name, CORE.number, NnpState(config))
        self.timing = Timing(config)
        self.divider = self.timing.divider
        self.net_in, self.net_out = size(config, "NetInQ"), size(config, "NetOutQ")
        # the record of values' origins, if `remember` was called
        self.chain_origins: ChainOrigins | None = None

    def window_room(self, window: str, time: int, wanted: int) -> tuple[int, int]:
        """Return how many bytes can pass a window in cycle `time`, and when `wanted` bytes can.

        `window` is "netin", "netout" or "message". The second result is a cycle; it is NEVER if it
        depends on a change that nnp will announce.
        """
        state, whole = self.state, self.timing.vector_bytes
        if window == "netin":
            return (self.net_in - len(state.net_in)) * whole - len(state.arriving), NEVER
        if window == "message":
            if not state.payload:
                return self._missing(), NEVER
            room = (self.net_in - len(state.net_in)) * whole - len(state.parcel)
            return min(state.payload, room), NEVER
        ready = sum(at <= time for at, _ in state.net_out)
        need = -(-(wanted + state.leaving) // whole)
        again = state.net_out[need - 1][0] if need <= len(state.net_out) else NEVER
        return ready * whole - (state.leaving if ready else 0), again

    def push(self, window: str, data: bytes, time: int) -> None:
        """Take bytes of a vector for NetInQ, or of a message, from another core at cycle `time`.

        `window` is the name of the window to which the core wrote.
        """
        state, origins = self.state, self.chain_origins
        if origins is None:
            self._take(window, data, time)
            return
        arrival = _HEAD if window == "message" and not state.payload else window
        origins.arrivals.add(arrival, origins.number() - 1, len(data))
        before = len(state.net_in)
        self._take(window, data, time)
        for _ in range(len(state.net_in) - before):
            origins.arrivals.push_vector(arrival)

    def _take(self, window: str, data: bytes, time: int) -> None:
        state = self.state
        if window == "netin":
            state.arriving = self._push_vectors(state.arriving + data, time)
        elif state.payload:
            state.payload -= len(data)
            state.parcel = self._push_vectors(state.parcel + data, time)
        else:
            head = state.message + data
            self._check(head)
            state.message = head
            if not self.running:
                self._deliver(time + 1)

    def _push_vectors(self, data: bytes, time: int) -> bytes:
        """Push the complete vectors in `data` to NetInQ in cycle `time`; return the other bytes."""
        whole = self.timing.vector_bytes
        while len(data) >= whole:
            self.state.net_in.append(data[:whole])
            data = data[whole:]
            self._wake(time)
        return data

    # Messages

    def _missing(self) -> int:
        """Return how many bytes of the message's head have not arrived yet.

        If the result is 0, the head is complete; the message then waits until nnp is idle.
        """
        return _missing(self.state.message)

    def _check(self, head: bytes) -> None:
        """Raise `Fault` if the bytes that have arrived cannot begin a message's head."""
        if len(head) >= MESSAGE.size:
            try:
                unpack(MESSAGE, head[: MESSAGE.size])
            except StructureError as error:
                raise Fault("illegal instruction", f"a {error}", {"bytes": head.hex()}) from None
        if not _missing(head):
            registers_of(head)

    def _deliver(self, time: int) -> None:
        """If the head of a message is complete, set its registers at `time` and start its program.

        The caller ensures that nnp is idle.
        """
        state = self.state
        if not state.message or self._missing():
            return
        if self.chain_origins is not None:
            self._record_message(self.chain_origins, state.message)
        head = unpack(MESSAGE, state.message[: MESSAGE.size])
        for pairs in registers_of(state.message):
            for place, value in pairs:
                state.scalars[place] = value
        state.message = b""
        state.payload = head["vectors"] * self.timing.vector_bytes
        if head["control"] == START:
            self.start(head["entry"], time)

    def _record_message(self, origins: ChainOrigins, head: bytes) -> None:
        pieces = origins.arrivals.take(_HEAD, len(head))
        origins.set_by_message(
            [
                (
                    SCALARS[place].name,
                    value,
                    slice_pieces(pieces, MESSAGE.size + _WORD * number, _WORD),
                )
                for number, pairs in enumerate(registers_of(head))
                for place, value in pairs
            ]
        )

    def pull(self, window: str, length: int, time: int) -> bytes:
        """Remove the first `length` bytes of the vectors in NetOutQ, and return them.

        Another core reads them from `window` in cycle `time`.
        """
        state, whole = self.state, self.timing.vector_bytes
        before = state.leaving
        result = b""
        while len(result) < length:
            _, data = state.net_out[0]
            piece = data[state.leaving : state.leaving + length - len(result)]
            result += piece
            state.leaving += len(piece)
            if state.leaving == whole:
                state.net_out.pop(0)
                state.leaving = 0
                self._wake(time)
        if self.chain_origins is not None:
            self.chain_origins.pull(before, length)
        return result

    def _wake(self, time: int) -> None:
        """Make nnp try again after cycle `time`, in which NetInQ or NetOutQ has changed."""
        if self.waiting is not None and self.time > time + 1:
            self.time = self.aligned(time + 1)
