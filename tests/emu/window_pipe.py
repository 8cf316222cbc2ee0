"""A core with windows: it takes bytes and gives back each byte plus one."""

from __future__ import annotations

from typing import Any

from macaw.emu.core import Core
from macaw.emu.device import Device
from macaw.emu.faults import Stop
from macaw.emu.state import StateField
from macaw.emu.waits import NEVER
from macaw.emu.windows import Windowed
from macaw.isa import common
from macaw.isa.memory_map import INSTRUCTIONS
from macaw.isa.model import Core as Table
from macaw.isa.model import Memory, SpecialRegister, Window, checked
from tests.emu.toys import make, toy

NUMBER = 5
BASE = INSTRUCTIONS + (NUMBER << 20)
INBOX, OUTBOX, OWN = BASE + 0x8_0000, BASE + 0xC_0000, BASE

TABLE = checked(
    Table(
        name="pipe",
        title="takes bytes, gives them back one higher",
        number=NUMBER,
        section="",
        executable=False,
        instructions=(),
        faults=common.FAULTS,
        registers=(SpecialRegister("step", 0x100, "rw", "cycles a byte takes"),),
        memories=(Memory("pages", BASE, 20, "mem.bank_width", "a few bytes"),),
        windows=(
            Window("inbox", BASE + 0x8_0000, 20, 0x1000, "in", "bytes to the pipe"),
            Window("outbox", BASE + 0xC_0000, 20, 0x1000, "out", "bytes from the pipe"),
        ),
    )
)

FIELDS = (
    StateField("step", "int", initial=1),
    StateField("taken", "object", initial=[]),
    StateField("given", "object", meaning="cycle from which it may be seen, byte", initial=[]),
)

PIPE_DEPTH = 4  # bytes of either side


class Pipe(Core, Windowed):
    """Takes a byte every `step` cycles while the inbox has one and the outbox has room."""

    def __init__(self, device: Device) -> None:
        super().__init__(device, TABLE, "pipe", NUMBER, FIELDS)

    next_address = None

    def reset(self) -> None:
        super().reset()
        self.running = True
        self.time = 0

    def advance(self, limit: int) -> Stop | None:
        state, time = self.state, self.time
        if not state.taken:
            self.wait("a byte")
        elif len(state.given) >= PIPE_DEPTH:
            self.wait("room for a byte")
        else:
            self.proceed()
            state.given.append((time + 3, state.taken.pop(0) + 1 & 0xFF))
            self.time = time + state.step
            self.device.changed(self, time)
        return None

    def window_room(self, window: str, time: int, wanted: int) -> tuple[int, int]:
        if window == "inbox":
            return PIPE_DEPTH - len(self.state.taken), NEVER
        given = self.state.given
        again = given[wanted - 1][0] if len(given) >= wanted else NEVER
        return sum(at <= time for at, _ in given), again

    def push(self, window: str, data: bytes, time: int) -> None:
        self.state.taken += data
        if self.time == NEVER:
            self.time = time + 1

    def pull(self, window: str, length: int, time: int) -> bytes:
        data = bytes(value for _, value in self.state.given[:length])
        del self.state.given[:length]
        if self.time == NEVER:
            self.time = time + 1
        return data


def pipe(device: Device) -> list[Core]:
    return [Pipe(device)]


def pipe_device(*script: tuple[Any, ...], **changes: Any) -> Device:
    return make(toy(0, script), pipe, units=0, **changes)


def write_descriptions(device: Device, *descriptions: bytes) -> None:
    for place, data in enumerate(descriptions):
        device.memory.poke(0x8000 + 32 * place, data)
