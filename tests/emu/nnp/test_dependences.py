"""Cycles of chains that depend on each other through entries that they read and write."""

from __future__ import annotations

import pytest

import macaw
from macaw.asm.source import Source
from macaw.emu import accounting
from macaw.emu.device import Device
from macaw.execution import configuration_of

FIRST = "v_rd Dram, 0\nv_wr InitialVrf, {to}\n"
NEXT = "v_rd InitialVrf, {of}\n{does}\nv_wr InitialVrf, {to}\n"


def least(chains: str) -> int:
    text = f".device tiny\n.core nnp\n{chains}end_chain\n.data\n.float16 1, 2, 3, 4\n"
    program = macaw.assemble(Source(text, "d.s"))
    device = Device(configuration_of(program, None))
    device.load(program)
    stop, accountants = accounting.run(device)
    assert stop.reason == "exit"
    return accountants["nnp"].least["fill"]


def chain(of: int, to: int, does: str = "v_relu") -> str:
    return NEXT.format(of=of, to=to, does=does)


ONE = least(FIRST.format(to=0))
TWO = least(FIRST.format(to=0) + chain(0, 1))


@pytest.mark.parametrize(
    ("chains", "wanted"),
    [
        (chain(0, 1) + chain(1, 2), TWO + (TWO - ONE)),  # one after the other
        (chain(0, 1) + chain(0, 2), TWO),  # side by side
        (chain(0, 1) + chain(0, 1), TWO),  # the second one overwrites what no chain has read
        (chain(0, 1) + chain(0, 2) + chain(2, 3), TWO + (TWO - ONE)),
    ],
)
def test_chains_that_depend_on_each_other_add_up(chains: str, wanted: int) -> None:
    assert TWO > ONE > 0
    assert least(FIRST.format(to=0) + chains) == wanted


def test_operands_of_other_units_count() -> None:
    first = FIRST.format(to=0) + "v_rd InitialVrf, 0\nv_relu\nv_wr AddSubVrf0, 0\n"
    assert least(first + chain(7, 1, "vv_add AddSubVrf0, 0")) > least(first)
    assert least(first + chain(7, 1, "vv_add AddSubVrf0, 1")) == least(first)


def test_the_latest_operand_counts() -> None:
    """A chain waits for the latest of its operands.

    The source of the last chain is late; the operand of its addition was ready before.
    """
    first = FIRST.format(to=0) + "v_rd InitialVrf, 0\nv_relu\nv_wr AddSubVrf0, 0\n"
    first += "".join(chain(number, number + 1) for number in range(4))
    assert least(first + chain(4, 5, "vv_add AddSubVrf0, 0")) > least(first)
