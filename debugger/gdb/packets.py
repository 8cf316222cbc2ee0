"""The framing of gdb's remote serial protocol: `$data#checksum`, acknowledgements, interrupts.

A `Decoder` takes the bytes of a connection as they arrive, and returns the packets and interrupts
in them. A `Decoder` never fails: it drops bytes outside of packets, and reports a packet with a
wrong checksum as `BAD` and a packet that is too long as `LONG`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from macaw.debugger.stops import SessionError

MOST_BYTES = 0x4000  # the greatest number of bytes of a packet's data; `PacketSize` announces it
INTERRUPT_BYTE = 0x03
_BEGIN, _END, _ESCAPE, _REPEAT = b"$#}*"
_NUMBER = re.compile("[0-9a-fA-F]{1,16}")
_FLIP = 0x20  # an escaped byte is sent with these bits changed


@dataclass(frozen=True)
class Packet:
    """The data of one packet, without escapes."""

    data: bytes


ACKNOWLEDGED, REFUSED, INTERRUPT, BAD, LONG = "+", "-", "interrupt", "bad", "long"
Item = Packet | str  # a packet, or one of these five texts


def frame(data: bytes) -> bytes:
    """Return the bytes to send for a packet with this data."""
    body = escape(data)
    return b"$%s#%02x" % (body, checksum(body))


def checksum(body: bytes) -> int:
    """Return the checksum of the body of a packet: the sum of all bytes, modulo 256."""
    return sum(body) & 0xFF


def escape(data: bytes) -> bytes:
    """Return `data` with escapes for those bytes that have a meaning in packets."""
    special = (_BEGIN, _END, _ESCAPE, _REPEAT)
    return b"".join(
        bytes((_ESCAPE, byte ^ _FLIP)) if byte in special else bytes((byte,)) for byte in data
    )


def unescape(body: bytes) -> bytes:
    """Return the data of a received packet without escapes; an escape at its end is dropped."""
    data = bytearray()
    is_escaped = False
    for byte in body:
        if is_escaped:
            data.append(byte ^ _FLIP)
            is_escaped = False
        elif byte == _ESCAPE:
            is_escaped = True
        else:
            data.append(byte)
    return bytes(data)


def parse_number(text: str) -> int:
    """Return the number in `text`: hexadecimal, up to 64 bits. Raises `SessionError`."""
    if _NUMBER.fullmatch(text) is None:
        raise SessionError(f"'{text[:20]}' is no number")
    return int(text, 16)


def parse_pair(text: str) -> tuple[int, int]:
    """Return the two numbers of `ADDRESS,SIZE`. Raises `SessionError`."""
    first, _, second = text.partition(",")
    return parse_number(first), parse_number(second)


def parse_bytes(text: str) -> bytes:
    """Return the bytes that the hexadecimal digits in `text` stand for. Raises `SessionError`."""
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise SessionError("the data are no hexadecimal digits") from None


class Decoder:
    """Splits the bytes of one connection into packets and other items."""

    def __init__(self) -> None:
        self._body: bytearray | None = None  # data of the packet that is being read
        self._sum: bytes | None = None  # the digits of its checksum so far
        self._is_long = False  # whether the packet is too long

    def feed(self, data: bytes) -> list[Item]:
        """Return the items (packets, interrupts) that the bytes `data` complete, in their order."""
        items: list[Item] = []
        for byte in data:
            item = self._take(byte)
            if item is not None:
                items.append(item)
        return items

    def _take(self, byte: int) -> Item | None:
        if self._sum is not None:
            self._sum += bytes((byte,))
            return self._end() if len(self._sum) == 2 else None
        if self._body is None:
            return self._outside(byte)
        if byte == _END:
            self._sum = b""
        elif byte == _BEGIN:  # the previous packet was cut off
            self._body, self._is_long = bytearray(), False
        elif len(self._body) < 2 * MOST_BYTES:
            self._body.append(byte)
        else:
            self._is_long = True
        return None

    def _outside(self, byte: int) -> Item | None:
        if byte == _BEGIN:
            self._body, self._is_long = bytearray(), False
        if byte == INTERRUPT_BYTE:
            return INTERRUPT
        return {ord("+"): ACKNOWLEDGED, ord("-"): REFUSED}.get(byte)

    def _end(self) -> Item:
        body, digits = bytes(self._body or b""), self._sum or b""
        is_long, self._body, self._sum = self._is_long, None, None
        if is_long:
            return LONG
        if digits.lower() != b"%02x" % checksum(body):
            return BAD
        data = unescape(body)
        return Packet(data) if len(data) <= MOST_BYTES else LONG
