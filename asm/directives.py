"""Directives that every part knows: symbols, sections, device, tensors. Data stand in their own module.

Where GNU as has a directive of the name, it means the same here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from macaw.asm.diagnostics import did_you_mean
from macaw.asm.layout import EXTERNAL, Area, Plan
from macaw.asm.naming import twice
from macaw.asm.program import DTYPE_SIZES, SYMBOL_KINDS, TENSORS
from macaw.asm.symbols import Datum, Definition, TensorSymbol
from macaw.asm.syntax import Mistake, Name, Named, Node, Statement, Text
from macaw.isa import registry

if TYPE_CHECKING:
    from macaw.asm.site import Site

MAX_ALIGN = 16  # .align 16 is 64 KiB
TENSOR_ALIGN = 64
_MAX_DIMENSIONS = 32


@dataclass(frozen=True)
class Directive:
    """A directive: how it is written, what it does in a sentence, and the code that does it."""

    name: str
    syntax: str
    meaning: str
    run: Callable[[Site, Statement], None]
    defines: bool = False  # its first operand is a symbol that it defines
    example: str = ""  # lines that assemble; in a part, where one is needed


def wrong_operands(statement: Statement, syntax: str) -> Mistake:
    """What to say of a directive with operands that it does not take; `syntax` may be a synonym's."""
    head = statement.head
    assert head is not None
    if head.text.startswith("."):
        syntax = " ".join((head.text, *syntax.split(" ")[1:]))
    return Mistake(
        f"{head.text} takes other operands", (head.start, statement.end), f"write {syntax}"
    )


def _count(statement: Statement, low: int, high: int, syntax: str) -> None:
    if not low <= len(statement.operands) <= high:
        raise wrong_operands(statement, syntax)


def _name(node: Node, what: str = "a symbol") -> Name:
    if not isinstance(node, Name):
        raise Mistake(f"{what} is needed here", node)
    return node


def _set(site: Site, statement: Statement) -> None:
    """`.set`, `.equ` and `=`: a symbol that may be set again."""
    if len(statement.operands) != 2 or not isinstance(statement.operands[0], Name):
        if statement.operands and isinstance(statement.operands[0], Name):
            site.assembly.names.spoil(site, statement.operands[0])
        raise wrong_operands(statement, ".set NAME, value")
    name, value = statement.operands
    assert isinstance(name, Name)
    with site.assembly.names.spoiling(site, name):
        site.assembly.names.set(site, name, site.value(value))


def _equiv(site: Site, statement: Statement) -> None:
    """`.equiv`: a symbol that must not be there already."""
    if statement.operands and isinstance(statement.operands[0], Name):
        name = statement.operands[0]
        found = site.scope.clash(name.text)
        if found is not None:
            raise twice(name, found)
    _set(site, statement)


def _global(site: Site, statement: Statement) -> None:
    _count(statement, 1, 1 << 16, ".global NAME, ...")
    for node in statement.operands:
        name = _name(node)
        other = site.scope.export(name.text, site.line, name.start, name.end)
        if other is not None:
            raise twice(name, other)


def _type(site: Site, statement: Statement) -> None:
    syntax = ".type NAME, " + " | ".join(("function", *SYMBOL_KINDS))
    _count(statement, 2, 2, syntax)
    name, word = _name(statement.operands[0]), _name(statement.operands[1], "a type")
    kind = "func" if word.text == "function" else word.text
    if kind not in SYMBOL_KINDS:
        hint = did_you_mean(word.text, ("function", *SYMBOL_KINDS)) or f"write {syntax}"
        raise Mistake(f"'{word.text}' is no type of a symbol", word, hint)
    site.assembly.names.kinds.append((site, name, kind))


def _size(site: Site, statement: Statement) -> None:
    _count(statement, 2, 2, ".size NAME, bytes")
    name = _name(statement.operands[0])
    site.assembly.names.sizes.append((site, name, site.value(statement.operands[1])))


