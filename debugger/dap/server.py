"""Serves one editor through two streams of bytes, such as standard input and output."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from macaw.debugger.dap.adapter import Adapter
from macaw.debugger.dap.connection import Connection

if TYPE_CHECKING:
    from macaw.debugger.dap.adapter import Load
    from macaw.debugger.dap.framing import Stream


def serve(stream: Stream, write: Callable[[bytes], object], load: Load) -> None:
    """Answer the requests of an editor until the editor ends the connection.

    Requests come from `stream`; `write` writes responses and events. `load` loads the program of a
    request `launch`.
    """
    Adapter(Connection(stream, write), load).serve()
