"""The memories, units and word formats of nnp, which the rows of `macaw.isa.nnp` use.

A word is `op[31:24] opd0[23:16] opd1[15:0]`. Macaw defines numbers and packing.
"""

from __future__ import annotations

from dataclasses import replace

from macaw.isa.kinds import Choice, Immediate
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.rows import Field, Format

VECTOR, TILE = "vector", "tile"  # the unit of addresses: native vectors, native tiles


@dataclass(frozen=True)
class Memory:
    """A memory or queue of nnp that chains read or write.

    An instruction word has the `code` of its memory in bits 3..0 of the field opd0. `elements` are
    the kinds of entries that the memory can have, vectors or tiles. `setting` is the setting with
    the memory's size; empty for external memory. If `queue`, each read pops an entry and each write
    pushes one. `unit` is the compute unit that reads operands of a chain from the memory; empty if
    none does.
    """

    name: str
    code: int
    elements: tuple[str, ...]  # the kinds of entries: VECTOR, TILE
    meaning: str
    setting: str = ""  # the setting with its size; empty: external memory
    queue: bool = False  # it has no addresses: each read pops, each write pushes
    unit: str = ""  # the unit of a chain that reads operands there


# fmt: off
MEMORIES = (
    Memory("Dram",       0, (VECTOR, TILE), "external memory from the core's base register on"),
    Memory("MulVrf",     1, (VECTOR,),      "operands of vv_mul",                               "nnp.mul_vrf",      unit="mfu0"),
    Memory("NetOutQ",    2, (VECTOR,),      "the queue of vectors that leave nnp",              "nnp.net_out",      queue=True),
    Memory("NetInQ",     3, (VECTOR, TILE), "the queue of vectors that come to nnp",            "nnp.net_in",       queue=True),
    Memory("MatrixRf",   4, (TILE,),        "tiles of matrices, quantised",                     "nnp.matrix_rf",    unit="mvm"),
    Memory("InitialVrf", 5, (VECTOR,),      "vectors for the multiplier, quantised",            "nnp.initial_vrf"),
    Memory("AddSubVrf0", 7, (VECTOR,),      "operands of adding, subtracting and max in MFU0",  "nnp.add_sub_vrf0", unit="mfu0"),
    Memory("AddSubVrf1", 8, (VECTOR,),      "operands of adding, subtracting and max in MFU1",  "nnp.add_sub_vrf1", unit="mfu1"),
)
# fmt: on
BY_NAME = {memory.name: memory for memory in MEMORIES}
BY_CODE = {memory.code: memory for memory in MEMORIES}


@dataclass(frozen=True)
class Unit:
    """A compute unit of nnp through which a chain may pass.

    A chain uses each block of the unit at most once.
    """

    name: str
    title: str
    blocks: tuple[str, ...]


# In the order in which a chain passes through them (seed 003, Fig. 3).
UNITS = (
    Unit("mvm", "the matrix-vector multiplier", ("product",)),
    Unit("mfu0", "MFU0", ("add", "multiply", "activate", "quantise")),
    Unit("mfu1", "MFU1", ("add", "activate", "quantise")),
)


@dataclass(frozen=True)
class MemoryKind(Choice):
    """The operand kind for the name of a memory that an instruction can use.

    If a source names another memory, `hint` gives the reason, which ends with the text `use`. For a
    memory in `longer`, `hint` says instead to write `form`, the syntax of another form of the
    instruction.
    """

    use: str = ""  # what the instruction cannot do with other memories, for the hint
    longer: tuple[str, ...] = ()  # memories that only another form of the instruction accepts
    form: str = ""  # the syntax of that form

    def about(self, word: str) -> str:
        memory = BY_NAME[word]
        size = f" It has {memory.setting} native {memory.elements[0]}s." if memory.setting else ""
        return f"{memory.meaning[0].upper()}{memory.meaning[1:]}.{size}"

    def hint(self, text: str) -> str:
        if text in self.longer:
            return f"{text} has addresses: write {self.form}"
        return f"{text} is {BY_NAME[text].meaning}; {self.use}" if text in BY_NAME else ""


def memories(use: str, *names: str) -> MemoryKind:
    """Return the operand kind that accepts the memories `names`.

    For other memories there is an error; `use` is the part of its hint that says what the
    instruction cannot do with them.
    """
    words = {BY_NAME[name].code: name for name in names}
    return MemoryKind(tuple(words.get(code, "") for code in range(max(words) + 1)), use)


def queue_alone(kind: MemoryKind, form: str) -> MemoryKind:
    """Return the operand kind that accepts only those memories of `kind` that are queues.

    Queues have no addresses. If a source names another memory of `kind`, the hint of the error says
    to write `form` instead.
    """
    queues = {name for name in kind.words() if BY_NAME[name].queue}
    words = tuple(word if word in queues else "" for word in kind.choices)
    others = tuple(name for name in kind.words() if name not in queues)
    return replace(kind, choices=words, longer=others, form=form)


_ADDRESS_BITS, _INC_BITS = 16, 4
LAST_ADDRESS = (1 << _ADDRESS_BITS) - 1  # the greatest address that an instruction can name
MOST_INCREMENT = (1 << _INC_BITS) - 1
_ADDRESS = Immediate(_ADDRESS_BITS)
_INC = Immediate(_INC_BITS)
_OP = Field("op", "31:24")


def at(kind: MemoryKind) -> Format:
    """Return the word format with the fields op, memory (of the kind `kind`) and address."""
    fields = (_OP, Field("reserved", "23:20"), Field("mem", "19:16", kind))
    return Format("at", 32, (*fields, Field("a", "15:0", _ADDRESS)), 4)


def at_inc(kind: MemoryKind) -> Format:
    """Return the word format with the fields op, inc, memory (of the kind `kind`) and address.

    The address advances by inc in each iteration.
    """
    fields = (_OP, Field("inc", "23:20", _INC), Field("mem", "19:16", kind))
    return Format("at_inc", 32, (*fields, Field("a", "15:0", _ADDRESS)), 4)


def own(name: str) -> Format:
    """Return the word format of an instruction with only one memory: op and address.

    `name` is the name of the address field.
    """
    fields = (_OP, Field("reserved", "23:16"), Field(name, "15:0", _ADDRESS))
    return Format("own", 32, fields, 4)


def own_inc(name: str) -> Format:
    """Return the word format of an instruction with only one memory: op, inc and address.

    The address advances by inc in each iteration. `name` is the name of the address field.
    """
    fields = (_OP, Field("inc", "23:20", _INC), Field("reserved", "19:16"))
    return Format("own_inc", 32, (*fields, Field(name, "15:0", _ADDRESS)), 4)


PLAIN = Format("plain", 32, (_OP, Field("reserved", "23:0")), 4)
MARKER = Format(
    "marker",
    32,
    (
        Field("op", "31:25"),
        Field("ends", "24"),
        Field("reserved", "23:5"),
        Field("g", "4:0", Immediate(5)),
    ),
    4,
)
