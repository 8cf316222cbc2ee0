"""Completion and signature help: they know which operand is at the cursor."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from macaw.asm.editing.completion import Suggestion
from macaw.asm.editing.document import Document
from macaw.asm.editing.signatures import Signature
from macaw.isa import registry

DATA = ".device tiny\n.input x, int8, 64\n.output y, int32, 8\n.equ N, 5\n"
PE = f"{DATA}.core pe, row=0\n.seq layer\n mac\n.endseq\n"
CP = f"{DATA}.core cp\n_start: nop\n1: nop\n"


def suggested(text: str, folder: Path | None = None) -> Sequence[Suggestion]:
    """The completions at the end of a text."""
    line, column = text.count("\n") + 1, len(text) - text.rfind("\n")
    return Document(text, "t.s", folder).completions(line, column).items


def words(text: str, folder: Path | None = None) -> list[str]:
    return [item.word for item in suggested(text, folder)]


def signatures(text: str) -> list[Signature]:
    line, column = text.count("\n") + 1, len(text) - text.rfind("\n")
    return Document(text, "t.s").signatures(line, column)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{PE}.seq b, state=", ["sq", "rq", "sw"]),
        (f"{PE}.seq b, state=r", ["sq", "rq", "sw"]),
        (f"{PE}.seq b, state=sq, ", ["pipeline=", "activation=", "reduction=", "shift=", "window=", "pop="]),
        (f"{PE}.seq b\n ld ", ["weights", "activations", "psums", "both"]),
        (f"{PE}.seq b\n mac acc=0, ", ["base=", "balance", "sfu"]),
        (f"{PE}.seq b\n mac balance, ", ["base=", "acc=", "sfu"]),
        (f"{PE} exe ib=0, last, ", ["shift", "data=", "out=", "to="]),
        (f"{PE} exe ib=0, data=(", ["weights", "activations", "psums", "broadcast", "sliced", "by_cluster", "by_pe", "records", "compress", "dense", "int8", "int16", "fp16", "fp32", "x", "y", "layer"]),
        (f"{PE} exe ib=0, data=(x), out=(y, ", ["stride=", "step=", "count=", "pes=", "type=", "x", "y", "layer"]),
        (f"{PE} config ib=0, ", ["data=", "to=", "x", "y", "layer"]),
        (f"{PE} config ib=0, layer, data=(", ["scales", "table", "broadcast", "sliced", "by_cluster", "by_pe", "x", "y", "layer"]),
        (f"{PE} .seq s\n .types requantise=", ["shift", "scale"]),
        (f"{PE} exe to=", ["all", "x", "y", "layer"]),
        (f"{CP} bne a0, a1, ", ["_start", "1b", "1f"]),
        (f"{CP} j ", ["_start", "1b", "1f"]),
        (f"{CP} lui a0, %", ["%hi", "%lo", "%pcrel_hi", "%pcrel_lo"]),
        (".core ", ["cp", "vc", "nnp", "fim", "pe"]),
        (".core pe, ", ["row="]),
        (f"{CP}.type _start, ", ["func", "function", "notype", "object", "STT_FUNC", "STT_NOTYPE", "STT_OBJECT"]),
        (f"{CP}.input q, int8, 4, at=", ["netin", "message", "netout", "island0", "island1", "unit0", "unit1"]),
        (f"{CP}.ifdef ", ["x", "y", "N", "_start"]),
        (f"{CP}.section ", [".text", ".data", ".tensors", ".text.cp", ".bss"]),
        (f"{CP}.equ ", []),
        (f"{CP}.endif ", []),
        (f"{CP}# ad", []),
        (f"{CP}/* ad */ /* no", []),
        (f'{CP}.ascii "', []),
        (f"{CP}.macro m one, two=1\n.endm\n m one=3, ", ["two=", "x", "y", "N", "_start", "zero"]),
        (".core nnp\n v_rd(", ["Dram", "MulVrf", "NetInQ", "InitialVrf", "AddSubVrf0", "AddSubVrf1"]),
    ],
)  # fmt: skip
def test_completion_knows_where_it_is(text: str, expected: list[str]) -> None:
    assert words(text)[: max(1, len(expected))] == expected


@pytest.mark.parametrize(
    ("text", "has", "lacks"),
    [
        (f"{CP} add a0, ", {"a0", "x10", "zero"}, {"N", "x", "_start"}),
        (f"{CP} lw a0, 0(", {"sp"}, {"N", "%lo"}),
        (f"{CP} addi a0, a1, ", {"N", "%lo", "sizeof"}, {"x", "_start", "a0"}),
        (f"{CP} li a0, ", {"N", "x", "_start"}, {"a0"}),
        (f"{CP} csrr a0, ", {"cycle", "mhartid"}, {"a0"}),
        (f"{CP}.word ", {"x", "N", "sizeof"}, {"a0"}),
        (f"{CP} a", {"add", ".word"}, {"a0", "mac"}),
        (f"{CP}a: b: ", {"add", ".word"}, {"a0"}),
        (f"{CP} nop; l", {"lw", "la"}, {"a0"}),
    ],
)
def test_only_what_fits_is_suggested(text: str, has: set[str], lacks: set[str]) -> None:
    found = set(words(text))
    assert has <= found
    assert not lacks & found


def test_symbols_that_nobody_wrote_are_not_suggested() -> None:
    made = f"{CP}.macro m\nl\\@: nop\n.endm\n m\n m\n la a0, "
    assert not {"l0", "l1"} & set(words(made))
    assert "l1" in words(f"{made}l1\n la a0, ")
    listed = f"{PE} exe ib=0, data=(x sliced), out=y\n exe ib=0, data=("
    assert not [word for word in words(listed) if word.startswith("_")]


def test_files_are_suggested(tmp_path: Path) -> None:
    for name in ("a.inc", "w.npy", ".hidden", "lib/b.npy", "lib/c.toml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    assert words('.include "', tmp_path) == ["a.inc", "lib/", "w.npy"]
    assert words('.npy "', tmp_path) == ["lib/", "w.npy"]
    assert words('.npy "lib/', tmp_path) == ["lib/b.npy"]
    assert words('.device "lib/c', tmp_path) == ["lib/c.toml"]
    assert words('.npy "/', tmp_path) == []
    assert words('.npy "no/', tmp_path) == []
    assert words('.npy "') == []


def test_a_completion_replaces_the_word_before_it() -> None:
    text = f"{CP} .wor"
    found = Document(text, "t.s").completions(text.count("\n") + 1, 6)
    assert (text[found.start : found.end], found.end) == (".wor", len(text))


@pytest.mark.parametrize(
    ("text", "label", "active"),
    [
        (f"{CP} addi ", "addi rd, rs1, imm", "rd"),
        (f"{CP} addi a0, a1, -", "addi rd, rs1, imm", "imm"),
        (f"{CP} lw a0, 4", "lw rd, imm(rs1)", "imm"),
        (f"{CP} lw a0, 4(", "lw rd, imm(rs1)", "rs1"),
        (f"{PE}.seq b\n mac acc=", "mac base=0, acc=0, [balance], [sfu]", "acc=0"),
        (f"{PE} exe ib=0, data=(x, ", "exe ib=, [shift], [last], data=, out=, to=", "data="),
        (f"{PE} config ib=0, ", "config ib=, SEQUENCE, data=, to=", "SEQUENCE"),
        (f"{CP}.equ A, ", ".equ NAME, value", "value"),
        (f"{CP}.word 1, 2, ", ".word value, ...", "..."),
        (f"{PE}.seq b, shift=", ".seq NAME, state=sq, pipeline=2, activation=none, reduction=none, shift=0, window=0, pop=0", "shift=0"),
        (f"{CP}.macro m one, two=1\n.endm\n m 1, ", "m one, two=1", "two=1"),
        (".core nnp\n v_rd(Dram, ", "v_rd mem, a", "a"),
    ],
)  # fmt: skip
def test_signatures(text: str, label: str, active: str) -> None:
    first, *_others = signatures(text)
    assert first.label == label
    assert first.active is not None
    parameter = first.parameters[first.active]
    assert label[parameter.start : parameter.end] == active


def test_a_signature_says_the_range_of_an_operand() -> None:
    (first, *_others) = signatures(f"{CP} addi a0, a1, ")
    assert first.meaning == "Add a constant; the carry is dropped."
    assert [x.meaning for x in first.parameters][1:] == [
        "rs1: a register, zero to t6",
        "imm: -2048 to 2047",
    ]
    assert signatures(f"{PE}.seq b\n mac ")[0].parameters[1].meaning.endswith("; 0 if left out")


def test_a_superfluous_operand_is_no_parameter() -> None:
    text = f"{CP} jalr a0, a1, 8"
    assert all(
        item.active is None or item.active < len(item.parameters) for item in signatures(text)
    )
    assert Document(text, "t.s").hover(text.count("\n") + 1, len(" jalr a0, a1, ")) is None


@pytest.mark.parametrize("text", ["", f"{CP} ", f"{CP}# add ", f"{CP} ad", ".core pe\n add "])
def test_no_signature(text: str) -> None:
    assert signatures(text) == []


@pytest.mark.once
@pytest.mark.parametrize("core", [core.name for core in registry.cores() if core.section])
def test_every_mnemonic_has_signatures(core: str) -> None:
    """The signature of each row marks each operand in the row's syntax."""
    option = f", {registry.core(core).index}=0" if registry.core(core).index else ""
    for name, rows in registry.core(core).rows.items():
        found = signatures(f".core {core}{option}\n {name} ")
        assert len(found) == len(rows)
        for item in found:
            assert all(0 < x.start < x.end <= len(item.label) for x in item.parameters)


