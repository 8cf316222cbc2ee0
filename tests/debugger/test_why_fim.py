"""`why` through islands: operations, registers and buffers, checked by computing values again."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from macaw import api
from macaw.debugger.causes.record import CauseError
from macaw.debugger.session import Session
from macaw.execution import configuration_of
from tests.debugger.asked import inputs, only, settings
from tests.debugger.programs import PROGRAMS, of_source, session

pytestmark = pytest.mark.once

H = np.float16
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "relu": lambda x: max(x, H(0)),
    "sigmoid": lambda x: H(1 / (1 + np.exp(-np.float64(x)))),
    "tanh": lambda x: H(np.tanh(np.float64(x))),
}


def tree_sum(values):
    """The sum by adjacent pairs, with each sum rounded."""
    while len(values) > 1:
        values = [a + b for a, b in zip(values[::2], values[1::2], strict=True)]
    return values[0]


def computed(cause, seen):
    """The value of a cause, computed from its ends by the settings of its operations."""
    if cause.ends:
        value = cause.value
        if isinstance(value, str):
            value = np.frombuffer(bytes.fromhex(value), H)[0]
        seen.append((cause.name, float(value)))
        return H(value)
    below = inputs(cause)
    said = settings(cause)
    if "op" not in said:
        found = [computed(item, seen) for item in below]
        if cause.role == "product":
            assert len(found) == 2
            return found[0] * found[1]
        return only(found)
    before = [computed(item, seen) for item in below if item.role == "before"]
    found = [computed(item, seen) for item in below if item.role != "before"]
    assert bool(before) == (said["op"] == "mul" and said.get("accumulate") == 1)
    is_sum = below[-1].role == "product"
    made = tree_sum(found) if is_sum else FUNCTIONS[said["op"]](*found)
    return before[0] + made if before else made


def numbers(folder, name):
    return np.load(PROGRAMS / folder / f"{name}.npy")


@pytest.mark.parametrize(
    ("folder", "element", "row", "column", "arrange"),
    [
        ("fim_dot", "c[1, 2]", 1, 2, "dot"),
        ("fim_outer", "c[1, 2, 3, 5]", 16 + 3, 2 * 16 + 5, "outer"),
        ("fim_tensor", "ab[1, 2, 3, 0]", 4 + 3, 2 * 4, "tensor"),
    ],
)
def test_an_element_of_a_product(folder, element, row, column, arrange):
    """The causes of an element of a product are exactly its row of A and its column of B."""
    run = session(folder)
    run.cont()
    cause = only(run.why(element))
    assert (cause.core, cause.value) == ("dma", run.read(element))
    seen: list[tuple[str, float]] = []
    assert computed(cause, seen) == cause.value
    a, b = numbers(folder, "a"), numbers(folder, "b")
    wanted = sorted([*a[row].astype(float), *b[:, column].astype(float)])
    assert sorted(value for _, value in seen) == wanted
    operation = only(inputs(cause))
    while "arrange" not in settings(operation):
        operation = only(inputs(operation))
    assert settings(operation)["arrange"] == arrange
    set_by = next(x for x in operation.causes if x.role == "arrange")
    assert set_by.how == "mmr"
    text = next((PROGRAMS / folder).glob("*.s")).read_text("utf-8").splitlines()
    assert text[set_by.where.line - 1].split()[:3] == ["mmr", "arrange,", arrange]


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_through_a_buffer_between_blocks(engine):
    """`why` goes from the second layer through the buffer to the first layer, in another block."""
    run = session("fim_mlp", engine)
    run.cont()
    cause = only(run.why("y[2, 3]"))
    seen: list[tuple[str, float]] = []
    walked = set()
    assert computed(cause, seen) == cause.value == run.read("y[2, 3]")

    def walk(item):
        walked.add(item.how)
        for below in item.causes:
            walk(below)

    walk(cause)
    assert {"fim", "push", "pull", "mmr", "program"} <= walked
    found: dict[Any, Any] = {}
    for name, value in seen:
        found.setdefault(name.split("[")[0], []).append(value)
    wanted = {
        "w1": np.repeat(numbers("fim_mlp", "w1"), 1), "b1": numbers("fim_mlp", "b1"),
        "x": np.tile(numbers("fim_mlp", "x")[2], 32), "w2": numbers("fim_mlp", "w2")[3],
        "b2": numbers("fim_mlp", "b2")[3],
    }  # fmt: skip
    assert {name: sorted(values) for name, values in found.items()} == {
        name: sorted(np.ravel(values).astype(float)) for name, values in wanted.items()
    }


@pytest.mark.parametrize(
    ("folder", "element", "of"),
    [
        ("fim_elementwise", "c[1, 7]", {"a", "b"}),
        ("fim_activation", "y[1, 1]", {"x", "w"}),
        ("fim_gru", "h[0, 3]", {"h0", "x", "w", "u", "b"}),
    ],
)
def test_functions_lane_by_lane(folder, element, of):
    """`why` follows a function in each lane by itself, also through a buffer and two functions."""
    run = session(folder)
    run.cont()
    cause = only(run.why(element))
    seen: list[tuple[str, float]] = []
    assert computed(cause, seen) == cause.value == run.read(element)
    names = {re.sub(r"0x\w+ <(\w+).*", r"\1", name).split("[")[0] for name, _ in seen}
    assert names == of


REGISTERS = """
        .device tiny
        .core   fim, island=0
        .block  banks=1
          mmr   op, sub
          mmr   rz_slot, 1
          act   2
          rop <- iosa[3]
          gio <- iosa[4]
          rz <- rop - gio
          gio <- rz
          iosa[5] <- gio
        end
        .core   cp
