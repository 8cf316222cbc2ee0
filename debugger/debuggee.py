"""The debuggee: the program that is debugged, on its device, with its output and its focus."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from macaw.debugger.history import Position
from macaw.debugger.interrupts import Interrupts
from macaw.debugger.places import Place
from macaw.debugger.user_values import UserValues
from macaw.emu.device import Device

if TYPE_CHECKING:
    from macaw.asm.program import Program
    from macaw.emu.core import Core


@dataclass
class Output:
    """The output of a program, in pieces: (position in the run, stream, bytes).

    Each new piece is passed to `on_write`, except while `replaying` is true: the run is then a
    repetition, whose output `on_write` has already got.
    """

    on_write: Callable[[str, bytes], object] | None
    pieces: list[tuple[Position, str, bytes]] = field(default_factory=list)
    replaying: bool = False

    def write(self, position: Position, stream: str, data: bytes) -> None:
        """Add the piece `data` of a stream ("stdout", "stderr" or "dprintf")."""
        self.pieces.append((position, stream, data))
        if self.on_write is not None and not self.replaying:
            self.on_write(stream, data)

    def drop_after(self, position: Position) -> None:
        """Drop the pieces that were written after a position."""
        self.pieces[:] = [piece for piece in self.pieces if piece[0] <= position]


class Debuggee:
    """One program with its inputs on one device.

    `device` is the present device; a change of engine replaces the object. `focus` contains the
    places to which steps and short names refer.
    """

    def __init__(
        self,
        program: Program,
        config: Mapping[str, Any],
        inputs: Mapping[str, object],
        engine: str,
        on_output: Callable[[str, bytes], object] | None,
    ) -> None:
        """Build the device. Raises `DeviceError`.

        `config` has the settings of the device, `inputs` an array for each input by its name;
        `load` writes them. `engine` is the name of the engine that runs whenever no point needs
        the reference engine. `on_output(stream, data)` gets the output.
        """
        self.program = program
        self.config = config
        self.inputs = dict(inputs)
        self.engine = engine
        self.interrupts = Interrupts()
        self.user_values = UserValues()
        self.output = Output(on_output)
        self.device = self.build_device(engine)
        # By the number of a layer: the cycle in which the run has started the layer. The number
        # after that of the last layer is the end of the last layer.
        self.layer_starts: dict[int, int] = {}
        self.focus: tuple[Place, ...] = (Place(self.device.order[0].name),)

    @property
    def core(self) -> Core:
        """The core of the first place in the focus."""
        return self.device.cores[self.focus[0].core]

    def build_device(self, engine: str) -> Device:
        """Return a new device that has loaded the program and writes to the debuggee's output."""
        device = Device(self.config, engine=engine)
        device.load(self.program)
        device.stdout = lambda data: self.write("stdout", data)
        device.stderr = lambda data: self.write("stderr", data)
        return device

    def load(self) -> None:
        """Load the program and the inputs again, and clear the output."""
        self.device.load(self.program)
        for name, array in self.inputs.items():
            self.device.write_tensor(name, array)
        self.output.pieces.clear()
        self.layer_starts.clear()

    def forget_layers_after(self, position: Position) -> None:
        """Forget the starts of layers after a position, because the next run may differ there."""
        later = [number for number, cycle in self.layer_starts.items() if cycle > position[0]]
        for number in later:
            del self.layer_starts[number]

    def write(self, stream: str, data: bytes) -> None:
        """Add the output `data` of a stream at the present position."""
        self.output.write(self.device.position, stream, data)