SEVERAL = [
    (core.name, name)
    for core in registry.cores()
    if core.section and not core.called
    for name, rows in core.rows.items()
    if len(rows) > 1
]


@pytest.mark.once
@pytest.mark.parametrize(("core", "name"), SEVERAL)
def test_words_of_all_forms_of_a_mnemonic_are_suggested(core: str, name: str) -> None:
    """Each operand has the words of all forms that have an operand there, and no registers else."""
    forms = [
        [operand for operand in row.operands if not operand.inside]
        for row in registry.core(core).rows[name]
    ]
    registers = {
        word for file in registry.core(core).files for group in file.names for word in group
    }
    for number in range(max(map(len, forms)) + 1):
        here = [form[number] for form in forms if number < len(form)]
        expected = {word for operand in here for word in operand.kind.words()}
        found = set(words(f" .core {core}\n {name} {'zero, ' * number}"))
        assert found >= expected
        assert not (found - expected) & registers


def test_a_register_is_explained_as_the_operand_where_it_is() -> None:
    text = " .core vc\n add a1, a1, a1\n sw a1, 4(a1)\n vadd.b vr1, vr1, vr1\n"
    document = Document(text, "t.s")
    found = []
    for line, row in enumerate(text.splitlines()[1:], 2):
        for column in range(1, len(row) + 1):
            hover = document.hover(line, column)
            if row[column - 1] in "av" and row[column - 2] in " (" and column > 2 and hover:
                found.append(hover.text.split(",")[0])
    assert found == [
        "**a1**: rd 11", "**a1**: rs1 11", "**a1**: rs2 11", "**a1**: rs2 11", "**a1**: rs1 11",
        "**vr1**: rd 1", "**vr1**: rs1 1", "**vr1**: rs2 1",
    ]  # fmt: skip


def test_a_label_in_a_section_of_data_is_data_in_the_outline() -> None:
    text = " .core cp\n_start: nop\n .data\nx: .word 1\n .bss\ny: .space 4\n"
    (part,) = Document(text, "t.s").outline()
    assert [(x.name, x.kind) for x in part.children] == [
        ("_start", "code"), ("x", "data"), ("y", "data"),
    ]  # fmt: skip


def test_the_word_core_in_texts_and_comments_begins_no_part() -> None:
    text = ' .core cp # .core pe\nx: fence rw, rw # .core vc\n .ascii ".core pe"; .core vc\n'
    found = [(x.name, x.span.line, x.span.column) for x in Document(text, "t.s").outline()]
    assert found == [(".core cp", 1, 8), (".core vc", 3, 27)]
