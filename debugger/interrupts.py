"""Requests to stop a run or a command; they may come from any thread."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from macaw.debugger.stops import SessionError


class Interrupts:
    """The request of one session. Only `request` may be called from another thread."""

    def __init__(self) -> None:
        self.running = False  # a device runs: it looks at `pending` between acts
        self._event = threading.Event()
        self._user_thread: int | None = None  # the thread that executes code of the user

    @property
    def pending(self) -> bool:
        """Whether a stop was requested and the run has not taken the request yet."""
        return self._event.is_set()

    def request(self) -> None:
        """Stop the present run or command soon; if there is none, the next one."""
        self._event.set()
        thread = self._user_thread
        if thread is not None and not self.running:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt)
            )

    def take(self) -> bool:
        """Whether a stop was requested; the request ends with this call."""
        pending = self._event.is_set()
        self._event.clear()
        return pending

    def check(self) -> None:
        """Raise `SessionError` if a stop was requested and no device runs.

        A running device stops between acts by itself; conditions inside a run must not break it
        off.
        """
        if not self.running and self.take():
            raise SessionError("interrupted")

    @contextmanager
    def user_code(self) -> Iterator[None]:
        """Inside, code of the user runs: a request raises `KeyboardInterrupt` in this thread."""
        self._user_thread = threading.get_ident()
        try:
            yield
        finally:
            self._user_thread = None
