"""The cycles that another order of chains would save, against programs with that order."""

from __future__ import annotations

import pytest

import macaw
from macaw.asm.source import Source
from macaw.emu import accounting
from macaw.emu.device import Device
from macaw.emu.nnp.accountant import NnpAccountant
from macaw.execution import configuration_of

FIRST = "v_rd Dram, 0\nv_wr InitialVrf, 0\n"


def chain(of: int, to: int, does: str = "v_relu") -> str:
    return f"v_rd InitialVrf, {of}\n{does}\nv_wr InitialVrf, {to}\n"


def product(of: int, to: int, added: int) -> str:
    return chain(of, to, f"mv_mul 0\nvv_add AddSubVrf0, {added}")


def addend(of: int, to: int) -> str:
    return f"v_rd InitialVrf, {of}\nv_relu\nv_wr AddSubVrf0, {to}\n"


def through_dram(of: int, to: int) -> str:
    return f"v_rd InitialVrf, {of}\nv_wr Dram, 8\nv_rd Dram, 8\nv_wr InitialVrf, {to}\n"


def cycles_and_saved(*chains: str) -> tuple[int, int]:
    """Return the cycles of a program of nnp, and the cycles that another order would save."""
    text = (
        f".device tiny\n.core nnp\n{FIRST}{''.join(chains)}end_chain\n.data\n.float16 1, 2, 3, 4\n"
    )
    program = macaw.assemble(Source(text, "d.s"))
    device = Device(configuration_of(program, None))
    device.load(program)
    stop, accountants = accounting.run(device)
    assert stop.reason == "exit"
    accountant = accountants["nnp"]
    assert isinstance(accountant, NnpAccountant)
    return device.cycle, accountant.saved


@pytest.mark.parametrize(
    "chains",
    [
        (),
        (chain(0, 1), chain(1, 2), chain(2, 3)),  # each needs the one before
        (chain(0, 1), chain(0, 2), chain(0, 3)),  # none waits
        (addend(0, 0), product(0, 1, 0)),  # it waits inside, for an addend
        (product(0, 1, 0), chain(1, 2), through_dram(2, 3)),
    ],
)
def test_no_other_order_is_better(chains: tuple[str, ...]) -> None:
    assert cycles_and_saved(*chains)[1] == 0


@pytest.mark.parametrize(
    ("waiting", "free", "last"),
    [
        (chain(1, 2), (chain(0, 3), chain(3, 4)), ()),
        (product(1, 2, 0), (product(0, 3, 0), product(3, 4, 0)), ()),
        # it only waits in MFU0, for its addend
        (addend(1, 5) + product(0, 2, 5), (product(0, 3, 0), product(3, 4, 0)), ()),
        (through_dram(1, 2), (chain(0, 3), chain(3, 4)), (chain(4, 6),)),
    ],
)
def test_what_waits_for_nothing_comes_before_what_waits(
    waiting: str, free: tuple[str, ...], last: tuple[str, ...]
) -> None:
    slow, saved = cycles_and_saved(chain(0, 1), waiting, *free, *last)
    fast, left = cycles_and_saved(chain(0, 1), free[0], waiting, *free[1:], *last)
    assert saved >= 0.9 * (slow - fast) > 0
    assert left < saved


def test_a_chain_moves_before_one_that_reads_what_it_overwrites() -> None:
    """A chain that overwrites entry 1 may move before a chain that still reads entry 1.

    The program then writes another entry instead, such as 5.
    """
    slow, saved = cycles_and_saved(chain(0, 1), chain(1, 2), chain(0, 1), chain(1, 4))
    fast, _ = cycles_and_saved(chain(0, 1), chain(0, 5), chain(1, 2), chain(5, 4))
    assert slow - fast == saved > 0


def test_a_chain_on_the_longest_path_comes_first() -> None:
    short = [product(0, number, 0) for number in range(10, 30)]
    slow, saved = cycles_and_saved(*short, chain(0, 1), chain(1, 2), chain(2, 3))
    fast, _ = cycles_and_saved(
        chain(0, 1), *short[:7], chain(1, 2), *short[7:14], chain(2, 3), *short[14:]
    )
    assert saved >= 0.5 * (slow - fast) > 0
