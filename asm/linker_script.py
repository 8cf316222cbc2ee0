"""Writes the linker script that links an object of `asm -c` with the objects of a C compiler.

The sections of the object keep the addresses for which Macaw assembled it. The sections of C code
and data follow those sections, in local memory and in external memory. GNU ld and ld.lld can read
the script.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from macaw.asm.program import Section
from macaw.asm.relocatable import PREFIX, Relocatable
from macaw.isa import memory_map, registry
from macaw.isa.typed_records import NamedTuple

_ALIGN = 16  # of the sections after the object's sections, in bytes
_FLAGS = {"ax": 5, "aw": 6, "a": 4}  # PF_* of a segment
STACK = 4096  # bytes that stay free at the end of local memory; `__stack_size` overrides it


class Output(NamedTuple):
    """A section `name` of the linked file, in the segment `segment`.

    The linker collects in it the sections of C objects whose names match one of `patterns`.
    """

    name: str
    segment: str
    patterns: tuple[str, ...]


def _all(*names: str) -> tuple[str, ...]:
    return tuple(pattern for name in names for pattern in (name, f"{name}.*"))


def external_outputs() -> Iterator[Output]:
    """Yield the output sections for C in external memory.

    If the name of a section matches two patterns, the first pattern applies.
    """
    for core in registry.cores():
        if core.executable and core.base and core.number:
            yield Output(f"{core.section}.c", "external_code", _all(core.section))
    yield Output(".data.external", "external", _all(".external"))
    yield Output(".bss.external", "external", _all(".bss.external"))


_LOCAL_OUTPUTS = (
    Output(".text.c", "c_code", _all(".text")),
    Output(".rodata.c", "c_constants", _all(".rodata", ".srodata")),
    Output(".data.c", "c_data", _all(".data", ".sdata")),
    Output(".bss.c", "c_data", (*_all(".bss", ".sbss"), "COMMON")),
)
_SEGMENTS = {
    "external_code": "ax",
    "external": "aw",
    "c_code": "ax",
    "c_constants": "a",
    "c_data": "aw",
}


def write(item: Relocatable, config: Mapping[str, Any]) -> str:
    """Return the script for an object and its device."""
    return "\n".join(_lines(item, config)) + "\n"


def _lines(item: Relocatable, config: Mapping[str, Any]) -> Iterator[str]:
    program = item.program
    sources = ", ".join(program.source_files) or "no source"
    sections = [section for section in program.sections if section.size]
    yield f"/* Written by macaw asm --ld-script for {_plain(sources)}, device {program.device}. */"
    yield "OUTPUT_ARCH(riscv)"
    yield "ENTRY(_start)"
    yield ""
    yield "PHDRS"
    yield "{"
    for number, section in enumerate(sections):
        yield f"  s{number} PT_LOAD FLAGS({_FLAGS[section.flags]});"
    for name, flags in _SEGMENTS.items():
        yield f"  {name} PT_LOAD FLAGS({_FLAGS[flags]});"
    yield "}"
    yield ""
    yield "SECTIONS"
    yield "{"
    if sections:
        yield f"  /* {_plain(sources)}: each at the address for which it was assembled. */"
    for number, section in enumerate(sections):
        yield (
            f"  {section.name} {section.address:#010x} : AT({section.load_address:#010x})"
            f" {{ KEEP(*({PREFIX}{section.name})) }} :s{number}"
        )
    yield ""
    yield "  /* Of C, what macaw.h's attributes put into external memory. */"
    yield from _outputs(external_outputs(), _end(sections, memory_map.EXTERNAL))
    yield "  __external_end = .;"
    yield ""
    yield "  /* C, in local memory. */"
    local = max(_end(sections, memory_map.LOCAL), memory_map.TEXT)
    yield from _outputs(_LOCAL_OUTPUTS, local)
    yield "  PROVIDE(_end = .);"
    yield "  PROVIDE(end = .);"
    yield "  __local_end = .;"
    yield ""
    yield "  .note.macaw 0 : { KEEP(*(.note.macaw)) } :NONE"
    yield "  /DISCARD/ : { *(.eh_frame .eh_frame.* .eh_frame_hdr .note.GNU-stack) }"
    yield "}"
    yield ""
    yield f"PROVIDE(__stack_size = {STACK:#x});"
    local_end = memory_map.LOCAL + config["mem.local_bytes"]
    external_end = memory_map.EXTERNAL + config["mem.external_bytes"]
    yield f"ASSERT(__local_end + __stack_size <= {local_end:#x},"
    yield '  "C and its stack do not fit local memory (mem.local_bytes)")'
    yield f"ASSERT(__external_end <= {external_end:#x},"
    yield '  "what C puts there does not fit external memory (mem.external_bytes)")'
    yield f"ASSERT(DEFINED({item.layout_symbol}),"
    yield '  "the object and this script are not of the same sources: write both again")'


def _plain(text: str) -> str:
    """Return a text without the characters that would end a comment of the script."""
    return text.replace("*/", "* /")


def _end(sections: list[Section], memory: int) -> int:
    """Return the first free load address in the memory that begins at the address `memory`."""
    last = memory_map.EXTERNAL if memory == memory_map.LOCAL else 1 << 32
    ends = [x.load_address + x.size for x in sections if memory <= x.load_address < last]
    end = max(ends, default=memory)
    return end + -end % _ALIGN


def _outputs(outputs: Iterable[Output], start: int) -> Iterator[str]:
    """Yield the lines of output sections that follow each other; `start` is the first address."""
    yield f"  . = {start:#010x};"
    for name, segment, patterns in outputs:
        # The section has no address: with one, ld.lld would not align the section to its contents.
        where = f": AT(ADDR({name}))"
        yield f"  {name} {where} {{ *({' '.join(patterns)}) }} :{segment}"
