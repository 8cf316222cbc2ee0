"""Concordant software: an nnp program as software for another processor, and both compared.

The emulator gets the tensors as the processor has them, filled up to native vectors and tiles; the
generated file gets them as they are. What comes out must have the same bits.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw import api, arguments, differences, files, running
from macaw.arguments import checked
from macaw.asm.program import Program
from macaw.binding import shape_text
from macaw.differences import Deviation
from macaw.emu.core import Listener
from macaw.emu.device import Device
from macaw.errors import InputError
from macaw.isa.config import Configuration
from macaw.isa.memory_map import EXTERNAL
from macaw.lowering.concord import picture
from macaw.lowering.concord.arithmetic import TARGETS
from macaw.lowering.concord.chains import Chain, Place, chains
from macaw.lowering.concord.graph import Graph, Output, Tensor
from macaw.lowering.concord.hints import HOST_TYPES, check_places, check_types, hints
from macaw.lowering.concord.software import Software, software
from macaw.lowering.concord.trace import trace
from macaw.lowering.errors import LowerError
from macaw.words import did_you_mean

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Difference:
    """The first element in which two results differ, and the instruction that wrote it."""

    tensor: str
    index: tuple[int, ...]
    values: tuple[tuple[str, str], ...]  # who says what
    count: int  # elements of the tensor that differ
    place: Place | None
    origin: Deviation | None = None

    def __str__(self) -> str:
        where = f"{self.tensor}[{', '.join(map(str, self.index))}]"
        said = ", ".join(f"{value} {who}" for who, value in self.values)
        more = f" ({self.count} elements of {self.tensor} differ)" if self.count > 1 else ""
        made = f"\nwritten by {self.place}" if self.place else ""
        if self.origin is not None:
            made += f"\nfirst different behind {self.origin}"
        return f"{where} is {said}{more}{made}"


@dataclass(frozen=True)
class Concordance:
    """A program, its graph, and the software that was made of it."""

    program: Program
    config: Configuration
    target: str
    graph: Graph
    chains: Sequence[Chain]
    software: Software

    @property
    def text(self) -> str:
        """The generated file."""
        return self.software.text

    @property
    def inputs(self) -> dict[str, Tensor]:
        """The tensors that the layer takes, by parameter."""
        return self.software.inputs

    @property
    def outputs(self) -> dict[str, Tensor]:
        """The tensors that the layer gives."""
        return {name: output.tensor for name, output in self.software.outputs.items()}

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type of all tensors: the host format."""
        return np.dtype(HOST_TYPES[str(self.config["nnp.host_format"])])

    @checked(path=arguments.path)
    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the generated file. Raises `InputError`."""
        files.write_bytes(path, self.text.encode())

    @checked(kind=arguments.word)
    def picture(self, kind: str) -> str:
        """The graph of what depends on what: "dot" (Graphviz) or "svg". Raises `InputError`."""
        if kind not in picture.PICTURES:
            raise InputError(f"no picture '{kind}'", "there are " + ", ".join(picture.PICTURES))
        return picture.PICTURES[kind](self.graph)

    @checked(seed=arguments.seed)
    def random(self, seed: int = 0) -> dict[str, NDArray[Any]]:
        """Tensors of small normal numbers, to try the layer."""
        rng = np.random.default_rng(seed)
        return {
            name: (rng.normal(size=tensor.shape) / 2).astype(self.dtype)
            for name, tensor in self.inputs.items()
        }

    @checked(data=arguments.arrays)
    def run(self, data: Arrays) -> dict[str, NDArray[Any]]:
        """What the generated software gives. Raises `InputError`."""
        return differences.run_software(self.text, self.target, self.checked(data))

    @checked(data=arguments.arrays, listener=arguments.anything)
    def emulate(self, data: Arrays, listener: Listener | None = None) -> dict[str, NDArray[Any]]:
        """What the emulator gives; the core tells `listener`. Raises `InputError`, `RunError`."""
        tensors = self.checked(data)
        inputs = self._bound(data, tensors)
        self._agree(tensors)

        def prepare(_index: int, machine: Device) -> None:
            for name, tensor in self.inputs.items():
                if tensor.memory == "Dram":
                    values = self._native(name, tensors)
                    machine.memory.poke(self._address(tensor), values.tobytes())
            if listener is not None:
                machine.cores["nnp"].listeners.append(listener)

        done = running.run(self.program, inputs, device=self.config, on_start=prepare)
        queued = [
            done.outputs[item.name].ravel() for item in self.program.outputs if item.at == "netout"
        ]
        stream = np.concatenate(queued) if queued else np.zeros(0, self.dtype)
        found = {}
        for name, tensor in self.outputs.items():
            count = tensor.rows * self._wide(tensor)
            if tensor.memory == "Dram":
                data_bytes = done.device.memory.peek(
                    self._address(tensor), count * self.dtype.itemsize
                )
                values = np.frombuffer(data_bytes, self.dtype)
            else:
                start = tensor.address * self.native
                values = stream[start : start + count].astype(self.dtype)
                if len(values) < count:
                    raise InputError(
                        f"the program's outputs at netout hold {len(stream) // self.native} native"
                        f" vectors; {name} needs {start // self.native + count // self.native}",
                        ".output NAME, dtype, vectors, elements, at=netout",
                    )
            plain = values.reshape(tensor.rows, -1)[:, : tensor.columns]
            found[name] = plain.reshape(tensor.shape)
        return found

    @checked(data=arguments.arrays, text=arguments.optional(arguments.word))
    def check(self, data: Arrays, text: str | None = None) -> Difference | None:
        """Run emulator and software (`text`: the generated file, or another one) on `data`.

        `data` may hold outputs too, which are compared as well. None: all bits are the same.
        """
        text = self.text if text is None else text
        emulated = self.emulate(data)
        given = differences.run_software(text, self.target, self.checked(data))
        for name, output in self.software.outputs.items():
            claims = {"in the emulator": emulated[name]}
            if name not in given:
                raise InputError(f"the software gives no {name}")
            claims[f"in {differences.PACKAGES[self.target]}"] = given[name]
            if name in data:
                claims["in the data"] = self._typed(name, output.tensor, data[name])
            found = self._difference(name, output, claims)
            if found is not None:
                origin = differences.origin(self, text, data)
                return replace(found, origin=origin)
        return None

    def _difference(self, name: str, output: Output, claims: Arrays) -> Difference | None:
        first, *others = claims.values()
        wrong = np.zeros(first.shape, bool)
        for other in others:
            if other.shape != first.shape or other.dtype != first.dtype:
                raise InputError(
                    f"{name} is {other.dtype}, {shape_text(other.shape)} in the software,"
                    f" {first.dtype}, {shape_text(first.shape)} in the emulator"
                )
            wrong |= ~differences.same(first, other)
        if not wrong.any():
            return None
        index = tuple(int(x) for x in np.argwhere(wrong)[0])
        values = tuple((who, repr(array[index].item())) for who, array in claims.items())
        row, column = (0, *index)[-2:]
        blocks = -(-output.tensor.columns // self.native)
        place = output.places[row * blocks + column // self.native] if output.places else None
        return Difference(name, index, values, int(wrong.sum()), place)

    # --- tensors as the processor has them ---

    @property
    def native(self) -> int:
        """Elements of a native vector."""
        return int(self.config["nnp.native"])

    def _wide(self, tensor: Tensor) -> int:
        """Elements of a row, filled up to native vectors."""
        return -(-tensor.columns // self.native) * self.native

    def _address(self, tensor: Tensor) -> int:
        """Where a tensor lies in external memory; Dram begins where it does after reset."""
        return EXTERNAL + tensor.bytes(self.native, self.dtype.itemsize)[0]

    def _native(self, name: str, data: Arrays) -> NDArray[Any]:
        """A tensor's elements as the processor has them: native vectors, or tiles."""
        tensor, n = self.inputs[name], self.native
        values = data[name].reshape(tensor.rows, tensor.columns)
        rows = -(-tensor.rows // n) * n if tensor.kind == "matrix" else tensor.rows
        wide = self._wide(tensor)
        full = np.zeros((rows, wide), self.dtype)
        full[: tensor.rows, : tensor.columns] = values
        if tensor.kind == "matrix":
            full = full.reshape(rows // n, n, wide // n, n).transpose(0, 2, 1, 3)
        return full.ravel()

    def _agree(self, data: Arrays) -> None:
        """Refuse tensors that share a place in external memory, and differ there."""
        held: list[tuple[str, int, bytes]] = []
        for name, tensor in self.inputs.items():
            if tensor.memory != "Dram":
                continue
            start, raw = self._address(tensor), self._native(name, data).tobytes()
            for other, begin, there in held:
                first, last = max(start, begin), min(start + len(raw), begin + len(there))
                if first < last and (
                    raw[first - start : last - start] != there[first - begin : last - begin]
                ):
                    raise InputError(
                        f"{name} and {other} share a place in external memory, and differ there"
                    )
            held.append((name, start, raw))

    def _bound(self, data: Arrays, tensors: Arrays) -> dict[str, NDArray[Any]]:
        """Arrays for the program's own inputs: the stream of NetInQ, and what else it takes."""
        queued = [item for item in self.program.inputs if item.at == "netin"]
        stream = np.zeros(sum(item.elements for item in queued), self.dtype)
        for name, tensor in self.inputs.items():
            if tensor.memory != "NetInQ":
                continue
            values = self._native(name, tensors)
            start = tensor.address * self.native
            if start + len(values) > len(stream):
                raise InputError(
                    f"the program's inputs at netin hold {len(stream) // self.native} native"
                    f" vectors; {name} ends at {(start + len(values)) // self.native}",
                    ".input NAME, dtype, vectors, elements, at=netin",
                )
            stream[start : start + len(values)] = values
        found: dict[str, NDArray[Any]] = {}
        start = 0
        for item in self.program.inputs:
            if item.at == "netin":
                part = stream[start : start + item.elements]
                found[item.name] = part.reshape(item.shape).astype(item.dtype)
                start += item.elements
            elif item.name in data and item.name not in self.inputs:
                found[item.name] = np.asarray(data[item.name])
            else:
                found[item.name] = np.zeros(item.shape, item.dtype)
        return found

    def checked(self, data: Arrays) -> dict[str, NDArray[Any]]:
        """The layer's tensors in `data`, of their type and shape. Raises `InputError`."""
        known = [*self.inputs, *self.outputs, *(item.name for item in self.program.inputs)]
        for name in data:
            if name not in known:
                raise InputError(f"the layer has no tensor '{name}'", did_you_mean(name, known))
        found = {}
        for name, tensor in self.inputs.items():
            if name in data:
                found[name] = self._typed(name, tensor, data[name])
                continue
            own = self._stored(tensor)
            if own is None:
                raise InputError(
                    f"no {name} ({self.dtype}, {shape_text(tensor.shape)}) in the data",
                    "the layer takes "
                    + ", ".join(f"{n} {shape_text(t.shape)}" for n, t in self.inputs.items()),
                )
            found[name] = own
        return found

    def _typed(self, name: str, tensor: Tensor, values: Any) -> NDArray[Any]:
        array = np.asarray(values)
        if array.dtype != self.dtype:
            raise InputError(f"{name} is {self.dtype}, the data has {array.dtype}")
        if array.shape not in (tensor.shape, (tensor.rows, tensor.columns)):
            raise InputError(
                f"{name} is {shape_text(tensor.shape)}, the data has {shape_text(array.shape)}"
            )
        return array.reshape(tensor.shape)

    def check_filling(self) -> None:
        """Refuse tensors that the program's own data do not fill up with zeros: `InputError`."""
        for tensor in self.inputs.values():
            self._stored(tensor)

    def _stored(self, tensor: Tensor) -> NDArray[Any] | None:
        """A tensor that the program has in its own data; None: it has not."""
        if tensor.memory != "Dram":
            return None
        address, n = self._address(tensor), self.native
        rows = -(-tensor.rows // n) * n if tensor.kind == "matrix" else tensor.rows
        wide = self._wide(tensor)
        size = rows * wide * self.dtype.itemsize
        section = self.program.section_at(address)
        if section is None or not section.holds(address + size - 1) or section.nobits:
            return None
        offset = address - section.address
        values = np.frombuffer(section.data[offset : offset + size], self.dtype)
        if tensor.kind == "matrix":
            values = values.reshape(rows // n, wide // n, n, n).transpose(0, 2, 1, 3)
        whole = values.reshape(rows, wide)
        if whole[tensor.rows :].any() or whole[:, tensor.columns :].any():
            what = "tiles" if tensor.kind == "matrix" else "vectors"
            raise InputError(
                f"{tensor.name} is {tensor.rows} × {tensor.columns}, and the program's data that"
                f" fill it up to whole {what} at {address:#010x} are not zeros",
                "`.hint tensor` counts tiles of Dram where m_rd reads them, else vectors",
            )
        return whole[: tensor.rows, : tensor.columns].reshape(tensor.shape)


def _entry(value: Any) -> str | None:
    """A label and how often it runs."""
    good = isinstance(value, tuple | list) and len(value) == 2 and not arguments.word(value[0])
    return None if good and not arguments.whole(1)(value[1]) else "a label and a number"


@checked(
    program=arguments.program_or_path,
    target=arguments.word,
    device=arguments.optional(arguments.device),
    entries=arguments.sequence(_entry, "a list of pairs, a label and how often it runs"),
    name=arguments.word,
)
def concord(
    program: Program | api.FilePath,
    target: str = TARGETS[0],
    *,
    device: api.DeviceLike | None = None,
    entries: Sequence[tuple[str, int]] = (),
    name: str = "",
) -> Concordance:
    """The nnp part of a program, or of the file of one, as software for `target`.

    `target` is numpy, torch, tensorflow or onnx; `entries` are the runs of the part, label and
    times, if it is not one from its begin. Raises `InputError` for what cannot be followed, and
    what `load` raises.
    """
    if target not in TARGETS:
        raise InputError(f"no target '{target}'", "there are " + ", ".join(TARGETS))
    if not isinstance(program, Program):
        name = name or os.path.basename(os.fspath(program))  # noqa: PTH119 - of any kind of path
        program = api.load(program, device=device)
    config = running.configuration_of(program, device)
    try:
        found = list(chains(program, config, arguments.plain(entries)))
        graph = trace(found, hints(program, config), config)
        written = software(graph, config, target, name)
        results = [output.tensor for output in written.outputs.values()]
        check_places(program, [*written.inputs.values(), *results], config)
        check_types(program, written.inputs.values(), config)
    except LowerError as error:
        raise InputError(str(error), error.hint) from None
    concordance = Concordance(program, config, target, graph, found, written)
    concordance.check_filling()
    return concordance


def read_data(path: str | os.PathLike[str]) -> dict[str, NDArray[Any]]:
    """The arrays of a .npz file. Raises `InputError`."""
    import io

    data = files.read_bytes(path)
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as found:
            if not hasattr(found, "files"):
                raise ValueError("it holds one array")
            return {name: found[name] for name in found.files}
    except Exception as error:  # numpy raises many kinds on a damaged file
        raise InputError(
            f"{path} is no .npz file that can be read: {error}", "write it with numpy.savez"
        ) from None
