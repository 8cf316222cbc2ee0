"""Describes the device to gdb: registers, threads and memory, in gdb's XML formats.

Threads are the cores that have general registers (`macaw.emu.breaks.Instrumented`); these execute
RISC-V. The registers are those of the tables: general registers and pc (`org.gnu.gdb.riscv.cpu`),
control and status registers (`org.gnu.gdb.riscv.csr`), and all further register files of these
cores (`org.macaw.xvc`, vector registers). All threads have the same description; a register that a
core does not have is unavailable there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple
from xml.sax.saxutils import quoteattr

from macaw.emu.breaks import Instrumented
from macaw.isa.memory_map import EXTERNAL, LOCAL

if TYPE_CHECKING:
    from macaw.emu.core import Core
    from macaw.emu.device import Device
    from macaw.isa.model import RegisterFile, SpecialRegister

PC_NUMBER, FIRST_CSR = 32, 65  # gdb's numbers of the registers of RISC-V
FIRST_OWN = FIRST_CSR + (1 << 12)
WORD_BITS = 32
_TYPES = {"sp": "data_ptr", "gp": "data_ptr", "tp": "data_ptr", "fp": "data_ptr", "ra": "code_ptr"}
_LANES = (("b", "int8", 8), ("h", "int16", 16), ("w", "int32", 32), ("d", "int64", 64),
          ("f32", "ieee_single", 32))  # fmt: skip


class GdbRegister(NamedTuple):
    """A register with gdb's number for it, and with its place in the core's table.

    `file` is the register file, `place` the number in this file; `Session.read_register` takes
    both.
    """

    number: int
    name: str
    bits: int
    file: str
    place: int  # number in its file; for "csr" the address


def is_thread(core: Core) -> bool:
    """Return whether gdb sees a core as a thread while the core runs."""
    return isinstance(core, Instrumented)


def gdb_registers(device: Device) -> dict[int, GdbRegister]:
    """Return the registers of all cores that can be threads, in the order of gdb's numbers."""
    cores = [core for core in device.order if isinstance(core, Instrumented)]
    rows = [*_general(general_file(device)), *_special(cores), *_own(cores)]
    return {row.number: row for row in rows}


def general_file(device: Device) -> RegisterFile:
    """Return the file of general registers, which all threads have."""
    core = next(core for core in device.order if isinstance(core, Instrumented))
    return next(file for file in core.table.files if file.name == core.inlines)


def _general(file: RegisterFile) -> Iterator[GdbRegister]:
    for index, names in enumerate(file.names):
        yield GdbRegister(index, names[0], file.width, file.name, index)
    yield GdbRegister(PC_NUMBER, "pc", WORD_BITS, "pc", 0)


def _special(cores: Iterable[Instrumented]) -> Iterator[GdbRegister]:
    rows: dict[int, SpecialRegister] = {}
    for core in cores:
        rows |= {row.address: row for row in core.table.specials}
    for address, row in sorted(rows.items()):
        yield GdbRegister(FIRST_CSR + address, row.name, WORD_BITS, "csr", address)


def _own(cores: Iterable[Instrumented]) -> Iterator[GdbRegister]:
    files: dict[str, RegisterFile] = {}
    for core in cores:
        files |= {file.name: file for file in core.table.files if file.name != core.inlines}
    number = FIRST_OWN
    for file in files.values():
        for index, names in enumerate(file.names):
            yield GdbRegister(number, names[0], file.width, file.name, index)
            number += 1


def target_xml(device: Device) -> str:
    """Return the target description as XML."""
    registers, general = gdb_registers(device).values(), general_file(device).name
    features = {
        "org.gnu.gdb.riscv.cpu": [x for x in registers if x.file in (general, "pc")],
        "org.gnu.gdb.riscv.csr": [x for x in registers if x.file == "csr"],
        "org.macaw.xvc": [x for x in registers if x.file not in (general, "pc", "csr")],
    }
    lines = [
        '<?xml version="1.0"?>',
        '<!DOCTYPE target SYSTEM "gdb-target.dtd">',
        '<target version="1.0">',
        "<architecture>riscv:rv32</architecture>",
    ]
    for name, rows in features.items():
        if rows:
            lines += [f"<feature name={quoteattr(name)}>", *_types(rows)]
            lines += [_register_xml(row) for row in rows]
            lines.append("</feature>")
    return "\n".join([*lines, "</target>", ""])


def _types(rows: Sequence[GdbRegister]) -> Iterator[str]:
    """Yield XML for the union types of vector registers, with the lanes of each element type."""
    for bits in sorted({row.bits for row in rows if row.bits > WORD_BITS}):
        for name, kind, width in _LANES:
            yield f'<vector id="v{bits}{name}" type="{kind}" count="{bits // width}"/>'
        yield f'<union id="vec{bits}">'
        yield from (f'<field name="{name}" type="v{bits}{name}"/>' for name, _, _ in _LANES)
        yield "</union>"


def _register_xml(row: GdbRegister) -> str:
    kind = "code_ptr" if row.file == "pc" else _TYPES.get(row.name, "int")
    kind = f"vec{row.bits}" if row.bits > WORD_BITS else kind
    group = ' group="vector"' if row.bits > WORD_BITS else ""
    group = ' group="csr" save-restore="no"' if row.file == "csr" else group
    return (
        f'<reg name={quoteattr(row.name)} bitsize="{row.bits}" regnum="{row.number}"'
        f' type="{kind}"{group}/>'
    )


def threads_xml(threads: Iterable[tuple[int, str, str]]) -> str:
    """Return a list of threads as XML, from (number, name, text on the activity) of each thread."""
    rows = [
        f'<thread id="{number:x}" name={quoteattr(name)}>{_text(doing)}</thread>'
        for number, name, doing in threads
    ]
    return "\n".join(['<?xml version="1.0"?>', "<threads>", *rows, "</threads>", ""])


def _text(text: str) -> str:
    return quoteattr(text)[1:-1]


def memory_map_xml(device: Device) -> str:
    """Return the memories of the device as XML, without the registers and windows of cores."""
    space = device.memory
    areas = [(LOCAL, space.local_bytes), (EXTERNAL, space.external_bytes)]
    areas += [(space.half_address(at), space.half_bytes) for at in range(len(space.halves))]
    areas += [(x.start, x.end - x.start) for x in space.regions if x.pages is not None]
    rows = [
        f'<memory type="ram" start="{start:#x}" length="{length:#x}"/>'
        for start, length in sorted(areas)
        if length
    ]
    head = ['<?xml version="1.0"?>', "<memory-map>"]
    return "\n".join([*head, *rows, "</memory-map>", ""])
