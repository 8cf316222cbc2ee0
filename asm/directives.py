"""The table of the directives that every part accepts, except directives on text.

If GNU as has a directive of the same name, both have the same meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from macaw.asm.core_parts import CoreParts
from macaw.asm.data_directives import DATA
from macaw.asm.directive import Directive
from macaw.asm.forms import shared_directives
from macaw.asm.part_directives import (
    align_bytes,
    align_power,
    change_setting,
    choose_device,
    enter_core,
    take_hint,
)
from macaw.asm.section_directives import (
    SECTION,
    enter_own_section,
    enter_previous,
    enter_section,
    enter_subsection,
    pop_section,
    push_section,
)
from macaw.asm.statement_context import StatementContext
from macaw.asm.symbol_directives import (
    bare_error,
    declare_common,
    declare_local_common,
    keep_symbols,
    set_formula,
    set_new_symbol,
    set_size,
    set_symbol,
    set_type,
    share_symbols,
    user_error,
    user_warning,
    weaken_symbols,
)
from macaw.asm.syntax import Statement
from macaw.asm.tensor_directives import declare_tensor
from macaw.isa import registry
from macaw.isa.lazy_dataclass import dataclass


@dataclass(frozen=True)
class PartDirective:
    """A row of the table of directives, for a directive that works with the parts of the program.

    `run` takes the program's parts as its first argument. The other fields are those of
    `Directive`.
    """

    name: str
    syntax: str
    meaning: str
    run: Callable[[CoreParts, StatementContext, Statement], None]
    defines: bool = False
    example: str = ""


_INDEXED = [core for core in registry.all_descriptors() if core.index]
_CORE_OPTIONS = "".join(f" [, {core.index}={core.index[0].upper()}]" for core in _INDEXED)
_CORE_EXAMPLE = "\n".join(f".core {core.name}, {core.index}=0" for core in _INDEXED[:1])

D, P = Directive, PartDirective

# fmt: off
COMMON: Sequence[Directive | PartDirective] = (
    P(".core",    f".core NAME{_CORE_OPTIONS}",                         "Begin the code of a core, or continue it where it ended before.",                                                                                   enter_core,              example=_CORE_EXAMPLE),
    D(".device",  ".device NAME",                                     "Choose the device to assemble for, a preset or \"file.toml\". Write it before everything that depends on the device.",                              choose_device,           example=".device tiny"),
    D(".setting", ".setting FIELD, VALUE",                            "Give a field of the device another value. Write it after .device. `macaw device` lists the fields.",                                                change_setting,          example=".if 0\n.setting pe.rows, 1\n.endif"),
    P(".input",   ".input NAME, dtype, dimension, ... [, at=PLACE]",  "Declare a tensor whose values you give to a run, with element type and dimensions. It is in external memory or at PLACE. NAME is the symbol of its address.", declare_tensor,    True, example=".input x, int8, 4, 64"),
    P(".output",  ".output NAME, dtype, dimension, ... [, at=PLACE]", "Declare a tensor whose values you get from a run, with element type and dimensions. It is in external memory or at PLACE. NAME is the symbol of its address.", declare_tensor,    True, example=".output y, int32, 8"),
    P(".hint",    ".hint ...",                                        "Give advice to tools. It has no effect on bytes.",                                                                                                  take_hint,               example=".hint unroll=4"),
    D(".error",   ".error [\"text\"]",                                "Report an error with this text, for a program that cannot be assembled.",                                                                           user_error,              example=".ifndef ROWS\n.equ ROWS, 4\n.endif\n.if ROWS > 8\n.error \"at most 8 rows\"\n.endif"),
    D(".err",     ".err",                                             "Report an error, as .error does without a text.",                                                                                                   bare_error,              example=".ifndef ROWS\n.equ ROWS, 4\n.endif\n.if ROWS > 8\n.err\n.endif"),
    D(".warning", ".warning [\"text\"]",                              "Report a warning with this text.",                                                                                                                  user_warning,            example=".set rows, 4\n.if rows > 8\n.warning \"more than 8 rows are not tested\"\n.endif"),
    D("=",        "NAME = value",                                     "As .set.",                                                                                                                                          set_symbol,        True, example="ROW0 = 1 << 0"),
    D(".set",     ".set NAME, value",                                 "Set a symbol, which may be set again. Each use takes the latest value before it.",                                                                  set_symbol,        True, example=".set count, 4"),
    D(".equ",     ".equ NAME, value",                                 "As .set.",                                                                                                                                          set_symbol,        True, example=".equ CORE0, 1 << 16"),
    D(".equiv",   ".equiv NAME, value",                               "As .set, but the symbol must be new.",                                                                                                              set_new_symbol,    True, example=".equiv ROWS, 4"),
    D(".global",  ".global NAME, ...",                                "Share symbols among the files that are assembled together.",                                                                                        share_symbols,           example=".global start\nstart: .byte 0"),
    D(".globl",   ".globl NAME, ...",                                 "As .global.",                                                                                                                                       share_symbols,           example=".globl start\nstart: .byte 0"),
    D(".type",    ".type NAME, function",                             "Set the type of a symbol in the object file: function, object or notype.",                                                                          set_type,                example="main: .byte 0\n.type main, function"),
    D(".size",    ".size NAME, bytes",                                "Set the size of a symbol in the object file. Without it the symbol reaches to the next symbol.",                                                    set_size,                example="table: .byte 1, 2, 3\n.size table, . - table"),
    D(".weak",    ".weak NAME, ...",                                  "Share weak symbols: another file's definition replaces them, and without any definition they are 0.",                                               weaken_symbols,          example=".weak chosen\nchosen: .byte 0"),
    D(".local",   ".local NAME, ...",                                 "Keep symbols private to the file, also those of .comm.",                                                                                            keep_symbols,            example=".local count\n.comm count, 4, 4"),
    D(".comm",    ".comm NAME, bytes [, align]",                      "Reserve zeros in .bss that all files share, unless one of them defines the symbol.",                                                                declare_common,          example=".comm table, 64, 8"),
    P(".lcomm",   ".lcomm NAME, bytes [, align]",                     "Reserve zeros in .bss for this file alone.",                                                                                                        declare_local_common, True, example=".lcomm table, 64, 8"),
    D("==",       "NAME == value",                                    "As .eqv.",                                                                                                                                          set_formula,       True, example="last == . - 4"),
    D(".eqv",     ".eqv NAME, value",                                 "Define a new symbol for an expression, whose value each use computes again.",                                                                              set_formula,       True, example=".set n, 1\n.eqv twice, 2 * n"),
    P(".section", SECTION,                                            "Continue in a section: in the core's own section of this name if there is one, else in .text, .rodata, .data or .bss, as the name and flags say.",  enter_section,           example=".section .data"),
    P(".pushsection", f".pushsection{SECTION.removeprefix('.section')}", "Continue in a section as .section does. .popsection returns from it.",                                                                          push_section,            example=".pushsection .data\n.word 1\n.popsection"),
    P(".popsection", ".popsection",                                   "Restore the current and the previous section from before the matching .pushsection.",                                                                                               pop_section,             example=".pushsection .data\n.word 1\n.popsection"),
    P(".previous", ".previous",                                       "Continue in the section that was current before this one. A second .previous comes back to this one.",                                                                           enter_previous,          example=".data\n.bss\n.previous"),
    P(".subsection", ".subsection NUMBER",                            "Continue in a subsection of this section. Subsections are in the order of their numbers.",                                                          enter_subsection,        example=".subsection 1"),
    P(".text",    ".text [SUBSECTION]",                               "As .section .text.",                                                                                                                                enter_own_section,       example=".text"),
    P(".data",    ".data [SUBSECTION]",                               "As .section .data.",                                                                                                                                enter_own_section,       example=".data"),
    P(".bss",     ".bss [SUBSECTION]",                                "As .section .bss.",                                                                                                                                 enter_own_section,       example=".bss\nbuffer: .space 64"),
    P(".align",   ".align POWER [, fill [, most]]",                   "Continue at a multiple of 2 to the POWER bytes. fill and most are those of .balign.",                                                               align_power,             example=".align 3"),
    P(".p2align", ".p2align POWER [, fill [, most]]",                 "As .align.",                                                                                                                                        align_power,             example=".p2align 3"),
    P(".balign",  ".balign BYTES [, fill [, most]]",                  "Continue at a multiple of BYTES, a power of two. The skipped bytes become fill, by default 0, or nops in code. most is the greatest number of bytes to skip; if more are needed, none are skipped.", align_bytes,             example=".balign 64, 0xff"),
)
# fmt: on
DIRECTIVES: Mapping[str, Directive | PartDirective] = {
    row.name: row for row in (*COMMON, *DATA, *shared_directives())
}
