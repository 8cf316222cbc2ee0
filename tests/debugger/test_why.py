"""`why E`: causes of values in programs made by hand, checked by computing the values again."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from macaw.debugger.causes.cause_text import lines, tree
from macaw.debugger.causes.record import CauseError
from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.commands.text import answer_text
from macaw.debugging import DebuggerFiles
from tests.debugger.asked import inputs, only, settings, walk
from tests.debugger.programs import PROGRAMS, of_source, session

pytestmark = pytest.mark.once

SCALAR = """
        .core cp
_start: la   a0, numbers
        lw   a1, 0(a0)
        lw   a2, 4(a0)
        mul  a3, a1, a2
        addi a3, a3, 5
        la   a4, result
        sw   a3, (a4)
        la   a0, copy
        dma.copy zero, a0
        dma.wait zero
        li   a7, 93
        li   a0, 0
        ecall
        .data
numbers: .word 6, 7
result: .word 0
        .balign 4
copy:   .word y, result, 4, 1, 0, 0
        .output y, int32, 1
"""


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_a_word_leads_through_a_transfer_and_registers_to_the_data(engine):
    run = of_source(SCALAR, engine)
    run.cont()
    cause = only(run.why("y[0]"))
    assert (cause.value, cause.core, cause.how, cause.by) == (47, "dma", "transfer 1", "cp")
    assert cause.where.line == 11, "the dma.copy"
    stored = only(inputs(cause))
    assert (stored.core, stored.how, stored.where.line, stored.value) == ("cp", "sw", 9, 47)
    assert stored.instruction == "sw a3, 0(a4)"
    said = settings(cause)["description"]
    assert said == "dst=y[0], src=0x80000008 <result>, row_bytes=4, rows=1"
    registers = {item.role: item for item in stored.causes}
    added = registers["rs2"]
    assert (added.name, added.how, added.value, added.where.line) == ("cp.a3", "addi", 47, 7)
    product = only([item for item in added.causes if not item.setting])
    (number,) = [item for item in added.causes if item.setting]
    assert (number.role, number.value, number.how, number.ends) == ("imm", 5, "instruction", True)
    assert (product.how, product.value, product.where.line) == ("mul", 42, 6)
    loads = [only([x for x in item.causes if x.role == "memory"]) for item in product.causes]
    assert [item.how for item in product.causes] == ["lw", "lw"]
    assert [item.where.line for item in product.causes] == [4, 5]
    assert [int.from_bytes(bytes.fromhex(x.value), "little") for x in loads] == [6, 7]
    assert [(x.how, x.ends) for x in loads] == [("program", True)] * 2
    assert "numbers" in loads[0].name
    assert cause.cycle > stored.cycle > added.cycle > product.cycle


def test_a_byte_that_was_written_in_a_word_of_the_program():
    run = of_source("""
        .core cp
_start: la   a0, word
        li   a1, 7
        sb   a1, 1(a0)
        lw   a2, (a0)
        ecall
        .data