def _section(site: Site, statement: Statement) -> None:
    _count(statement, 1, 1, ".section NAME")
    site.assembly.parts.enter_section(_name(statement.operands[0], "the name of a section"))


def _section_itself(site: Site, statement: Statement) -> None:
    assert statement.head is not None
    site.assembly.parts.enter_section(statement.head)
    _count(statement, 0, 0, statement.head.text)


def _device(site: Site, statement: Statement) -> None:
    _count(statement, 1, 1, ".device NAME")
    node = statement.operands[0]
    if not isinstance(node, Name | Text):
        raise Mistake("the name of a device is needed here", node)
    site.assembly.device.choose(site.line, node, site.assembly.folders)


def _core(site: Site, statement: Statement) -> None:
    site.assembly.parts.enter_core(site, statement)


def _align_power(site: Site, statement: Statement) -> None:
    _align(site, statement, ".align POWER [, fill [, most]]", True)


def _align_bytes(site: Site, statement: Statement) -> None:
    _align(site, statement, ".balign BYTES [, fill [, most]]", False)


def _align(site: Site, statement: Statement, syntax: str, power: bool) -> None:
    _count(statement, 1, 3, syntax)
    first = statement.operands[0]
    if power:
        step = 1 << site.bounded(first, "alignment, a power of two", 0, MAX_ALIGN)
    else:
        step = site.bounded(first, "alignment in bytes", 0, 1 << MAX_ALIGN) or 1
        if step & (step - 1):
            raise Mistake(f"an alignment is a power of two, not {step}", first)
    padding = site.assembly.parts.padding
    if len(statement.operands) > 1:
        fill = site.bounded(statement.operands[1], "fill", -128, 255) & 0xFF

        def padding(count: int) -> bytes:
            return bytes([fill]) * count

    if len(statement.operands) > 2:
        most = site.bounded(statement.operands[2], "most bytes to skip", 0, 1 << 32)
        if most and -site.area.size % step > most:
            return
    site.align(step, padding)


def _element_type(node: Node) -> str:
    dtype = _name(node, "an element type")
    if dtype.text not in DTYPE_SIZES:
        hint = did_you_mean(dtype.text, DTYPE_SIZES) or "there are " + ", ".join(DTYPE_SIZES)
        raise Mistake(f"'{dtype.text}' is no element type", dtype, hint)
    return dtype.text


def typed_shape(
    site: Site, dtype: Node, dimensions: Sequence[Node]
) -> tuple[str, tuple[int, ...], int]:
    """`int8, 4, 64` as element type, shape and bytes. Raises `Mistake`."""
    element = _element_type(dtype)
    if len(dimensions) > _MAX_DIMENSIONS:
        raise Mistake(f"a tensor has at most {_MAX_DIMENSIONS} dimensions", dimensions[-1])
    shape = tuple(site.bounded(x, "dimension", 1, (1 << 31) - 1) for x in dimensions)
    return element, shape, prod(shape, start=DTYPE_SIZES[element])


def _tensor(site: Site, statement: Statement) -> None:
    """`.input` and `.output`: a named tensor, in external memory or where `at=` says."""
    head = statement.head
    assert head is not None
    syntax = f"{head.text} NAME, dtype, dimension, ... [, at=PLACE]"
    plain = [item for item in statement.operands if not isinstance(item, Named)]
    if not plain or not isinstance(plain[0], Name):
        raise wrong_operands(statement, syntax)
    name = plain[0]
    with site.assembly.names.spoiling(site, name):
        if len(plain) < 2:
            raise wrong_operands(statement, syntax)
        at = site.named(statement.operands, ("at",), head).get("at")
        if len(plain) < 3:
            _element_type(plain[1])
            raise wrong_operands(statement, syntax)
        dtype, shape, size = typed_shape(site, plain[1], plain[2:])
        datum = Datum("tensor", size, dtype, shape)
        home = _name(at.value, "the name of a memory") if at is not None else None
        direction = head.text.removeprefix(".")
        plan = _home(site, home, name, datum, direction)
        if home is not None and plan.element not in ("", dtype):
            message = f"'{name.text}' is {dtype}, {home.text} of this device is for {plan.element}"
            raise Mistake(message, plain[1])
        found = _declared(site, name, datum, plan)
        site.assembly.names.tensors.append(TensorSymbol(found, direction, home, plan))


