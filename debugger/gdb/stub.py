"""The server's side of one connection: answers packets, loads the program when gdb needs it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from macaw.debugger.gdb.packets import LONG, MOST_BYTES

if TYPE_CHECKING:
    from macaw.debugger.gdb.link import Link
    from macaw.debugger.gdb.target import Target

FEATURES = ";".join((
    f"PacketSize={MOST_BYTES:x}", "QStartNoAckMode+", "qXfer:features:read+",
    "qXfer:threads:read+", "qXfer:memory-map:read+", "vContSupported+", "swbreak+", "hwbreak+",
    "ReverseStep+", "ReverseContinue+", "error-message+",
))  # fmt: skip
_HANDSHAKE = {  # by the name of the packet
    b"qSupported": FEATURES.encode(), b"QStartNoAckMode": b"OK", b"vMustReplyEmpty": b"",
    b"!": b"OK", b"qTStatus": b"",
}  # fmt: skip


class Stub:
    """The server's side of one connection.

    `load` loads the program. The stub calls it at gdb's first question about the program. gdb waits
    only some seconds for each answer, so the loading should delay only one answer.
    """

    def __init__(self, link: Link, load: Callable[[Link], Target]) -> None:
        self.link = link
        self._load = load
        self._target: Target | None = None
        self._is_extended = False

    def serve(self) -> str:
        """Answer packets until gdb disconnects; return a sentence that says why.

        Raises the exceptions of `load`.
        """
        left = ""
        while not left:
            data = self.link.receive()
            if data is None:
                left = self.link.closed
                break
            answer = self._answer(data)
            if answer is not None:
                self.link.send(answer)
            if self._target is not None:
                self._target.take_late_interrupt()
                left = self._target.left
        if self._target is not None:
            self._target.close()
        return left

    def _answer(self, data: bytes) -> bytes | None:
        """Return the answer to a packet, or None if the packet needs no answer."""
        if data == LONG.encode():
            return b"E.the packet is too long"
        name = data.partition(b":")[0]
        self._is_extended |= name == b"!"
        if name in _HANDSHAKE:
            return _HANDSHAKE[name]
        if self._target is None:
            self._target = self._load(self.link)
        self._target.is_extended = self._is_extended
        return self._target.answer(data)