word:   .word 0x04030201
""")
    run.stepi(6)  # `la` is two
    loaded = only(run.why("a2"))
    assert loaded.value == 0x04030701
    parts = [(item.how, item.memory[1]) for item in loaded.causes if item.role == "memory"]
    assert parts == [("program", 1), ("sb", 1), ("program", 2)]


def test_a_register_now_and_earlier():
    run = of_source(SCALAR)
    run.stepi(5)
    (now,) = run.why("cp.a3")
    assert (now.value, now.how) == (42, "mul")
    run.stepi(1)
    assert only(run.why("a3")).how == "addi", "the record of before is not taken"
    assert run.last_stop.done == 1, "the session stays where it is"


def test_what_was_set_by_hand_begins_there():
    run = of_source(SCALAR)
    run.stepi(5)
    run.set("cp.a3", 100)
    run.cont()
    stored = only(inputs(only(run.why("y[0]"))))
    added = next(item for item in stored.causes if item.role == "rs2")
    assert (added.value, added.how) == (105, "addi")
    begin = next(item for item in added.causes if not item.setting)
    assert (begin.value, begin.how, begin.ends) == (100, "set", True)
    assert next(lines([begin])) == "rs1 cp.a3 = 100: set by hand at cycle 44, set cp.a3 = 100"
    product = run.why("cp.a2")
    assert only(product).how == "lw", "what was before the edit is told, too"


def test_a_byte_of_a_word_that_was_set():
    run = of_source(
        ".core cp\n_start: la a1, numbers\nlbu a2, 5(a1)\nebreak\n.data\nnumbers: .word 1, 2\n"
    )
    run.set("mem[numbers + 4]", 0x04030201)
    run.stepi(3)
    (memory,) = (x for x in only(run.why("cp.a2")).causes if x.role == "memory")
    assert (memory.how, memory.value) == ("set", "02")


def test_memory_and_later_values_after_an_edit():
    run = of_source(SCALAR)
    run.stepi(3)
    run.set("mem[numbers + 4]", 9)
    run.stepi(2)
    run.set("cp.a1", 3)
    run.cont()
    assert run.read("y[0]") == 6 * 9 + 5, "the product was done before"
    stored = only(inputs(only(run.why("y[0]"))))
    added = next(item for item in stored.causes if item.role == "rs2")
    product = next(item for item in added.causes if not item.setting)
    one, two = product.causes
    assert (one.how, one.value) == ("lw", 6), "a1 was set behind the product"
    ends = [item for item in two.causes if item.role == "memory"]
    assert [(x.how, x.value) for x in ends] == [("set", "09"), ("program", "000000")]
    assert [x.how for x in run.why("mem[numbers + 4]")] == ["set", "program"]
    (now,) = run.why("cp.a1")
    assert (now.value, now.how, now.by) == (3, "set", "set cp.a1 = 3")


def test_an_edit_before_the_first_instruction():
    run = of_source(SCALAR)
    run.set("mem[numbers]", 256 * 6)
    run.set("cp.a5", 7)
    run.cont()
    ends = run.why("mem[numbers]")
    assert [(x.how, x.value, x.cycle) for x in ends] == [
        ("set", "0006", 0),
        ("program", "0000", None),
    ]
    (register,) = run.why("cp.a5")
    assert (register.how, register.value) == ("set", 7)
    assert next(lines([register])).endswith(
        ": set by hand at cycle 0, set mem[numbers] = 1536; set cp.a5 = 7"
    )
    (untouched,) = run.why("cp.s3")
    assert untouched.how == "begin"


def test_an_input_is_no_edit():
    run = session("layer")
    run.set("cp.s5", 1)
    run.cont()

    def ends(cause):
        return {cause.how} if cause.ends else set().union(*(ends(x) for x in cause.causes))

    assert ends(only(run.why("y[2]"))) == {"input", "program"}


def test_what_has_no_cause_is_said():
    run = of_source(SCALAR)
    run.cont()
    with pytest.raises(CauseError, match="no place in memory and no register"):
        run.why("a3 + 1")
    with pytest.raises(CauseError, match=r"what made .* is not recorded, of cp only x$"):
        run.why("cp.retired")
    with pytest.raises(CauseError, match=r"what made .* is not recorded$"):
        run.why("dma.write_free")
    with pytest.raises(CauseError, match="is no single place in memory or in the state of a core"):
        run.why("pe[*,*].*.acc0")
    assert only(run.why("mem[numbers]")).how == "program"
    assert [x.how for x in run.why("cp.zero")] == ["begin"]


def test_what_came_through_a_window_leads_to_who_gave_it():
    run = session("nnp_mlp")
    run.cont()
    end = only(inputs(only(run.why("y[0, 0]"))))
    assert (end.how, end.name, end.core, end.ends) == ("v_wr", "netout of nnp", "nnp", False)


def test_an_output_that_nobody_wrote():
    run = of_source(SCALAR)
    assert [(x.how, x.value) for x in run.why("y[0]")] == [("begin", 0)]


def test_a_run_that_is_too_long_or_interrupted_is_refused(monkeypatch):
    run = of_source(SCALAR)
    run.cont()
    run.interrupt()
    with pytest.raises(CauseError, match="could not be recorded: interrupted"):
        run.why("y[0]")
    assert only(run.why("y[0]")).value == 47
    monkeypatch.setattr("macaw.debugger.causes.record.MOST", 10)
    run.stepc_back(1)
    with pytest.raises(CauseError, match="it has more than 10 accesses and steps"):
        run.why("y[0]")


# digits_mlp: a logit from weights, pixels and biases alone, by what the tool answers.


@pytest.fixture(scope="module")
def digits():
    run = session("digits_mlp")
    run.cont()
    return run


def source_of(cause):
    lines = (PROGRAMS / "digits_mlp" / "digits_mlp.s").read_text("utf-8").splitlines()
    return lines[cause.where.line - 1].split("#")[0].split()


def computed(cause, seen):
    """The value of a cause, computed from its ends: sums, products, relu, shifts, saturation."""
    seen.setdefault(cause.how, set()).add(cause.name)
    if cause.ends:
        return cause.value
    said = settings(cause)
    causes = [(item.role, computed(item, seen)) for item in cause.causes if not item.setting]
    if cause.how == "mac":
        (_, weight), (_, activation) = causes
        return weight * activation
    if cause.how == "spu" and source_of(cause)[1] == "nonsf,":
        return sum(value for _, value in causes)
    ((_, value),) = causes
    if said == {"activation": "relu"}:
        return max(value, 0)
    if cause.how == "spu":
        shift = said["shift"]
        low, rest = value >> shift, value & (1 << shift) - 1
        half = 1 << shift - 1
        low += rest > half or (rest == half and low & 1)
        return max(-128, min(127, low))
    return value  # transfers, stores, loads of partial sums


def test_a_logit_is_its_causes(digits):
    cause = only(digits.why("y[0, 3]"))
    seen: dict[Any, Any] = {}
    assert computed(cause, seen) == digits.read("y[0, 3]") == cause.value
    images = np.load(PROGRAMS / "digits_mlp" / "images.npy").reshape(-1, 64)
    assert {name.split("[")[0] for name in seen["input"]} == {"x"}
    assert {name.split(",")[0] for name in seen["input"]} == {"x[0"}, "the first image alone"
    some = sorted(int(name.split(", ")[1][:-1]) for name in seen["input"])
    assert len(some) > 10
    assert all(images[0, pixel] for pixel in some), "zeros take no part"
    names = {name.split("<")[-1].split("+")[0].rstrip(">") for name in seen["program"]}
    weights = {name.split("[")[0] for name in names}
    assert weights == {"w1", "b1", "w2", "b2", "w3", "b3"}
    assert {"st", "mac", "spu", "ld", "transfer 9", "transfer 8", "transfer 6"} <= set(seen)


def test_names_of_the_causes_of_a_logit(digits):
    """Causes of a logit name the array in the program's image, and a half before its swap."""
    causes = list(walk(only(digits.why("y[0, 3]"))))
    images = [x for x in causes if x.name.startswith("b3[")]
    assert {x.name.split(" at ")[0] for x in images} == {"b3[3, 0]", "b3[3, 0] in the image"}
    (image,) = [x for x in images if "image" in x.name]
    assert image.name.endswith(f" at {image.memory[0]:#010x}")
    copied = next(x for x in causes if "half 1" in x.name)
    assert copied.name.startswith("hidden2[0, ")
    assert copied.name.endswith(" (unit 0, half 1)")
    assert copied.how == "st"


