"""Answers the packets of gdb about a loaded program, with one function for each kind of packet.

If a request fails and gdb shows sentences for this kind of request, the answer is `E.` and a
sentence; for other requests it is `E01`. The answer to an unknown packet is an empty packet, as the
protocol demands.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from macaw.debugger.commands.text import answer_text
from macaw.debugger.expressions import ExpressionError
from macaw.debugger.gdb.machine import Machine
from macaw.debugger.gdb.motion import ALL, ANY, Action, Motion, parse_actions, parse_thread
from macaw.debugger.gdb.packets import MOST_BYTES, parse_bytes, parse_number, parse_pair
from macaw.debugger.gdb.points import GdbPoint, GdbPoints
from macaw.debugger.places import PlaceError
from macaw.debugger.stops import EditRecord, SessionError, StopRecord

if TYPE_CHECKING:
    from macaw.debugger.commands.answers import Answer
    from macaw.debugger.commands.interpreter import Interpreter
    from macaw.debugger.gdb.link import Link

KILLED = "gdb has killed the program"
OK, UNKNOWN, ERROR = "OK", "", "E01"
# first letters of packets to which gdb shows a sentence; to `m` it wants data or a number
_SAY_ERRORS = "cCsSbvgGpPMXZzH"
TEXT_BYTES = MOST_BYTES // 2 - 16  # bytes of text in one packet, in hexadecimal
GENERAL = 33  # number of registers in `g` and `G`, each of 4 bytes
LEAVE = "kill or detach ends the session, quit leaves gdb\n"
BLOCK = "more lines follow, each after `monitor`; the last one is `monitor end`\n"
STALE = "gdb has not noticed the change: `maintenance flush register-cache` (docs/gdb.md)\n"


class Target:
    """A loaded program, and the state of gdb's work with it.

    If `is_extended` is true, gdb may run the program again.
    """

    def __init__(self, link: Link, interpreter: Interpreter) -> None:
        self.link = link
        self.interpreter = interpreter
        self.is_extended = False
        self.left = ""  # a sentence, after gdb has disconnected
        session = interpreter.session
        self.machine = Machine(session)
        self.points = GdbPoints(session)
        run_commands = interpreter.execute_point_commands
        self.motion = Motion(session, self.machine, self.points, self._say, run_commands)
        self._is_killed = False
        self._asked_thread = ANY  # the thread of `Hg`
        self._run_thread = ALL  # the thread of `Hc`
        # whether gdb waits for the end of a run, so that output may be sent
        self._is_running = False
        self._has_moved = False  # moves since the present `monitor` began
        session.on_output = self._send_output
        session.on_moved.append(self._note)
        link.connect_interrupts(session.interrupt)
        self._packets: dict[str, Callable[[str], str | None]] = {
            "?": lambda _: "W00" if self._is_killed else self.motion.reply,
            "g": lambda _: self.machine.general_registers(self._thread()),
            "G": self._write_registers,
            "p": lambda text: self.machine.read_register(self._thread(), parse_number(text)),
            "P": self._write_register,
            "m": self._read_memory,
            "M": self._write_hexadecimal,
            "X": self._write_binary,
            "c": lambda text: self._continue(text, "c"),
            "C": lambda text: self._continue(text.partition(";")[2], "c"),
            "s": lambda text: self._continue(text, "s"),
            "S": lambda text: self._continue(text.partition(";")[2], "s"),
            "bc": lambda _: self._run(lambda: self.motion.go_back(self._mover(), False)),
            "bs": lambda _: self._run(lambda: self.motion.go_back(self._mover(), True)),
            "vCont?": lambda _: "vCont;c;C;s;S;r",
            "vCont;": lambda text: self._run(lambda: self.motion.resume(parse_actions(text))),
            "vKill": self._kill_process,
            "vRun": self._run_again,
            "R": self._run_again,
            "k": self._kill,
            "D": self._detach,
            "H": self._set_thread,
            "T": self._is_alive,
            "Z": lambda text: self._set_point(text, self.points.insert),
            "z": lambda text: self._set_point(text, self.points.remove),
            "qAttached": lambda _: "0",
            "qC": lambda _: f"QC{self.motion.thread:x}",
            "qfThreadInfo": lambda _: "m" + ",".join(f"{x:x}" for x in self.machine.threads()),
            "qsThreadInfo": lambda _: "l",
            "qThreadExtraInfo,": lambda text: self.machine.doing(parse_thread(text)).encode().hex(),
            "qXfer:": self._read_document,
            "qRcmd,": self._monitor,
        }

    def answer(self, data: bytes) -> bytes | None:
        """Return the answer to a packet, or None if the packet needs no answer."""
        text = data.decode("latin-1")
        names = (name for name in self._packets if _begins(name, text))
        name = max(names, key=len, default=None)
        if name is None:
            return b""
        try:
            answer = self._packets[name](text[len(name) :])
        except (SessionError, ExpressionError, PlaceError) as error:
            answer = f"E.{error}" if name[0] in _SAY_ERRORS else ERROR
        except Exception as error:  # an error of the debugger must not end the user's session
            answer = f"E.error of the debugger: {error!r}" if name[0] in _SAY_ERRORS else ERROR
        return None if answer is None else answer.encode("latin-1", "replace")

    def take_late_interrupt(self) -> None:
        """Drop an interrupt that has arrived after the end of the run that it should stop."""
        self.interpreter.session.interrupts.take()

    def close(self) -> None:
        """Delete gdb's points, because gdb has disconnected."""
        self.points.clear()

    # Texts

    def _say(self, text: str) -> None:
        """Print text on gdb's console, while gdb waits for the end of a run or of `monitor`."""
        self._print(text.encode("utf-8", "replace"))

    def _send_output(self, stream: str, data: bytes) -> None:
        if self._is_running:
            self._print(data)

    def _print(self, data: bytes) -> None:
        for at in range(0, len(data), TEXT_BYTES):
            self.link.send(b"O" + data[at : at + TEXT_BYTES].hex().encode(), is_answer=False)

    def _note(self, record: StopRecord | EditRecord) -> None:
        self._has_moved = True

    # Threads

    def _thread(self) -> int:
        """Return the number of the thread to which gdb's requests about registers refer."""
        return self.motion.thread if self._asked_thread in (ALL, ANY) else self._asked_thread

    def _mover(self) -> int:
        """Return the number of the thread that a packet without a thread number moves."""
        return self.motion.thread if self._run_thread in (ALL, ANY) else self._run_thread

    def _set_thread(self, text: str) -> str:
        thread = parse_thread(text[1:])
        if thread not in (ALL, ANY):
            self.machine.name(thread)
        if text[:1] == "g":
            self._asked_thread = thread
        elif text[:1] == "c":
            self._run_thread = thread
        else:
            return UNKNOWN
        return OK

    def _is_alive(self, text: str) -> str:
        return OK if parse_thread(text) in self.machine.threads() else ERROR

    # Registers and memory

    def _write_registers(self, text: str) -> str:
        data = parse_bytes(text)
        for number in range(min(len(data) // 4, GENERAL)):
            self.machine.write_register(self._thread(), number, data[4 * number : 4 * number + 4])
        return OK

    def _write_register(self, text: str) -> str:
        number, _, value = text.partition("=")
        self.machine.write_register(self._thread(), parse_number(number), parse_bytes(value))
        return OK

    def _read_memory(self, text: str) -> str:
        address, size = parse_pair(text)
        return self.machine.read_memory(address, min(size, MOST_BYTES // 2)).hex()

    def _write_hexadecimal(self, text: str) -> str:
        head, _, digits = text.partition(":")
        return self._write_memory(*parse_pair(head), parse_bytes(digits))

    def _write_binary(self, text: str) -> str:
        head, _, data = text.partition(":")
        return self._write_memory(*parse_pair(head), data.encode("latin-1"))

    def _write_memory(self, address: int, size: int, data: bytes) -> str:
        if len(data) != size:
            raise SessionError(f"{len(data)} bytes were sent, {size} announced")
        if size:
            self.interpreter.session.write_memory(address, data)
        return OK

    def _set_point(self, text: str, act: Callable[[GdbPoint], None]) -> str:
        numbers = text.partition(";")[0].split(",")
        if len(numbers) != 3 or numbers[0] not in "01234":
            return UNKNOWN
        act(GdbPoint(*map(parse_number, numbers)))
        return OK

    # Runs

    def _continue(self, address: str, kind: str) -> str:
        if address:
            raise SessionError("a run continues where the program is; set $pc first")
        return self._run(lambda: self.motion.resume([Action(kind, self._run_thread)]))

    def _run(self, act: Callable[[], str]) -> str:
        """Call `act`, which makes the program run, and return its result.

        During the call, the program's output goes to gdb's console.
        """
        self._is_running = True
        try:
            return act()
        finally:
            self._is_running = False
            self._asked_thread = ANY

    def _run_again(self, _text: str) -> str:
        self._is_killed = False
        self.interpreter.session.restart_program()
        return self._run(self.motion.restart)

    def _kill_process(self, _text: str) -> str:
        self._is_killed = True
        self.left = "" if self.is_extended else KILLED
        return OK

    def _kill(self, _text: str) -> None:
        self.left = KILLED

    def _detach(self, _text: str) -> str:
        self.left = "gdb has detached"
        return OK

    # Documents and commands

    def _read_document(self, text: str) -> str:
        kind, _, rest = text.partition(":")
        action, _, rest = rest.partition(":")
        annex, _, part = rest.rpartition(":")
        document = self.machine.document(kind, annex) if action == "read" else None
        if document is None:
            return "E00" if action == "read" and kind == "features" else UNKNOWN
        offset, size = parse_pair(part)
        piece = document[offset : offset + min(size, MOST_BYTES - 4)]
        return ("m" if offset + len(piece) < len(document) else "l") + piece

    def _monitor(self, text: str) -> str:
        """Execute the command `text` of the debugger, and print its answer on gdb's console."""
        line = parse_bytes(text).decode("utf-8", "replace")
        self._has_moved = False
        was_in_block = self.interpreter.in_block
        answer = self._run_command(line)
        printed = answer_text(answer, line)
        if printed:
            self._say(printed + "\n")
        if answer.leaves:
            self._say(LEAVE)
        if self.interpreter.in_block and not was_in_block:
            self._say(BLOCK)
        if self._has_moved:
            self.motion.thread = self.machine.stopped_thread()
            self._say(STALE)
        return OK

    def _run_command(self, line: str) -> Answer:
        self._is_running = True
        try:
            return self.interpreter.execute(line)
        finally:
            self._is_running = False


def _begins(name: str, text: str) -> bool:
    """Return whether `text`, a packet, has the name `name` and not a longer name."""
    if not text.startswith(name):
        return False
    is_word = name[0] in "qv" and name[-1] not in ":,;?"
    return not is_word or text[len(name) : len(name) + 1] in ("", ":", ",", ";")
