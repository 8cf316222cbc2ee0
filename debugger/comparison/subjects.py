"""Subjects of a comparison of two runs: memory, registers, packets, transfers, cycles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from macaw.debugger.places import places
from macaw.emu.bfloat16 import element_type, type_name

if TYPE_CHECKING:
    from macaw.asm.program import Program
    from macaw.debugger.session import Session

MEMORY, REGISTERS, PACKETS, TRANSFERS, CYCLES = SUBJECTS = (
    "memory",
    "registers",
    "packets",
    "transfers",
    "cycles",
)
ALL = "*"  # after a subject: that subject, even if a tensor has its name


class CompareError(ValueError):
    """Raised if two runs cannot be compared; the message is for the user."""


@dataclass(frozen=True)
class Area:
    """A range of memory in one run, to compare with the range of the same name in the other run.

    `dtype` and `shape` are the type and shape of its elements. An empty `name` means all memory;
    its bytes are then compared by address.
    """

    name: str
    address: int
    size: int
    dtype: str = "uint8"  # the type of an element (`macaw.emu.bfloat16.element_type`)
    shape: tuple[int, ...] = ()

    @property
    def width(self) -> int:
        """The size of an element in bytes."""
        return element_type(self.dtype).itemsize


@dataclass(frozen=True)
class Subject:
    """The kind of data to compare, with the addresses or cores of the data in one of the two runs.

    For the subject `memory`, `areas` has the ranges of memory; without areas, all memory is
    compared. For the other subjects, `cores` has the names of the cores.
    """

    kind: str  # one of SUBJECTS
    text: str  # the user's text
    areas: tuple[Area, ...] = ()
    cores: frozenset[str] = frozenset()


def subjects_of(text: str, runs: Sequence[Session]) -> list[Subject]:
    """Return for each of two runs the subject that `text` denotes in it.

    The text is one of `SUBJECTS`, or an expression for memory. After `registers` and `cycles`,
    places may follow. If both programs have a tensor or array with the name of a subject, the text
    means that tensor or array, unless places or `*` follow. Raises `CompareError`,
    `ExpressionError`, `PlaceError`.
    """
    word, _, rest = text.strip().partition(" ")
    rest = rest.strip()
    is_named = not rest and all(word in _areas(run.program) for run in runs)
    if word not in SUBJECTS or is_named:
        return [_memory_of(run, text) for run in runs]
    rest = "" if rest == ALL else rest
    if rest and word not in (REGISTERS, CYCLES):
        raise CompareError(f"compare {word} takes nothing more")
    if word == MEMORY:
        if same_layout(*(run.program for run in runs)):
            return [Subject(MEMORY, text) for _ in runs]
        return _shared_areas(text, runs)
    subjects = []
    for run in runs:
        names = {place.core for place in places(run.device, rest)} if rest else ()
        subjects.append(Subject(word, text, cores=frozenset(names or run.device.cores)))
    shared = frozenset.intersection(*(subject.cores for subject in subjects))
    if not shared:
        raise CompareError(f"no core of {rest} is in both runs")
    return [Subject(word, text, cores=shared) for _ in runs]


def _memory_of(run: Session, text: str) -> Subject:
    expression = run.expression(text)
    if expression.target is None or expression.target[0].extent is None:
        raise CompareError(f"{text} is no memory; {', '.join(SUBJECTS[1:])} can be compared too")
    value = np.asarray(expression.value())
    access, indices = expression.target
    assert access.extent is not None
    address, size = access.extent(*indices())
    dtype = access.dtype or value.dtype
    if access.dtype is None and value.nbytes != size:  # a single number in memory is a Python int
        dtype = np.dtype(f"{'f' if dtype.kind == 'f' else 'i'}{size // max(1, value.size)}")
    area = Area(text.strip(), address, size, type_name(dtype), value.shape)
    return Subject(MEMORY, text, (area,))


def same_layout(one: Program, other: Program) -> bool:
    """Return whether the sections, tensors and arrays of both programs have the same addresses.

    If they have, an address means the same section and the same element in both programs.
    """
    return _layout(one) == _layout(other)


def _layout(program: Program) -> object:
    sections = [(x.name, x.address, x.load_address, x.size) for x in program.sections]
    tensors = [(x.name, x.address, x.size) for x in (*program.tensors, *program.arrays)]
    return sections, tensors


def _shared_areas(text: str, runs: Sequence[Session]) -> list[Subject]:
    """Return for each run a subject with the tensors and arrays that both programs have.

    A tensor or array counts if both programs have one of this name and size; the addresses may
    differ. `text` is what the user typed; it becomes the text of the subjects. Raises
    `CompareError` if the programs have nothing in common.
    """
    tables = [_areas(run.program) for run in runs]
    names = [
        name for name, area in tables[0].items()
        if name in tables[1] and tables[1][name].size == area.size
    ]  # fmt: skip
    if not names:
        raise CompareError("the programs have different sections and no tensor in common")
    return [Subject(MEMORY, text, tuple(table[name] for name in names)) for table in tables]


def _areas(program: Program) -> Mapping[str, Area]:
    return {
        x.name: Area(x.name, x.address, x.size, x.dtype, x.shape)
        for x in (*program.tensors, *program.arrays)
    }
