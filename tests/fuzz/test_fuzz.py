"""Each damaged input gives success or one clear sentence, in all fuzzing targets.

In CI the examples are always the same, so that no change is blamed for an older failure. `python -m
tests.fuzz` tries other examples.
"""

from __future__ import annotations

import os
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz import runner, source_text
from tests.fuzz.npy_files import npy_file
from tests.fuzz.target import Example, Failure, Target, attempt, require, sentence
from tests.fuzz.targets import TARGETS
from tests.fuzzing import fuzz, properties, sessions

pytestmark = pytest.mark.once

ALWAYS_THE_SAME = bool(os.environ.get("CI"))
PATIENCE = 20.0  # CI's machine may be slow and busy: only what hangs fails there
# By what an example takes: 0.1 s of processor time, 0.01 s, or less.
SESSIONS = [TARGETS[name] for name in ("debugger", "lsp", "words")]
MACHINES = [TARGETS[name] for name in ("device", "onnx", "network")]
READERS = [x for x in TARGETS.values() if x not in SESSIONS and x not in MACHINES]


@settings(fuzz, derandomize=ALWAYS_THE_SAME, database=None)
@given(rng=st.randoms(use_true_random=False))
@pytest.mark.parametrize("target", READERS, ids=lambda target: target.name)
def test_any_damage(target: Target[Any], rng: Random) -> None:
    attempt(target, target.make(rng), PATIENCE)


@settings(properties, derandomize=ALWAYS_THE_SAME, database=None)
@given(rng=st.randoms(use_true_random=False))
@pytest.mark.parametrize("target", MACHINES, ids=lambda target: target.name)
def test_any_program(target: Target[Any], rng: Random) -> None:
    """Damaged inputs of targets that run programs have an allowed outcome."""
    attempt(target, target.make(rng), PATIENCE)


@settings(sessions, derandomize=ALWAYS_THE_SAME, database=None)
@given(rng=st.randoms(use_true_random=False))
@pytest.mark.parametrize("target", SESSIONS, ids=lambda target: target.name)
def test_any_session(target: Target[Any], rng: Random) -> None:
    """Damaged sessions, and damaged programs on both engines, have an allowed outcome."""
    attempt(target, target.make(rng), PATIENCE)


def npy(header: str, version: int = 1) -> bytes:
    return npy_file(
        "{'descr': '<i8', 'fortran_order': False, 'shape': (0,), " + header, b"", version
    )


# Failures that long sessions found, reduced: target, input, and today's outcome.
FOUND: tuple[tuple[str, str | bytes, str], ...] = (
    ("source", ".core cp", "came back"),  # got the default program
    ("source", ".globl _start\n_start:", "came back"),  # an error in the default program
    ("source", ".device " + "tiny" * 64, "refused"),  # the system has no file of such a name
    ("source", ".word" * 100, "refused"),  # all of it in the message
    ("source", ".core pe\n.align 11\n.half 0", "came back"),  # alignment of an image
    ("source", ".core pe\n.seq a\nmac\n.endseq\n.align 7\n.half 1\nconfig 0, a", "came back"),
    ("source", ".core pe\n.section .rodata\n.word 3\n.core cp\n.bss\n.zero 1", "came back"),
    ("source", ".core cp\nnop\n.align 5", "came back"),  # alignment of code
    ("source", ".bss\n.space 1\n.output y, int8, 64\n.core cp", "came back"),  # order of zeros
    ("source", ".word (x" + " " * 30000 + ") )", "refused"),  # quadratic time
    ("source", ".word " + "1," * 30000 + ")", "refused"),  # parsed again and again
    ("source", ".byte \x22a\x22 \x22\x17\x22", "refused"),  # a control character in a message
    ("source", ".core cp\n.byte 2\n_start:li a0,0", "refused"),  # an entry that no file can have
    ("source", ".core cp\nnop\n_start:", "refused"),  # the same, behind the end
    ("config", "pe" + ".pe" * 3000 + "=1", "refused"),  # dotted keys nest without brackets
    ("config", "pe.pe.pe = []\n" + "pe." * 999 + "e = 1", "refused"),  # all of it in the message
    ("config", f"name = '{'x' * 999}'", "refused"),
    ("npy", npy("'descr': '<\x85i8'}"), "refused"),  # a message with a control character
    ("npy", npy("'fortran_order': []}"), "refused"),
    ("npy", npy("'shape': (4611686018427387904, 0)}"), "refused"),
    ("npy", npy("}\xa0"), "refused"),
    ("npy", npy("}").replace(b"NUMPY\x01\0", b"NUMPY\x01\1"), "refused"),
    ("debugger", "calls.s fast\nprint 1e999\nwatch a0 if a0 < 1e999\nrun", "accepted"),
    ("debugger", "calls.s fast\ncd \0", "refused"),  # no folder has a null character in its name
    # rows of different lengths
    ("debugger", "stuck.s\nr\ndif fim[0].blocks y.npy\nload fim[0].blocks y.npy", "both"),
    ("debugger", "stuck.s\ng 120\nhea fim[0].blocks", "both"),
    ("debugger", "stuck.s\ng 120\nwatch fim[0].blocks if fim[0].blocks\nreverse-step", "accepted"),
    ("debugger", "calls.s fast\ndump loop n.npy\ndif pe[0,1].2.box503 n.npy", "both"),  # no number
    ("debugger", "calls.s fast\nfi\x10", "refused"),  # a control character in a message
    ("debugger", f"calls.s fast\nlist calls.s:{'9' * 5000}", "refused"),  # all of it in one
    (
        "debugger",
        "fim_dot \nuntil 3\ndump fim[0].blocks x.npy",
        "both",
    ),  # rows of different lengths
    (
        "debugger",
        "nnp_softmax\ngoto 120\nnext 16\nbreak 2 at dma,cp\nstepx\ndisable",
        "accepted",
    ),  # another file
    ("debugger", 'calls.s fast\ndprintf loop, "%999999999d", s0\nrun', "both"),  # memory
    (
        "debugger",
        "layer \nwatch len(fim[0].bank[3].rz.f16[s0]) if vc.x\nstep\ncommands 1 o",
        "accepted",
    ),
    ("words", "fim 217895045\n", "refused"),  # a deadlock before an operation's end
    # 65,282 vectors from external memory: the reference engine's time grew as their square
    ("words", "nnp 51792811\n40 =0000\n57858 =00000000\n25 =ff\n58081 =7f\n", "refused"),
)


