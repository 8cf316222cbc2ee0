"""Splits a stream into messages with a Content-Length header, and adds this header to messages.

The Language Server Protocol and the Debug Adapter Protocol use the same framing.
"""

from __future__ import annotations

import re
from typing import Protocol

MOST_HEADER = 1 << 16  # the greatest number of bytes of a message's header
MOST_MESSAGE = 1 << 25  # the greatest number of bytes of its body
_READ_SIZE = 1 << 16  # the greatest number of bytes of one read
_LENGTH = re.compile(rb"^content-length:[ \t]*([0-9]{1,18})[ \t]*\r?$", re.IGNORECASE | re.M)
_END = b"\r\n\r\n"


class Stream(Protocol):
    """A stream of bytes, such as a pipe or a socket."""

    def read(self, size: int, /) -> bytes | None:
        """Return 1 to `size` bytes; no bytes at the end of the stream."""


class FramingError(ValueError):
    """Raised for a malformed message.

    If `is_too_long` is true, the message is well-formed but too long.
    """

    def __init__(self, message: str, is_too_long: bool) -> None:
        super().__init__(message)
        self.is_too_long = is_too_long


class MessageReader:
    """Splits a stream of bytes into the bodies of messages."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._bytes = bytearray()

    def body(self) -> bytes | None:
        """Return the body of the next message, or None at the end of the stream.

        Raises `FramingError`.
        """
        while (end := self._bytes.find(_END)) < 0:
            if len(self._bytes) > MOST_HEADER:
                del self._bytes[: -len(_END)]
                raise FramingError("the header of a message has no end", is_too_long=False)
            if not self._more():
                return None
        header = bytes(self._bytes[:end])
        del self._bytes[: end + len(_END)]
        length_field = _LENGTH.search(header)
        if length_field is None:
            raise FramingError("the header of a message has no Content-Length", is_too_long=False)
        length = int(length_field[1])
        if length > MOST_MESSAGE:
            if not self._skip(length):
                return None
            raise FramingError(f"a message is longer than {MOST_MESSAGE} bytes", is_too_long=True)
        while len(self._bytes) < length:
            if not self._more():
                return None
        body = bytes(self._bytes[:length])
        del self._bytes[:length]
        return body

    def _skip(self, length: int) -> bool:
        """Skip a body of `length` bytes; return False if the stream ends in the body."""
        while length > len(self._bytes):
            length -= len(self._bytes)
            self._bytes.clear()
            if not self._more():
                return False
        del self._bytes[:length]
        return True

    def _more(self) -> bool:
        data = self._stream.read(_READ_SIZE)
        self._bytes += data or b""
        return bool(data)


def frame(body: bytes) -> bytes:
    """Return a message with this body: the header, then the body."""
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
