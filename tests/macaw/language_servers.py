"""Language servers for pygls' client: in this process, which is quick, or in a new one."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from threading import Thread

from pygls.lsp.client import LanguageClient

from macaw.errors import EXIT_FAILURE, EXIT_SUCCESS
from macaw.language_server.server import LanguageServer

# Ends when the server has ended, with the exit status of `macaw lsp`.
Ended = Callable[[], Awaitable[int]]


async def start_here(client: LanguageClient) -> Ended:
    """Start a server in a thread of this process, and connect the client to it."""
    status: Future[int] = Future()

    def serve() -> None:
        try:
            with listener:
                connection, _ = listener.accept()
            with connection, connection.makefile("rb", buffering=0) as stream:
                left_well = LanguageServer(connection.sendall).serve(stream)
                with contextlib.suppress(OSError):  # the client may have closed its end
                    connection.shutdown(socket.SHUT_RDWR)  # both ends stop reading
            status.set_result(EXIT_SUCCESS if left_well else EXIT_FAILURE)
        except Exception as error:
            status.set_exception(error)

    listener = socket.create_server(("127.0.0.1", 0))
    address = listener.getsockname()
    Thread(target=serve, daemon=True).start()
    await client.start_tcp(*address)
    return lambda: asyncio.wrap_future(status)


async def start_apart(client: LanguageClient) -> Ended:
    """Start a server as an editor does, in a new process, and connect the client to it."""
    await client.start_io(sys.executable, "-m", "macaw", "lsp")
    server = client._server
    assert server is not None
    return server.wait
