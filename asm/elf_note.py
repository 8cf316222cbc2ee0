"""Reads and writes `.note.macaw`, which stores as JSON the data for which ELF has no field.

The note's description is a UTF-8 JSON object with these members:

- `version`, and `device`, the name of the device
- `config`: the complete configuration of the device as TOML
- `tensors`: name, direction, dtype, shape, address and `at` of each, in source order; `at` is the
  memory that contains the tensor, empty for external memory
- `parts`: section, core and index, one for each section of a core
- optionally `hints`: core, name, memory, address, rows and cols of each `.hint tensor`
- optionally `arrays`: name, direction ("array" or "copy"), dtype, shape, address and file of each
  array of a part, and of each copy of a tensor in a part. Like line information, they are for
  debugging.
- in an object for a linker, `placed`: section, address, load address and size of each section. In
  the linked file these sections must have these addresses; the file may contain other sections, too
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from macaw.asm.elf_format import NOTE_HEADER, ElfError, whole
from macaw.asm.program import (
    DIRECTIONS,
    DTYPE_SIZES,
    NOTE_VERSION,
    PLACES,
    Hint,
    Program,
    Tensor,
)
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.typed_records import NamedTuple

SECTION = ".note.macaw"
OWNER = b"Macaw\0"
TYPE = 1
LIMIT = 1 << 24  # bytes of a description that we read
TOP = 1 << 32  # one past the last address
_MAX_DIMENSIONS = 32  # the limit of NumPy 1; NumPy 2 has 64


@dataclass(frozen=True, slots=True)
class Note:
    """The contents of the note: the members that the module's description lists.

    `config_toml` is the member `config`. `parts` gives (core, index) by section name. `placed` is
    None if the note has no such member.
    """

    version: int
    device: str
    config_toml: str
    tensors: tuple[Tensor, ...]
    parts: Mapping[str, tuple[str, int | None]]
    hints: tuple[Hint, ...]
    arrays: tuple[Tensor, ...]
    placed: tuple[Placed, ...] | None  # None: the file was not made by a linker


class Placed(NamedTuple):
    """A section of an object: its address, load address and size at the time of its assembly."""

    section: str
    address: int
    load: int
    size: int


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def write(program: Program, *, arrays: bool) -> bytes:
    """Return the bytes of the note section for a program, with or without its arrays."""
    description: dict[str, Any] = {
        "version": program.note_version or NOTE_VERSION,  # other tools' executables have none
        "device": program.device,
        "config": program.config_toml,
        "tensors": [{**_typed(tensor), "at": tensor.at} for tensor in program.tensors],
        "parts": [
            {"section": section.name, "core": section.core, "index": section.index}
            for section in program.sections
            if section.core is not None
        ],
    }
    if program.hints:
        description["hints"] = [asdict(hint) for hint in program.hints]
    if arrays and (program.arrays or program.copies):
        description["arrays"] = [
            {**_typed(array), "file": array.file} for array in (*program.arrays, *program.copies)
        ]
    if program.is_linked:
        description["placed"] = [
            Placed(item.name, item.address, item.load_address, item.size)._asdict()
            for item in program.sections
        ]
    try:
        text = json.dumps(description, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        raise ElfError("a name or the configuration holds what UTF-8 cannot") from None
    header = NOTE_HEADER.pack(len(OWNER), len(text), TYPE)
    note = header + _padded(OWNER) + _padded(text)
    _check(_parse(text))  # refuse what `read` would refuse
    return note


def _typed(tensor: Tensor) -> dict[str, Any]:
    """Return the members that tensors and arrays have in common."""
    return {
        "name": tensor.name,
        "direction": tensor.direction,
        "dtype": tensor.dtype,
        "shape": list(tensor.shape),
        "address": tensor.address,
    }


def read(data: bytes) -> Note | None:
    """Return Macaw's note from the bytes of a note section; None if there is none.

    Raises `ElfError`.
    """
    found, place = None, 0
    while place < len(data):
        if place + NOTE_HEADER.size > len(data):
            raise ElfError(f"{SECTION}: a note is cut off at offset {place:#x}")
        owner_size, size, kind = NOTE_HEADER.unpack_from(data, place)
        owner_at = place + NOTE_HEADER.size
        text_at = owner_at + owner_size + -owner_size % 4
        place = text_at + size + -size % 4
        if place > len(data):
            raise ElfError(f"{SECTION}: a note's {size:#x} bytes exceed its section")
        if data[owner_at : owner_at + owner_size] == OWNER and kind == TYPE:
            if size > LIMIT:
                raise ElfError(f"{SECTION}: {size} bytes are more than the limit of {LIMIT}")
            if found is not None:
                raise ElfError(
                    f"{SECTION}: two objects of Macaw are linked; assemble their sources together"
                )
            found = _check(_parse(data[text_at : text_at + size]))
    return found


def _parse(text: bytes) -> Any:
    try:
        return json.loads(text.decode())
    except (ValueError, RecursionError) as error:
        raise ElfError(f"{SECTION}: not UTF-8 JSON: {error}") from None


def _check(note: Any) -> Note:
    version = _member(note, "the note", "version", int)
    if not 1 <= version <= NOTE_VERSION:
        newer = ", a newer one made the file: upgrade Macaw, or assemble it again"
        raise ElfError(
            f"{SECTION}: version {version}; this program reads versions 1 to {NOTE_VERSION}"
            + (newer if version > NOTE_VERSION else "")
        )
    tensors: dict[str, Tensor] = {}
    for item in _member(note, "the note", "tensors", list):
        tensor = _tensor(item)
        if tensor.name in tensors:
            raise ElfError(f"{SECTION}: the tensor {tensor.name} occurs twice")
        tensors[tensor.name] = tensor
    parts: dict[str, tuple[str, int | None]] = {}
    for item in _member(note, "the note", "parts", list):
        section = _member(item, "a part", "section", str)
        core = _member(item, "a part", "core", str)
        index = _member(item, "a part", "index", int | None)
        if section in parts:
            raise ElfError(f"{SECTION}: the section {section} is two parts")
        if not core or (index is not None and not 0 <= index < TOP):
            raise ElfError(f"{SECTION}: the section {section} is no part of core {core!r} {index}")
        parts[section] = (core, index)
    config = _member(note, "the note", "config", str)
    if any("\ud800" <= letter <= "\udfff" for letter in config):
        raise ElfError(f"{SECTION}: the config of the note is not UTF-8")
    return Note(
        version,
        _member(note, "the note", "device", str),
        config,
        tuple(tensors.values()),
        parts,
        tuple(map(_hint, _optional(note, "hints"))),
        tuple(map(_array, _optional(note, "arrays"))),
        tuple(map(_placed, _optional(note, "placed"))) if "placed" in note else None,
    )


def _optional(note: Any, name: str) -> list[Any]:
    """Return the list `name` of the note; it is empty if the note does not have this member."""
    items: list[Any] = _member(note, "the note", name, list) if name in note else []
    return items


def _placed(item: Any) -> Placed:
    what = "a placed section"
    numbers = [_member(item, what, name, int) for name in ("address", "load", "size")]
    if not all(0 <= number < TOP for number in numbers):
        raise ElfError(f"{SECTION}: {what} cannot be: {numbers}")
    return Placed(_member(item, what, "section", str), *numbers)


def _hint(item: Any) -> Hint:
    words = [_member(item, "a hint", name, str) for name in ("core", "name", "memory")]
    numbers = [_member(item, "a hint", name, int) for name in ("address", "rows", "cols")]
    address, rows, cols = numbers
    if not all(words) or not 0 <= address < TOP or not 0 < rows < TOP or not 0 < cols < TOP:
        raise ElfError(f"{SECTION}: a hint cannot be: {words} {numbers}")
    return Hint(*words, *numbers)


def _member(item: Any, what: str, name: str, kind: Any) -> Any:
    """Return the member `name` of a JSON object.

    Raises `ElfError` if the object has no such member, or if the member's type is not `kind`. Also
    raises it for a text with control characters, except in the member `config`.
    """
    if not isinstance(item, dict) or name not in item:
        raise ElfError(f"{SECTION}: {what} has no {name}")
    value = item[name]
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ElfError(f"{SECTION}: the {name} of {what} has the wrong type")
    if isinstance(value, str) and name != "config" and not value.isprintable():
        raise ElfError(f"{SECTION}: the {name} of {what} holds {value!r}")
    return value


def _tensor(item: Any) -> Tensor:
    tensor = _described(item, "a tensor", DIRECTIONS)
    return replace(tensor, at=_member(item, f"tensor {tensor.name}", "at", str))


def _array(item: Any) -> Tensor:
    array = _described(item, "an array", PLACES)
    return replace(array, file=_member(item, f"array {array.name}", "file", str))


def _described(item: Any, kind: str, directions: Sequence[str]) -> Tensor:
    """Return a tensor or an array from the JSON members that tensors and arrays have in common.

    `kind` is what messages call it, and `directions` are its legal directions. Raises `ElfError`.
    """
    name = _member(item, kind, "name", str)
    what = f"{kind.split()[-1]} {name}"
    direction = _member(item, what, "direction", str)
    dtype = _member(item, what, "dtype", str)
    shape = _member(item, what, "shape", list)
    address = _member(item, what, "address", int)
    if not name or direction not in directions or dtype not in DTYPE_SIZES:
        raise ElfError(f"{SECTION}: {what} cannot be: {direction!r}, {dtype!r}")
    if len(shape) > _MAX_DIMENSIONS or not all(whole(length, 1, TOP) for length in shape):
        raise ElfError(f"{SECTION}: {what} has a shape that cannot be")
    tensor = Tensor(name, direction, dtype, tuple(shape), address)
    if not (0 <= address < TOP and address + tensor.size <= TOP):
        raise ElfError(f"{SECTION}: {what} lies outside the 32-bit address space")
    return tensor