def _home(site: Site, home: Name | None, name: Name, datum: Datum, direction: str) -> Plan:
    """The section of a tensor of that direction, `input` or `output`. Raises `Mistake`."""
    if home is None:
        return Plan(TENSORS, EXTERNAL, "aw", [Area(TENSORS, zeros=True, align=TENSOR_ALIGN)])
    plan = site.assembly.parts.home(home)
    if plan.direction and not direction.startswith(plan.direction):
        message = f"'{name.text}' is an {direction}, {home.text} is for {plan.direction}puts"
        raise Mistake(message, home)
    size = datum.size
    if size % plan.step:
        message = f"'{name.text}' has {size} bytes, {home.text} takes multiples of {plan.step}"
        raise Mistake(message, home)
    if plan.limit and size > plan.limit:
        message = f"'{name.text}' has {size} bytes, {home.text} has room for {plan.limit}"
        raise Mistake(message, home)
    return plan


def _declared(site: Site, name: Name, datum: Datum, plan: Plan) -> Definition:
    """The symbol of a tensor, shared among all files. Raises `Mistake`."""
    area = site.assembly.layout.area(plan)
    other = site.scope.export(name.text, site.line, name.start, name.end)
    if other is not None:
        raise twice(name, other)
    site.moved(area).room(datum.size + area.align)
    area.align_to(area.align)
    found = site.assembly.names.label_here(site, name, area, datum)
    area.grow(datum.size)
    site.moved(area).has_put(area.size - datum.size)
    found.kind, found.used = "object", True
    return found


def _said(site: Site, statement: Statement) -> tuple[str, tuple[int, int]]:
    """The text of `.error` or `.warning`, and its place."""
    assert statement.head is not None
    name, place = statement.head.text, (statement.head.start, statement.end)
    if not statement.operands:
        return f"{name} stands here", place
    if len(statement.operands) > 1 or not isinstance(statement.operands[0], Text):
        raise wrong_operands(statement, f'{name} ["text"]')
    return statement.operands[0].value.decode("utf-8", "replace"), place


def _error(site: Site, statement: Statement) -> None:
    raise Mistake(*_said(site, statement))


def _warning(site: Site, statement: Statement) -> None:
    message, place = _said(site, statement)
    site.assembly.report.warning(site.line, place, message)


def _err(site: Site, statement: Statement) -> None:
    assert statement.head is not None
    _count(statement, 0, 0, ".err")
    raise Mistake(".err stands here", statement.head)


def _hint(site: Site, statement: Statement) -> None:
    """`.hint`: advice, which the form of a part may know; any other is ignored."""
    if site.assembly.parts.form is not None:
        site.assembly.parts.form.hint(site, statement)


def table(*groups: Sequence[Directive]) -> Mapping[str, Directive]:
    """Directives by name."""
    return {row.name: row for group in groups for row in group}


_INDEXED = [core for core in registry.cores() if core.index]
_CORE_OPTIONS = "".join(f" [, {core.index}={core.index[0].upper()}]" for core in _INDEXED)
_CORE_EXAMPLE = "\n".join(f".core {core.name}, {core.index}=0" for core in _INDEXED[:1])

D = Directive

