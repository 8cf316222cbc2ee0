"""Reads the names and shapes of a program's tensors from `.hint tensor` and from declarations."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from macaw.asm.program import DTYPE_SIZES, Program
from macaw.isa import memory_map
from macaw.isa.config import Configuration
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.nnp import CORE, HOST_TYPES
from macaw.lowering.concord.graph import Tensor
from macaw.lowering.errors import LowerError


@dataclass(frozen=True)
class Hint:
    """A name for a tensor of `rows` × `columns` elements at an address of a memory.

    `explicit` is true for the directive `.hint tensor`, and false for a declared tensor.

    In a memory of vectors each row begins with a new native vector. In a memory of tiles the tensor
    is padded to whole tiles. For a queue, `address` is the position in its stream, counted in
    native vectors.
    """

    name: str
    memory: str
    address: int
    rows: int
    columns: int
    # whether a hint names it; a declared tensor counts only where there is no hint
    explicit: bool = True

    def vectors(self, native: int) -> int:
        """Return the number of native vectors that the tensor occupies in a memory of vectors."""
        return self.rows * -(-self.columns // native)

    def tiles(self, native: int) -> int:
        """Return the number of native tiles that the tensor occupies as a matrix."""
        return -(-self.rows // native) * -(-self.columns // native)


def hints(program: Program, config: Configuration) -> list[Hint]:
    """Return the named tensors of a program: explicit hints first, then declared tensors.

    Raises `LowerError` if two explicit hints have the same name or a hint has no elements.
    """
    explicit = [
        Hint(item.name, item.memory, item.address, item.rows, item.cols)
        for item in getattr(program, "hints", ())
        if item.core == CORE.name
    ]
    names: set[str] = set()
    for hint in explicit:
        if hint.name in names:
            raise LowerError(f"two tensors are called {hint.name}")
        names.add(hint.name)
        if min(hint.rows, hint.columns) < 1:
            raise LowerError(f"{hint.name} has no elements")
    return [
        *explicit,
        *(hint for hint in _declared_hints(program, config) if hint.name not in names),
    ]


def check_places(program: Program, tensors: Iterable[Tensor], config: Configuration) -> None:
    """Raise `LowerError` if a tensor in Dram shares bytes with a tensor of a queue.

    The dma moves the queue's tensor from or to these bytes. A trace follows only nnp, so it would
    not know that they are the same data.
    """
    native, host = int(config["nnp.native"]), HOST_TYPES[str(config["nnp.host_format"])]
    for tensor in tensors:
        if tensor.memory != "Dram":
            continue
        start, end = (memory_map.EXTERNAL + at for at in tensor.bytes(native, DTYPE_SIZES[host]))
        for other in program.tensors:
            if other.at and other.address < end and start < other.address + other.size:
                raise LowerError(
                    f"{tensor.name} lies in Dram where '{other.name}' is in external memory, which"
                    f" the dma moves through {other.at}; macaw does not follow such data",
                    "data that Dram counts from its start come first: `.data` and `.array`",
                )


def check_types(program: Program, inputs: Iterable[Tensor], config: Configuration) -> None:
    """Raise `LowerError` if an input's data are declared with a type other than the host format.

    Two exceptions are accepted: data that are all zero, because zero has the same bits in each
    type, and unsigned integers of the same size, which are the bits of the numbers.
    """
    native, host = int(config["nnp.native"]), HOST_TYPES[str(config["nnp.host_format"])]
    bits = host.replace("float", "uint")
    for tensor in inputs:
        if tensor.memory != "Dram":
            continue
        start, end = tensor.bytes(native, DTYPE_SIZES[host])
        for data in program.typed:
            low = max(start, data.address - memory_map.EXTERNAL)
            high = min(end, data.address - memory_map.EXTERNAL + data.size)
            if data.dtype in (host, bits) or low >= high:
                continue
            section = program.section_at(data.address)
            offset = 0 if section is None else memory_map.EXTERNAL - section.address
            if section is None or not any(section.data[low + offset : high + offset]):
                continue
            raise LowerError(
                f"{data.file}:{data.line}: these data are {data.dtype}, and {tensor.name} is read"
                f" from them as {host} (nnp.host_format)",
                f"numpy.save(FILE, array.astype(numpy.{host}))",
            )


def _declared_hints(program: Program, config: Configuration) -> Iterable[Hint]:
    """Yield a hint for each declared tensor at a queue or in external memory.

    Only tensors of the host format that consist of whole native vectors have a hint. In external
    memory, they must also begin at a whole native vector.
    """
    native = int(config["nnp.native"])
    host = HOST_TYPES[str(config["nnp.host_format"])]
    vector = native * DTYPE_SIZES[host]
    places = {"netin": 0, "netout": 0}
    queues = {"netin": "NetInQ", "netout": "NetOutQ"}
    for tensor in program.tensors:
        if tensor.dtype != host or tensor.elements % native:
            continue
        columns = tensor.shape[-1] if tensor.shape and tensor.shape[-1] % native == 0 else native
        rows = prod(tensor.shape) // columns
        if tensor.at in queues:
            place = places[tensor.at]
            yield Hint(tensor.name, queues[tensor.at], place, rows, columns, explicit=False)
            places[tensor.at] += tensor.elements // native
        elif not tensor.at and tensor.address >= memory_map.EXTERNAL:
            address, rest = divmod(tensor.address - memory_map.EXTERNAL, vector)
            if not rest:
                yield Hint(tensor.name, "Dram", address, rows, columns, explicit=False)
