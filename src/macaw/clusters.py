"""Calls a function for many arguments on a Dask cluster, and yields the results in order."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from macaw.errors import InputError

TIMEOUT = 10.0  # seconds for a scheduler to answer
Argument = TypeVar("Argument")
Result = TypeVar("Result")


def map_on_cluster(
    function: Callable[[Argument], Result], arguments: Sequence[Argument], scheduler: str
) -> Iterator[Result]:
    """Yield the result of `function` for each argument in order, computed by a Dask cluster.

    The workers of the scheduler must be able to import this version of Macaw. If a worker is
    killed, other workers do its work. An exception of the function is raised in the caller. Raises
    `InputError` if Dask is not installed, no scheduler answers, or a worker cannot import Macaw.
    """
    try:
        client = _connect(scheduler)
    except ImportError:
        text = "'scheduler' needs Dask, which is not installed"
        hint = "pip install 'macaw-npu[dask]', or use several processes here"
        raise InputError(text, hint) from None
    except (OSError, ValueError) as error:
        text = f"no Dask scheduler answers at {scheduler}: {error}"
        hint = "its address is as `dask scheduler` prints it: tcp://HOST:8786"
        raise InputError(text, hint) from None
    with client:
        futures = client.map(function, arguments, pure=False)
        try:
            for future in futures:
                yield future.result()
        except ImportError as error:
            text = f"a worker of {scheduler} cannot run the program: {error}"
            raise InputError(text, "its environment needs the same macaw") from None


def _check_address(scheduler: str) -> None:
    """Raise `OSError` or `ValueError` unless a server accepts connections at `scheduler`.

    Only the form of an address `inproc://...` is checked.
    """
    address = re.fullmatch(r"(?:(\w+)://)?\[?([^/]*?)\]?:(\d{1,5})", scheduler)
    if address is None:
        raise ValueError("it is no PROTOCOL://HOST:PORT")
    protocol, host, port = address.groups()
    if protocol != "inproc":
        with socket.create_connection((host, int(port)), TIMEOUT):
            pass


def _connect(scheduler: str) -> Any:
    """Return a client of the Dask scheduler at the address `scheduler`.

    Raises `OSError` or `ValueError` if no scheduler answers, `ImportError` if Dask is not
    installed.
    """
    import distributed

    # Without __del__: closing a client that could not connect would wait for the scheduler.
    unclosed = {"__del__": lambda client: None}
    client_type: Any = type("Client", (distributed.Client,), unclosed)
    _check_address(scheduler)
    outcomes: list[Any] = []

    def connect() -> None:
        try:
            outcomes.append(client_type(scheduler, timeout=TIMEOUT, set_as_default=False))
        except (OSError, ValueError) as error:
            outcomes.append(error)

    # In a thread: with a silent listener that is no scheduler, Dask would wait for ever.
    thread = threading.Thread(target=connect, daemon=True)
    thread.start()
    thread.join(2 * TIMEOUT)
    if not outcomes:
        raise TimeoutError("what listens there does not answer as one")
    if isinstance(outcomes[0], Exception):
        raise outcomes[0]
    return outcomes[0]
