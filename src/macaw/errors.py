"""The errors of commands and of the Python API, and the exit statuses of commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from macaw.isa.errors import MacawError

if TYPE_CHECKING:
    from macaw.emu.device import Device
    from macaw.emu.faults import Stop

# Exit statuses of the command.
EXIT_SUCCESS = 0
EXIT_FAILURE = 1  # the program faulted, or a comparison differed
EXIT_WRONG_INPUT = 2  # the input or the command line is wrong
EXIT_INTERRUPTED = 130  # by Ctrl-C, as shells count it


def status_of(error: MacawError) -> int:
    """Return the exit status for an error: its class's `status`, or `EXIT_WRONG_INPUT`."""
    status: int = getattr(error, "status", EXIT_WRONG_INPUT)
    return status


class InputError(MacawError, ValueError):
    """A file, an array or an argument cannot be used."""


class MissingInputError(InputError):
    """An input of a program is not given. `hint` is for Python, `command_hint` for the commands."""

    def __init__(self, message: str, hint: str, command_hint: str) -> None:
        super().__init__(message, hint)
        self.command_hint = command_hint


class RunError(MacawError):
    """A program stopped without exiting: at a fault, a deadlock, a breakpoint or a cycle limit.

    `stop` has the reason. `device` is the device in its state at the stop. `item` is the index on
    the batch axis; None without a batch axis.
    """

    status = EXIT_FAILURE

    def __init__(self, message: str, stop: Stop, device: Device, item: int | None = None) -> None:
        super().__init__(message)
        self.stop, self.device, self.item = stop, device, item
