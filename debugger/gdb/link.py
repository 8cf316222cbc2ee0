"""The connection to gdb: a thread reads and acknowledges packets; the server answers them.

gdb may repeat a packet, for example the first one if the server needs seconds to start; it may also
ask for an answer again. But gdb sends no new packet before it has acknowledged the answer to the
last one. So if the same packet arrives before this acknowledgement, it is a repetition, which must
not be executed again. The thread acknowledges each packet at once, even before the program is
loaded, because gdb waits only two seconds for that. When an interrupt arrives while the program
runs, the thread calls `on_interrupt`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Protocol

from macaw.debugger.gdb.packets import (
    ACKNOWLEDGED,
    BAD,
    INTERRUPT,
    LONG,
    REFUSED,
    Decoder,
    Packet,
    frame,
)

READ = 1 << 16  # the greatest number of bytes that are read at a time
RESUMES = (b"c", b"C", b"s", b"S", b"b", b"vCont;", b"qRcmd,", b"R", b"vRun")


class Channel(Protocol):
    """Two streams of bytes: one from gdb, one to gdb."""

    def read(self, most: int) -> bytes:
        """Return the next bytes, at most `most`, or none at the end of the stream.

        Raises `OSError`.
        """

    def write(self, data: bytes) -> None:
        """Send bytes. Raises `OSError`."""


class Link:
    """One connection to gdb. The same thread must call `receive` and `send`."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.acknowledges = True  # whether to acknowledge packets; False after `QStartNoAckMode`
        self.on_interrupt: Callable[[], object] | None = None  # the reading thread calls it
        self.closed = ""  # why the connection has ended
        self._running = False  # a packet that makes the program run is not answered yet
        self._was_interrupted = False  # an interrupt arrived before `on_interrupt` was set
        self._lock = threading.Lock()  # protects the two attributes above, and writing
        self._last = b""  # the last answer, as it was sent
        self._is_asked = False  # a packet is not answered yet
        self._is_confirmed = True  # gdb has acknowledged the last answer
        self._question = b""  # the data of the last packet
        self._packets: SimpleQueue[bytes | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._read, name="gdb", daemon=True)

    def start(self) -> None:
        """Start the thread that reads."""
        self._thread.start()

    def receive(self) -> bytes | None:
        """Return the data of the next packet, or None after the connection has ended."""
        return self._packets.get()

    def send(self, data: bytes, is_answer: bool = True) -> None:
        """Send the answer to the last packet. If `is_answer` is False, send text before the answer.

        After the connection has ended, nothing is sent.
        """
        with self._lock:
            if is_answer:
                self._running = self._is_asked = False
                self._is_confirmed = not self.acknowledges
            self._last = frame(data)
            self._write(self._last)

    def connect_interrupts(self, call: Callable[[], object]) -> None:
        """Set `on_interrupt` to `call`. If an interrupt has already arrived, call it at once."""
        with self._lock:
            self.on_interrupt = call
            early, self._was_interrupted = self._was_interrupted, False
        if early:
            call()

    def _write(self, data: bytes) -> None:
        try:
            self.channel.write(data)
        except (OSError, ValueError) as error:  # ValueError: the file is closed
            self.closed = self.closed or f"the connection to gdb has ended: {error}"

    # In the reading thread

    def _read(self) -> None:
        decoder = Decoder()
        while True:
            try:
                data = self.channel.read(READ)
            except (OSError, ValueError) as error:
                self.closed = f"the connection to gdb has ended: {error}"
                break
            if not data:
                self.closed = self.closed or "gdb has closed the connection"
                break
            for item in decoder.feed(data):
                self._take(item)
        self._packets.put(None)
        with self._lock:
            self._interrupt()

    def _take(self, item: Packet | str) -> None:
        with self._lock:
            if isinstance(item, Packet) or item == LONG:
                data = item.data if isinstance(item, Packet) else LONG.encode()
                is_repeated = self.acknowledges and (
                    self._is_asked or (not self._is_confirmed and data == self._question)
                )
                if self.acknowledges:
                    self._write(b"+")
                if not is_repeated:
                    self._running |= data.startswith(RESUMES)
                    self.acknowledges &= data != b"QStartNoAckMode"
                    self._is_asked = True
                    self._question = data
                    self._packets.put(data)
            elif item == ACKNOWLEDGED:
                self._is_confirmed = not self._is_asked
            elif item == BAD and self.acknowledges:
                self._write(b"-")
            elif item == REFUSED and self._last and not self._is_asked:
                self._write(self._last)
            elif item == INTERRUPT:
                self._interrupt()

    def _interrupt(self) -> None:
        if not self._running:
            return
        if self.on_interrupt is None:
            self._was_interrupted = True
        else:
            self.on_interrupt()