def test_the_products_of_a_logit(digits):
    """The causes of a logit are its bias and all products of a weight with its activation.

    Products with a factor 0 are left out.
    """
    stored = only(inputs(only(digits.why("y[0, 3]"))))
    total = only(inputs(stored))
    products = [item for item in total.causes if item.role == "product"]
    w3 = np.load(PROGRAMS / "digits_mlp" / "w3.npy")
    column = w3[3] if w3.shape[0] == 10 else w3[:, 3]
    hidden = digits.read("mem[hidden2].i8")
    assert isinstance(hidden, int)
    data = np.frombuffer(
        digits.device.memory.peek(digits.program.symbol("hidden2").value, 64), np.int8
    )
    wanted = [(int(w), int(a)) for w, a in zip(column, data, strict=True) if w and a]
    assert [tuple(x.value for x in item.causes) for item in products] == wanted
    assert all(source_of(item)[0] == "mac" for item in products)
    for item in products:  # the address that is named holds the weight
        weight = only(inputs(item.causes[0]))
        assert weight.how == "program"
        byte = digits.device.memory.peek(int(weight.name.split()[0], 16), 1)
        assert np.frombuffer(byte, np.int8)[0] == weight.value
    (psum,) = [item for item in total.causes if item.role == "psum"]
    b3 = np.load(PROGRAMS / "digits_mlp" / "b3.npy")
    assert psum.value == b3[3, 0]