@pytest.mark.parametrize(("name", "data", "outcome"), FOUND)
def test_found(name: str, data: Any, outcome: str) -> None:
    assert attempt(TARGETS[name], Example(data, data, True), PATIENCE) == outcome


# The means themselves


def check_word(example: Example[str]) -> str:
    require("bad" not in example.data, "a bad word", example.data)
    if "loop" in example.data:
        while True:
            pass
    return str({"x": 1}[example.data.strip()[:1]])


WORDS = Target(
    "words", lambda rng: Example(rng.choice(["x", "bad\n", "loop", "?\n"]), ""), check_word
)


def test_a_session_tells_what_it_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.fuzz.target.SECONDS", 0.02)
    said: list[str] = []
    result = runner.run(WORDS, 40, 3, say=said.append)
    assert result.examples == 40
    assert set(result.outcomes) == {"1", "FAILED"}
    rules = {"a bad word", "too slow"}
    assert rules < set(result.failures)
    (crash,) = set(result.failures) - rules
    assert crash.startswith("KeyError at tests/fuzz/test_fuzz.py:")
    smallest = {item.signature: item.smallest for item in result.found}
    assert smallest["a bad word"] == "bad"
    assert all("again: python -m tests.fuzz --target words --seed 3" in text for text in said)
    number = next(item.number for item in result.found if item.signature == "a bad word")
    assert runner.example_of(WORDS, 3, number).data == "bad\n"


def test_bytes_are_put_back_that_do_not_matter() -> None:
    def check(example: Example[bytes]) -> str:
        require(example.data[3] != 9, "nine")
        return "fine"

    target = Target("bytes", lambda rng: Example(b"", b""), check)
    assert runner.smaller(target, Example(b"123\x0967", b"abcdef"), "nine") == b"abc\x09ef"


@pytest.mark.parametrize(
    "text", ["", " ", "a\nb", "x" * 401, "list index out of range", "KeyError(1)"]
)
def test_what_is_no_sentence(text: str) -> None:
    with pytest.raises(Failure):
        sentence(text)


def test_a_message_may_quote_the_input() -> None:
    message = "no command is called '<function'"
    sentence(message, "  <function x")
    with pytest.raises(Failure):
        sentence(message, "function")


def test_corpora_are_large_enough() -> None:
    """No corpus is nearly empty, as it would be if its folder had moved."""
    assert len(source_text.corpus()) > 60
    assert len(source_text.statements()) > 1000