# fmt: off
COMMON = (
    D(".core",    f".core NAME{_CORE_OPTIONS}",                         "The part of a core begins; it goes on where that part ended before.",                                                                               _core,           example=_CORE_EXAMPLE),
    D(".device",  ".device NAME",                                     "The device to assemble for, a preset or \"file.toml\"; before everything that depends on it.",                                                      _device,         example=".device tiny"),
    D(".input",   ".input NAME, dtype, dimension, ... [, at=PLACE]",  "A tensor that the caller gives, in external memory or a core's own: element type and dimensions. Its name is the symbol of its address.",           _tensor,         True,                                                   example=".input x, int8, 4, 64"),
    D(".output",  ".output NAME, dtype, dimension, ... [, at=PLACE]", "A tensor that the caller gets, from external memory or a core's own: element type and dimensions. Its name is the symbol of its address.",          _tensor,         True,                                                   example=".output y, int32, 8"),
    D(".hint",    ".hint ...",                                        "Advice to tools; no effect on bytes.",                                                                                                              _hint,           example=".hint unroll=4"),
    D(".error",   ".error [\"text\"]",                                "An error with that text, where a program cannot be assembled so.",                                                                                  _error,          example=".ifndef ROWS\n.equ ROWS, 4\n.endif\n.if ROWS > 8\n.error \"at most 8 rows\"\n.endif"),
    D(".err",     ".err",                                             "An error, as .error without a text.",                                                                                                               _err,            example=".ifndef ROWS\n.equ ROWS, 4\n.endif\n.if ROWS > 8\n.err\n.endif"),
    D(".warning", ".warning [\"text\"]",                              "A warning with that text.",                                                                                                                         _warning,        example=".set rows, 4\n.if rows > 8\n.warning \"more than 8 rows are not tested\"\n.endif"),
    D("=",        "NAME = value",                                     "As .set.",                                                                                                                                          _set,            True,                                                   example="ROW0 = 1 << 0"),
    D(".set",     ".set NAME, value",                                 "Give a symbol a value; it may be set again, and each use means the value of then.",                                                                 _set,            True,                                                   example=".set count, 4"),
    D(".equ",     ".equ NAME, value",                                 "As .set.",                                                                                                                                          _set,            True,                                                   example=".equ CORE0, 1 << 16"),
    D(".equiv",   ".equiv NAME, value",                               "As .set, but the symbol must be new.",                                                                                                              _equiv,          True,                                                   example=".equiv ROWS, 4"),
    D(".global",  ".global NAME, ...",                                "Share symbols among the files that are assembled together.",                                                                                        _global,         example=".global start\nstart: .byte 0"),
    D(".globl",   ".globl NAME, ...",                                 "As .global.",                                                                                                                                       _global,         example=".globl start\nstart: .byte 0"),
    D(".type",    ".type NAME, function",                             "The type of a symbol in the object file: function, object or notype.",                                                                              _type,           example="main: .byte 0\n.type main, function"),
    D(".size",    ".size NAME, bytes",                                "The size of a symbol in the object file; without it the symbol reaches to the next one.",                                                           _size,           example="table: .byte 1, 2, 3\n.size table, . - table"),
    D(".section", ".section NAME",                                    "Go on in a section of this name, of the core's part where it has one.",                                                                             _section,        example=".section .data"),
    D(".text",    ".text",                                            "As .section .text.",                                                                                                                                _section_itself, example=".text"),
    D(".data",    ".data",                                            "As .section .data.",                                                                                                                                _section_itself, example=".data"),
    D(".bss",     ".bss",                                             "As .section .bss.",                                                                                                                                 _section_itself, example=".bss\nbuffer: .space 64"),
    D(".align",   ".align POWER [, fill [, most]]",                   "Go on at a multiple of 2 to the POWER bytes; fill and most as for .balign.",                                                                        _align_power,    example=".align 3"),
    D(".p2align", ".p2align POWER [, fill [, most]]",                 "As .align.",                                                                                                                                        _align_power,    example=".p2align 3"),
    D(".balign",  ".balign BYTES [, fill [, most]]",                  "Go on at a multiple of BYTES, a power of two. The bytes that are skipped are fill, by default 0 or (in code) nop; more than most are not skipped.", _align_bytes,    example=".balign 64, 0xff"),
)
# fmt: on
