"""Random parts of nnp that keep the rules of nnp programs, as text."""

from __future__ import annotations

from hypothesis import strategies as st

from macaw.isa.nnp import CORE, SCALARS, STEPS, WINDOW, WRITE
from macaw.isa.nnp_layouts import BY_NAME, MEMORIES, UNITS, VECTOR

_MOST = 60  # entries begin below, and end far below the sizes of the default device
_NAMES = [f"t{number}" for number in range(8)]


def _operands(row: str, memories: list[str]) -> st.SearchStrategy[list[str]]:
    """Draw operands of an instruction: its memory is in `memories`; the address of a queue is 0."""

    def of(memory: str) -> st.SearchStrategy[list[str]]:
        queue = memory in BY_NAME and BY_NAME[memory].queue
        found = []
        for operand in CORE.by_mnemonic[row].operands:
            most = 0 if queue else 15 if operand.name == "inc" else _MOST
            if operand.name == "mem":
                found.append(st.just(memory))
            else:
                found.append(st.integers(0, most).map(str))
        return st.tuples(*found).map(list)

    return st.sampled_from(memories).flatmap(of)


@st.composite
def statement(draw: st.DrawFn, row: str, *memories: str) -> str:
    """Draw an instruction in one of the accepted spellings."""
    texts = draw(_operands(row, list(memories) or [""]))
    if draw(st.booleans()):
        return f"{row}({', '.join(texts)})"
    if draw(st.booleans()):
        names = [operand.name for operand in CORE.by_mnemonic[row].operands]
        texts = [f"{name}={text}" for name, text in zip(names, texts, strict=True)]
    return f"{row} {', '.join(texts)}".rstrip()


_STAGES = {
    (unit.name, block): [
        name for name, step in STEPS.items() if step.block == block and unit.name in step.units
    ]
    for unit in UNITS
    for block in unit.blocks
}


def _kind(row: str) -> tuple[str, ...]:
    """The memories that the operand of an instruction may name."""
    return next((x.kind.words() for x in CORE.by_mnemonic[row].operands if x.name == "mem"), ())


@st.composite
def chain(draw: st.DrawFn) -> list[str]:
    """Draw a chain of vectors: each unit does some of its operations, in a random order."""
    read = draw(st.sampled_from(["v_rd", "v_rd_inc"]))
    lines = [draw(statement(read, "NetInQ", "Dram", "InitialVrf", "MulVrf"))]
    for unit in UNITS:
        blocks = draw(st.permutations(unit.blocks))
        for block in blocks[: draw(st.integers(0, len(blocks)))]:
            row = draw(st.sampled_from(_STAGES[unit.name, block]))
            memories = [x.name for x in MEMORIES if x.unit == unit.name and x.name in _kind(row)]
            lines.append(draw(statement(row, *memories)))
    writes = [
        name for name, step in STEPS.items() if step.role == WRITE and step.elements == VECTOR
    ]
    for row in draw(st.lists(st.sampled_from(writes), min_size=1, max_size=3)):
        lines.append(draw(statement(row, "NetOutQ", "Dram")))
    return lines


def settings() -> st.SearchStrategy[list[str]]:
    """Draw lines that set registers, by `s_wr` or by the register's own instruction.

    No window is set.
    """
    return st.lists(
        st.sampled_from([item for item in SCALARS if item.name not in WINDOW]).flatmap(
            lambda item: st.integers(item.low, 4).flatmap(
                lambda value: st.sampled_from(
                    [f"s_wr {item.name}, {value}", f"{item.alias}({value})"]
                )
            )
        ),
        max_size=3,
    )


@st.composite
def source(draw: st.DrawFn) -> str:
    """Draw a part with chains of vectors and tiles, markers, labels, hints and several programs."""
    lines = ["        .core   nnp"]
    names = draw(st.lists(st.sampled_from(_NAMES), unique=True, max_size=4))
    for place, name in enumerate(names):
        lines.append(f"        .hint tensor {name}, AddSubVrf1, {place * 9}, 3, {place + 64}")
    for program in range(draw(st.integers(1, 3))):
        if program:
            lines.append("        .word 0")
        for number in range(draw(st.integers(0, 4))):
            lines.append(f"label{program}.{number}:")
            lines += draw(settings())
            kind = draw(st.integers(0, 3))
            if kind == 0:
                lines += ["m_rd NetInQ", draw(statement("m_wr", "MatrixRf"))]
            elif kind == 1:
                lines.append(draw(st.sampled_from(["trace_begin 3", "end_chain", "trace_end(3)"])))
            else:
                lines += draw(chain())
        lines.append("end_chain")
    return "\n".join(lines) + "\n"
