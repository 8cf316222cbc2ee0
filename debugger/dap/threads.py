"""Shows cores as threads, and their calls as frames with numbers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from macaw.asm.generated_sources import generated_file
from macaw.debugger.dap.arguments import whole
from macaw.debugger.dap.connection import RequestError
from macaw.debugger.stops import ENDS, Where

if TYPE_CHECKING:
    from macaw.debugger.session import Session
    from macaw.emu.core import Core

MOST_FRAMES = 1000  # the greatest number of frames in one response


class Frame(NamedTuple):
    """A frame that the editor knows by its number.

    `depth` is the number of the call among the open calls of the core; 0 is the innermost.
    """

    core: str
    depth: int


class Threads:
    """The threads of a session: the running cores, the focused cores, the core of the last stop.

    The number of a thread is the number of its core + 1. Numbers of frames are valid until the next
    stop.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self._frames: dict[int, Frame] = {}
        self._numbers: dict[Frame, int] = {}
        self._last = 0

    def names(self) -> list[str]:
        """Return the names of the cores that are threads, in the order of their numbers."""
        session = self.session
        chosen = {*session.threads, *(place.core for place in session.focus)}
        if session.last_stop.where is not None:
            chosen.add(session.last_stop.where.core)
        return [core.name for core in session.device.order if core.name in chosen]

    def rows(self) -> list[dict[str, Any]]:
        """Return the threads in the protocol's form."""
        return [{"id": self.number(name), "name": name} for name in self.names()]

    def number(self, name: str) -> int:
        """Return the number of the thread for the core `name`."""
        return self.session.device.cores[name].number + 1

    def stopped_thread(self) -> int:
        """Return the number of the thread of the last stop.

        If the core of that stop is idle, return the number of a running core.
        """
        where = self.session.last_stop.where
        name = self.session.core.name if where is None else where.core
        running = self.session.threads
        is_idle = where is None or where.address is None
        return self.number(running[0] if is_idle and running and name not in running else name)

    def core(self, arguments: Mapping[str, Any]) -> Core:
        """Return the core of the thread `threadId` in a request. Raises `RequestError`."""
        number = whole(arguments, "threadId", most=1 << 31)
        for core in self.session.device.order:
            if core.number + 1 == number:
                return core
        raise RequestError(f"there is no thread {number}")

    def forget(self) -> None:
        """Drop the numbers of frames, which a run makes invalid."""
        self._frames.clear()
        self._numbers.clear()

    def frame(self, number: int) -> Frame:
        """Return the frame with the number `number`. Raises `RequestError`."""
        if number not in self._frames:
            raise RequestError(f"there is no frame {number} any more")
        return self._frames[number]

    def stack(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the frames of the thread in a request, the innermost first.

        Raises `RequestError`.
        """
        core = self.core(arguments)
        first = whole(arguments, "startFrame", 0)
        most = whole(arguments, "levels", 0) or MOST_FRAMES
        calls = self._calls(core)
        chosen = list(enumerate(calls))[first : first + min(most, MOST_FRAMES)]
        return {
            "stackFrames": [self._row(core, depth, where) for depth, where in chosen],
            "totalFrames": len(calls),
        }

    def _calls(self, core: Core) -> list[Where]:
        """Return the open calls of a core, the innermost first.

        An idle core has one call, at the instruction at which the core has ended the program. If
        there is no such instruction, the call has only the core's name.
        """
        calls = self.session.call_stack(core)
        if calls:
            return calls
        stop = self.session.last_stop
        if stop.where is not None and stop.where.core == core.name and stop.reason in ENDS:
            return [stop.where]
        return [Where(core.name)]

    def _row(self, core: Core, depth: int, where: Where) -> dict[str, Any]:
        frame = Frame(core.name, depth)
        if frame not in self._numbers:
            self._last += 1
            self._numbers[frame] = self._last
            self._frames[self._last] = frame
        row: dict[str, Any] = {"id": self._numbers[frame], "line": 0, "column": 0}
        row["name"] = where.symbol or (
            f"{core.name} is idle" if where.address is None else f"{where.address:#010x}"
        )
        if where.file is not None and where.line is not None:
            row |= {"source": source_record(where.file), "line": where.line, "column": 1}
        if where.address is not None:
            row["instructionPointerReference"] = f"{where.address:#010x}"
        return row


def source_record(path: str) -> dict[str, Any]:
    """Return the protocol's record of a source file."""
    return {"name": PurePath(path).name, "path": str(file_path(path))}


def file_path(path: str) -> Path:
    """Return the absolute path of a source file, also of one that Macaw has added to a program.

    `path` is the name of the file in the line table, such as `<default cp>`.
    """
    return generated_file(path) or Path(path).absolute()