_start: la      a0, load
        dma.copy zero, a0
        dma.wait zero
        li      a0, 8
        li      a1, 0x30800000
        core.start a0, a1
        li      a1, 1 << 8
        core.wait a1
        li      a0, 0
        li      a7, 93
        ecall
        .section .data.cp
        .balign 4
load:   .word   ROW + 96, numbers, 64, 1, 0, 0
        .set    ROW, 0x40000000 + 64 * 1024 + 2 * 1024
        .data
numbers:.float16 {numbers}
"""
NUMBERS = np.arange(32) / 4 - 3
DIFFERENCE = NUMBERS[:16] - NUMBERS[16:] * 3


@pytest.fixture(scope="module")
def registers():
    data = [*NUMBERS[:16], *(NUMBERS[16:] * 3)]
    run = of_source(REGISTERS.format(numbers=", ".join(map(str, data))))
    run.cont()
    return run


def test_registers_of_banks(registers):
    cause = only(registers.why("fim[0].bank[1].rop.f16[5]"))
    assert (cause.value, cause.how, cause.where.line) == (NUMBERS[5], "fim", 8)
    moved = only(inputs(cause))
    assert (moved.role, moved.core, moved.how) == ("iosa", "dma", "transfer 1")
    assert computed(cause, []) == NUMBERS[5]
    difference = only(registers.why("fim[0].bank[1].rz.f16[18]"))
    assert (difference.value, difference.where.line) == (DIFFERENCE[2], 10)
    assert difference.name == "fim[0,1].rz.f16[18]"
    assert [(x.role, x.name) for x in inputs(difference)] == [
        ("rop", "fim[0,1].rop.f16[2]"), ("gio", "fim[0,1].gio.f16[2]"),
    ]  # fmt: skip
    for name, value in (("rz[37]", DIFFERENCE[2]), ("rz.u16[18]", DIFFERENCE[2])):
        asked = only(registers.why(f"fim[0].bank[1].{name}"))
        assert (asked.name, asked.value) == (difference.name, value)
    assert settings(difference) == {
        "op": "sub", "arrange": "elementwise", "format": "fp16", "rz_slot": 1,
    }  # fmt: skip
    assert computed(difference, []) == DIFFERENCE[2]
    copied = only(registers.why("fim[0].bank[1].gio.f16[2]"))
    assert (copied.where.line, only(inputs(copied)).value) == (11, DIFFERENCE[2])
    opened = only(registers.why("fim[0].bank[1].iosa[5].f16[2]"))
    assert opened.how == "row 2"
    assert computed(opened, []) == DIFFERENCE[2]


def test_a_register_that_holds_several_numbers(registers):
    """Each computed number in a register has its own cause; numbers moved together share one."""
    assert len(registers.why("fim[0].bank[1].rz.u16[16:20]")) == 4
    assert len(registers.why("fim[0].bank[1].rop")) == 1
    (empty,) = registers.why("fim[0].bank[0].rop")
    assert (empty.how, empty.ends) == ("begin", True)


def test_a_column_of_a_bank(registers):
    address = 0x40000000 + 64 * 1024 + 2 * 1024 + 5 * 32
    for lane in range(0, 16, 5):
        cause = only(registers.why(f"mem[{address + 2 * lane}].i16"))
        assert (cause.core, cause.how, cause.where.line) == ("fim[0]", "fim", 12)
        assert computed(cause, []) == DIFFERENCE[lane]


def test_a_slot_that_advances_by_itself():
    run = session("fim_dot")
    run.cont()
    cause = only(run.why("c[1, 2]"))
    while "accumulate" not in settings(cause):
        cause = only(inputs(cause))
    assert settings(cause)["rz_slot"] == "6, counted from 0"


def test_a_dot_product_does_not_use_the_step_of_the_slot(tmp_path):
    for name in ("a.npy", "b.npy"):
        (tmp_path / name).write_bytes((PROGRAMS / "fim_dot" / name).read_bytes())
    text = (PROGRAMS / "fim_dot" / "dot.s").read_text()
    changed = text.replace("arrange, dot", "arrange, dot\n          mmr   rz_step, 3")
    (tmp_path / "dot.s").write_text(changed)
    program = api.load(str(tmp_path / "dot.s"))
    run = Session(program, configuration_of(program), {}, "fast")
    run.cont()
    cause = only(run.why("c[1, 2]"))
    while "accumulate" not in settings(cause):
        cause = only(inputs(cause))
    assert "rz_slot" in settings(cause)
    assert "rz_step" not in settings(cause)


def test_what_is_no_number_is_refused(registers):
    with pytest.raises(CauseError, match=r"is not recorded, of fim\[0\] only gio, iosa"):
        registers.why("fim[0].blocks")
    row = only(registers.why("fim[0].bank[1].iosa[5]"))
    assert (row.how, row.cycle) == ("row 2", None)


def test_an_elementwise_product_is_made_of_its_two_operands():
    """An elementwise product has two operands; only a sum of products has steps of products."""
    run = session("fim_gru")
    run.cont()
    seen = set()

    def walk(cause, depth):
        said = settings(cause)
        if "op" in said:
            roles = tuple(item.role for item in inputs(cause))[:2]
            seen.add((said["op"], said["arrange"], said.get("accumulate"), roles))
        for below in cause.causes if depth else ():
            walk(below, depth - 1)

    walk(only(run.why("h[0, 0]")), 12)
    assert ("mul", "elementwise", 0, ("rop", "gio")) in seen
    assert ("mul", "dot", 0, ("product", "product")) in seen
    assert {op for op, _, _, roles in seen if "product" in roles} == {"mul"}


def test_the_step_of_the_slot():
    """The amount that an operation adds to rz_slot is a setting of it; dot adds 1 without it."""
    lines = REGISTERS.replace("rz_slot, 1\n", "rz_slot, 1\n          mmr   rz_step, 2\n")
    twice = "          rz <- rop - gio\n"
    source = lines.replace(twice, 2 * twice)
    run = of_source(source.format(numbers=", ".join(map(str, [*NUMBERS[:16], *NUMBERS[16:] * 3]))))
    run.cont()
    said = settings(only(run.why("fim[0].bank[1].rz.f16[50]")))
    assert (said["rz_slot"], said["rz_step"]) == ("3, counted from 1", 2)
    assert run.read("fim[0].bank[1].rz.f16[50]") == DIFFERENCE[2]