LOOP = """
        .core cp
_start: li   a0, 0
        li   a1, 500
again:  addi a0, a0, 1
        bne  a0, a1, again
        li   a7, 93
        ecall
"""


def test_a_value_of_many_steps_has_its_limits(monkeypatch):
    run = Interpreter(of_source(LOOP), DebuggerFiles())
    run.execute("break 7")
    run.execute("continue")
    monkeypatch.setattr("macaw.debugger.commands.why.MOST_LINES", 100)
    answer = run.execute("why a0 depth 200")
    assert (len(answer.lines), answer.lines[-1]) == (101, "... less depth shows less")
    deepest = json.loads(json.dumps(answer.json()))["data"][0]
    for _ in range(200):
        deepest = next(x for x in deepest["causes"] if not x["setting"])
    assert deepest["deeper"] is True
    refused = run.execute("why a0 depth 201")
    assert refused.kind == "error"
    assert refused.message == "no more than 200 steps back are shown; ask for a value shown there"


def test_an_answer_has_a_bounded_number_of_causes(digits, monkeypatch):
    monkeypatch.setattr("macaw.debugger.causes.cause_text.MOST", 50)

    def count(items):
        return sum(1 + count(item.get("causes", ())) for item in items)

    assert count(tree(digits.why("y"), 6)) == 50


def test_the_settings_of_a_step(digits):
    """The settings of a step name the shift of an activation and the line that sets it."""
    text = (PROGRAMS / "digits_mlp" / "digits_mlp.s").read_text("utf-8").splitlines()
    stored = only(inputs(only(digits.why("mem[hidden2].i8"))))
    requantised = only(inputs(stored))
    (shift,) = [item for item in requantised.causes if item.setting]
    assert (shift.role, shift.value, shift.how, shift.core) == ("shift", 7, "config", "pe[0]")
    assert text[shift.where.line - 1].split() == ["config", "ib=2,", "finish2"]
    relu = next(x for x in requantised.causes if not x.setting)
    assert [(x.role, x.value) for x in relu.causes if x.setting] == [("activation", "relu")]
    cause = only(inputs(shift))
    while not cause.ends:
        assert cause.value == 7
        cause = only(inputs(cause))
    assert "finish2, activation=relu, shift=7" in text[cause.where.line - 1]
    line = next(x for x in lines([requantised]) if x.startswith("  with"))
    assert line.startswith("  with shift = 7 of 0x80000873 <finish2+5> ")
    assert f"digits_mlp.s:{cause.where.line}: pe[0] config ib=2 at cycle " in line


def test_the_command(digits):
    run = Interpreter(digits, DebuggerFiles())
    answer = run.execute("why y[0, 3] depth 2")
    text = answer_text(answer).splitlines()
    assert text[0].startswith(f"y[0, 3] = {digits.read('y[0, 3]')}: dma transfer 9 of cp at cycle ")
    assert text[1].startswith("  with description = dst=y[0, 0], src=logits[0, 0], row_bytes=800")
    assert text[2].startswith("  copied from logits[0, 3] = ")
    assert text[3].lstrip().startswith("with out = base=logits[0, 0], stride=4, step=40")
    assert text[4].lstrip().startswith("result = ")
    record = json.loads(json.dumps(answer.json()))["data"][0]
    assert record["causes"][1]["causes"][1]["deeper"] is True
    assert record["instruction"] == "dma.copy zero, a0"
    assert record["where"]["line"] == 195
    for line in ("why", "why nothing", "why 3", "why y[0, 3] depth 0"):
        assert run.execute(line).kind == "error"
