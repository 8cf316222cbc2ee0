"""Interrupts: requests from any thread to stop a run or a command."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from macaw.debugger.stops import SessionError


class Interrupts:
    """A request to stop the present run or command of a session.

    Other threads may call only `request`.
    """

    def __init__(self) -> None:
        self.running = False  # whether a device runs, which tests `pending` between acts
        self._event = threading.Event()
        self._user_thread: int | None = None  # the thread that executes the user's code

    @property
    def pending(self) -> bool:
        """Whether a stop was requested after the last call of `take`."""
        return self._event.is_set()

    def request(self) -> None:
        """Request that the present run or command stops soon; if there is none, the next one."""
        self._event.set()
        thread = self._user_thread
        if thread is not None and not self.running:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt)
            )

    def take(self) -> bool:
        """Return whether a stop was requested, and clear the request."""
        pending = self._event.is_set()
        self._event.clear()
        return pending

    def check(self) -> None:
        """Raise `SessionError` and drop the request, if no device runs and a stop was requested.

        While a device runs, this method does nothing: the device then stops by itself, between two
        acts. An exception, for example in the condition of a breakpoint, would stop it in the
        middle of an act.
        """
        if not self.running and self.take():
            raise SessionError("interrupted")

    @contextmanager
    def user_code(self) -> Iterator[None]:
        """Allow a request to interrupt the user's Python code in this thread.

        While the context is open, a request raises `KeyboardInterrupt` in the thread.
        """
        self._user_thread = threading.get_ident()
        try:
            yield
        finally:
            self._user_thread = None
