"""Writes macaw.h, the C header for a device and for a program of `asm -c`.

The macros of instructions come from `macaw.isa.c_macros`. The program's addresses are constants, so
the header is right for one layout only. Therefore the header refers to a symbol whose name contains
a checksum of the layout. Only an object with this layout defines the symbol, so that a link with
any other object fails.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from macaw.asm.program import Program, Symbol, Tensor
from macaw.asm.relocatable import Relocatable
from macaw.isa import c_macros, memory_map, registry
from macaw.isa.config import Configuration
from macaw.isa.lazy_pattern import lazy_pattern
from macaw.isa.model import Core, Memory, Structure, Window

_TYPES = {  # C types of elements; not all compilers know the types of 16 bits
    "float16": "uint16_t",
    "bfloat16": "uint16_t",
    "float32": "float",
    "float64": "double",
}
_MEMBERS = {"u8": "uint8_t", "i8": "int8_t", "u16": "uint16_t", "i16": "int16_t"}
_WORD_MEMBERS = {"u32": "uint32_t", "i32": "int32_t"}
_NAME = lazy_pattern(r"[A-Za-z_]\w*", re.ASCII)
_DECLARED = lazy_pattern(r"^(?:#define|extern (?!const )\w+) (\w+)", re.MULTILINE)
_KEYWORDS = frozenset(
    (
        "asm auto break case char const continue default do double else enum extern float for goto"
        " if inline int long register restrict return short signed sizeof static struct switch"
        " typedef typeof union unsigned void volatile while int8_t int16_t int32_t int64_t uint8_t"
        " uint16_t uint32_t uint64_t"
    ).split()
)
_CALLS = """\
/* End this core's program with a code; 0 is success. */
#define macaw_exit(code) __extension__ ({ \\
  register int32_t macaw_a0_ __asm__("a0") = (int32_t)(code); \\
  register int32_t macaw_a7_ __asm__("a7") = 93; \\
  __asm__ volatile("ecall" : : "r"(macaw_a0_), "r"(macaw_a7_) : "memory"); \\
  __builtin_unreachable(); \\
})
/* Write bytes to standard output (1) or standard error (2); the result is their count. */
#define macaw_write(file, data, count) __extension__ ({ \\
  int32_t macaw_count_ = (int32_t)(count); \\
  const void *macaw_data_ = (data); \\
  register int32_t macaw_a0_ __asm__("a0") = (int32_t)(file); \\
  register const void *macaw_a1_ __asm__("a1") = macaw_data_; \\
  register int32_t macaw_a2_ __asm__("a2") = macaw_count_; \\
  register int32_t macaw_a7_ __asm__("a7") = 64; \\
  __asm__ volatile("ecall" : "+r"(macaw_a0_) \\
    : "r"(macaw_a1_), "r"(macaw_a2_), "r"(macaw_a7_) : "memory"); \\
  macaw_a0_; \\
})
/* A control and status register of this core, by a constant number. */
#define macaw_csr_read(csr) __extension__ ({ \\
  uint32_t macaw_value_; \\
  __asm__ volatile("csrr %0, %1" : "=r"(macaw_value_) : "i"(csr) : "memory"); \\
  macaw_value_; \\
})
#define macaw_csr_write(csr, value) __extension__ ({ \\
  __asm__ volatile("csrw %0, %1" : : "i"(csr), "r"(value) : "memory"); \\
})
"""


def write(item: Relocatable | None, config: Configuration) -> str:
    """Return the text of the header for a device.

    If `item` is not None, the header also declares the symbols of the program `item`.
    """
    lines = [
        f"/* macaw.h, device {config.name}: written by macaw header. */",
        "#ifndef MACAW_H",
        "#define MACAW_H",
        "",
        "#include <stdint.h>",
        "",
        *_cores(config),
        "",
        *_memories(config),
        "",
        *_structures(),
        "",
        *_places(),
        "",
        c_macros.HELPERS,
        _CALLS,
    ]
    lines += _registers()
    written: set[str] = set()
    for core in _programmable():
        lines += ["", f"/* Instructions of {core.name}. */"]
        macros = c_macros.macros(core)
        lines += (text for name, text in macros.items() if name not in written)
        written |= macros.keys()
    if item is not None:
        used = {*_KEYWORDS, *_DECLARED.findall("\n".join(lines))}
        lines += ["", *_without_used_names(_program(item), used)]
    return "\n".join([*lines, "", "#endif"]) + "\n"


def _without_used_names(lines: Iterable[str], used: set[str]) -> Iterator[str]:
    """Yield the lines, with a comment in place of each that declares a name of `used`.

    Add the names that the lines declare to `used`.
    """
    for line in lines:
        match = _DECLARED.match(line)
        if match is not None and match[1] in used:
            yield f"/* {match[1]} is left out: it is a word of C, or a name from above. */"
            continue
        if match is not None:
            used.add(match[1])
        yield line


def _programmable() -> list[Core]:
    """Return the cores for which a C compiler can generate code."""
    return [core for core in registry.cores() if core.executable and core.base]


def _cores(config: Mapping[str, Any]) -> Iterator[str]:
    yield "/* Numbers of cores, for core.start and masks. */"
    yield "#define MACAW_MASK(core) (1u << (core))"
    for core in registry.cores():
        name = f"MACAW_{core.name.upper()}"
        if core.index:
            yield f"#define {name}({core.index}) ({core.number} + ({core.index}))"
            yield f"#define {name}_{core.index.upper()}S {config[f'{core.name}.{core.index}s']}"
        else:
            yield f"#define {name} {core.number}"


def _memories(config: Mapping[str, Any]) -> Iterator[str]:
    yield "/* The memory map. Half 0 of a unit is ping, half 1 pong. */"
    yield f"#define MACAW_LOCAL {memory_map.LOCAL:#010x}u"
    yield f"#define MACAW_LOCAL_BYTES {config['mem.local_bytes']:#x}u"
    units, unit, half = memory_map.UNITS, memory_map.UNIT_SHIFT, memory_map.HALF_SHIFT
    place = f"((uint32_t)(unit) << {unit}) + ((uint32_t)(half) << {half})"
    yield f"#define MACAW_UNIT(unit, half) ({units:#010x}u + {place})"
    yield f"#define MACAW_HALF_BYTES {config['mem.unit_half_bytes']:#x}u"
    place = f"((uint32_t)(core) << {memory_map.CORE_SHIFT})"
    yield f"#define MACAW_REGISTERS(core) ({memory_map.REGISTERS:#010x}u + {place})"
    yield f"#define MACAW_EXTERNAL {memory_map.EXTERNAL:#010x}u"
    yield f"#define MACAW_EXTERNAL_BYTES {config['mem.external_bytes']:#x}u"
    for core in registry.cores():
        rows: tuple[Memory | Window, ...] = core.memories + core.windows
        for row in rows:
            name = re.sub(r"\W", "_", f"MACAW_{core.name}_{row.name}").upper()
            if core.index:
                place = f"((uint32_t)({core.index}) << {row.shift})"
                yield f"#define {name}({core.index}) ({row.base:#010x}u + {place})"
            else:
                yield f"#define {name} {row.base:#010x}u"


def _registers() -> Iterator[str]:
    """Yield C definitions with the numbers of control and status registers."""
    specials = {item.name: item for core in _programmable() for item in core.specials}
    for item in specials.values():
        name = re.sub(r"\W", "_", item.name).upper()
        yield f"#define MACAW_CSR_{name} {item.address:#x} /* {item.access}: {item.meaning} */"


def _structures() -> Iterator[str]:
    """Yield C declarations of the memory structures of those cores that can run C programs."""
    for core in _programmable():
        for structure in core.structures:
            yield from _structure(structure)


def _structure(structure: Structure) -> Iterator[str]:
    yield f"/* {structure.meaning} */"
    yield f"struct macaw_{structure.name.replace(' ', '_')} {{"
    for member in structure.members:
        kind = (_MEMBERS | _WORD_MEMBERS)[member.type]
        yield f"  {kind} {member.name}; /* {member.meaning} */"
    yield "};"


def _places() -> Iterator[str]:
    yield "/* Where a function or a variable lies; without them, in local memory. */"
    for core in _programmable():
        if core.number:
            name = f"MACAW_{core.name.upper()}_CODE"
            yield f'#define {name} __attribute__((section("{core.section}")))'
    yield '#define MACAW_EXTERNAL_DATA __attribute__((section(".external")))'
    yield '#define MACAW_EXTERNAL_ZEROS __attribute__((section(".bss.external")))'


def _program(item: Relocatable) -> Iterator[str]:
    """Yield C declarations of a program: its addresses as constants, its tensors as arrays."""
    program = item.program
    yield "/* The program: NAME_address as its core sees it, NAME_load where the loader puts it. */"
    yield f"/* A linker that misses {item.layout_symbol}: the object was assembled"
    yield "   from other sources than this header. Write both again. */"
    yield f"extern const char {item.layout_symbol}[];"
    yield "static const char *const macaw_layout_check __attribute__((used)) ="
    yield f"    {item.layout_symbol};"
    for section in program.sections:
        if section.core is not None:
            index = "" if section.index is None else section.index
            own = registry.core(section.core).section.format(section.index)
            if section.name == own:
                name = f"MACAW_{section.core.upper()}{index}_PART"
                yield f"#define {name} {section.address:#010x}u"
                yield f"#define {name}_LOAD {section.load_address:#010x}u"
                yield f"#define {name}_BYTES {section.size}u"
    tensors = {tensor.name for tensor in program.tensors}
    for tensor in program.tensors:
        yield from _tensor(tensor, item.slots)
    count = Counter(symbol.name for symbol in program.symbols)
    for symbol in program.symbols:
        if symbol.name not in tensors and count[symbol.name] == 1 and _NAME.fullmatch(symbol.name):
            yield from _symbol(symbol, program)


def _tensor(tensor: Tensor, slots: Mapping[tuple[str, int], int]) -> Iterator[str]:
    if not _NAME.fullmatch(tensor.name):
        return
    kind = _TYPES.get(tensor.dtype, f"{tensor.dtype}_t")
    shape = "".join(f"[{length}]" for length in tensor.shape)
    about = f"{tensor.direction}, {tensor.dtype}" + (f", at {tensor.at}" if tensor.at else "")
    yield f"extern {kind} {tensor.name}{shape or '[1]'}; /* {about} */"
    own = {row: address for (name, row), address in slots.items() if name == tensor.name}
    for row, address in own.items():
        name = f"{tensor.name}_slot" if len(own) == 1 else f"{tensor.name}_slot{row}"
        yield f"#define {name} {address:#010x}u /* in row {row} */"


def _symbol(symbol: Symbol, program: Program) -> Iterator[str]:
    if symbol.section is None:
        if symbol.is_global:
            yield f"#define {symbol.name} {symbol.value:#x}u"
        return
    section = program.section(symbol.section)
    yield f"#define {symbol.name}_address {symbol.value:#010x}u"
    if section.load_address != section.address:
        load = symbol.value - section.address + section.load_address
        yield f"#define {symbol.name}_load {load:#010x}u"
    if symbol.size:
        yield f"#define {symbol.name}_size {symbol.size}u"
