"""The predicted saving of another order of chains is that of a program with this order."""

from __future__ import annotations

import random

import pytest

import macaw
from macaw.asm.source import Source
from macaw.emu import accounting
from macaw.emu.device import Device
from macaw.emu.nnp.accountant import NnpAccountant
from macaw.emu.nnp.chain_order import ChainOrder
from macaw.execution import configuration_of
from tests.emu.nnp.random_programs import program

pytestmark = pytest.mark.once

FIRST = "v_rd Dram, 0\nv_wr InitialVrf, 0\n"


def chain(of: int, to: int, does: str = "v_relu") -> str:
    return f"v_rd InitialVrf, {of}\n{does}\nv_wr InitialVrf, {to}\n"


def product(of: int, to: int, added: int) -> str:
    return chain(of, to, f"mv_mul 0\nvv_add AddSubVrf0, {added}")


def addend(of: int, to: int) -> str:
    return f"v_rd InitialVrf, {of}\nv_relu\nv_wr AddSubVrf0, {to}\n"


def through_dram(of: int, to: int) -> str:
    return f"v_rd InitialVrf, {of}\nv_wr Dram, 8\nv_rd Dram, 8\nv_wr InitialVrf, {to}\n"


def store(of: int, to: int) -> str:
    return f"v_rd InitialVrf, {of}\nv_relu\nv_wr Dram, {to}\n"


def tile(source: str, target: str) -> str:
    return f"m_rd {source}\nm_wr {target}\n"


def cycles_and_saved(*chains: str, queues: str = "") -> tuple[int, int]:
    """Return the cycles of a program of nnp, and the cycles that another order would save."""
    text = (
        f".device tiny\n{queues}.core nnp\n{FIRST}{''.join(chains)}end_chain\n"
        ".data\n.float16 1, 2, 3, 4\n"
    )
    program = macaw.assemble(Source(text, "d.s"))
    device = Device(configuration_of(program, None))
    device.load(program)
    reason, saved = stop_and_saved(device)
    assert reason == "exit"
    return device.cycle, saved


def stop_and_saved(device: Device) -> tuple[str, int]:
    """Return why the device stops, and the cycles that another order would save."""
    stop, accountants = accounting.run(device)
    accountant = accountants["nnp"]
    assert isinstance(accountant, NnpAccountant)
    charged = sum(cycles for key, cycles in accountant.charges.items() if key.cause == "fill")
    assert 0 <= accountant.saved <= charged
    return stop.reason, accountant.saved


@pytest.mark.parametrize(
    "chains",
    [
        (),
        (chain(0, 1), chain(1, 2), chain(2, 3)),  # each needs the one before
        (chain(0, 1), chain(0, 2), chain(0, 3)),  # none waits
        (addend(0, 0), product(0, 1, 0)),  # it waits inside, for an addend
        (product(0, 1, 0), chain(1, 2), through_dram(2, 3)),
        (store(0, 5), tile("Dram, 1", "MatrixRf, 0"), product(0, 2, 0)),  # it reads vectors 4 to 7
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


def test_chains_of_one_vector_become_one_chain() -> None:
    """Chains that differ only in addresses save their issue if they are one chain.

    The last two chains have another distance or need a result, so that they remain.
    """
    count = 12
    apart = "".join(chain(k, 20 + k) for k in range(count))
    joined = (
        f"SetIterations({count})\nv_rd_inc InitialVrf, 0, 1\nv_relu\nv_wr_inc InitialVrf, 20, 1\n"
    )
    reset = "SetIterations(1)\n"
    for last in ("", chain(count, 60) + chain(60, 61)):
        slow, saved = cycles_and_joined(reset + apart + last)
        fast, _ = cycles_and_joined(joined + reset + last)
        assert saved == pytest.approx(slow - fast, abs=3)
        assert saved > 0
    assert cycles_and_joined(chain(0, 1) + chain(1, 2) + chain(2, 3))[1] == 0


def cycles_and_joined(chains: str) -> tuple[int, int]:
    """The cycles of a program of nnp, and the cycles that longer chains would save."""
    text = f".device tiny\n.core nnp\n{FIRST}{chains}end_chain\n.data\n.float16 1, 2, 3, 4\n"
    program = macaw.assemble(Source(text, "d.s"))
    device = Device(configuration_of(program, None))
    device.load(program)
    _, accountants = accounting.run(device)
    accountant = accountants["nnp"]
    assert isinstance(accountant, NnpAccountant)
    return device.cycle, accountant.joined


def test_a_chain_moves_before_one_that_reads_what_it_overwrites() -> None:
    """The predicted order may move a chain that overwrites entry 1 before one that reads entry 1.

    The program with this order writes entry 5 instead of 1.
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


def out(of: int) -> str:
    return f"v_rd InitialVrf, {of}\nv_wr NetOutQ\n"


def popped(to: int, does: str = "v_relu") -> str:
    return f"v_rd NetInQ\n{does}\nv_wr InitialVrf, {to}\n"


def test_chains_that_push_to_a_queue_keep_their_order() -> None:
    """Two chains that push cannot change places; a chain that does not push can move before."""
    queues = ".output y, float16, 2, 4, at=netout\n"
    waiting = (chain(0, 1), chain(1, 2), out(2))
    _, saved = cycles_and_saved(*waiting, out(0), queues=queues)
    assert saved == 0
    slow, saved = cycles_and_saved(*waiting, chain(0, 3), chain(3, 4), out(4), queues=queues)
    fast, left = cycles_and_saved(
        chain(0, 1), chain(0, 3), chain(1, 2), chain(3, 4), out(2), out(4), queues=queues
    )
    assert saved >= 0.9 * (slow - fast) > 0
    assert left < saved


def test_chains_that_pop_from_a_queue_keep_their_order() -> None:
    queues = ".input x, float16, 2, 4, at=netin\n"
    waiting = (chain(0, 1), addend(1, 5), popped(2, "vv_add AddSubVrf0, 5"))
    _, saved = cycles_and_saved(*waiting, popped(3), chain(3, 4), queues=queues)
    assert saved == 0


# A native vector of the device has 4 elements, so tile 1 covers vectors 4 to 7 of Dram.


@pytest.mark.parametrize(("number", "depends"), [(1, True), (2, False)])
def test_a_tile_depends_on_the_vectors_that_it_covers(number: int, depends: bool) -> None:
    read = tile(f"Dram, {number}", "MatrixRf, 0")
    _, saved = cycles_and_saved(chain(0, 1), chain(1, 2), store(2, 5), read, product(0, 2, 0))
    assert (saved == 0) is depends


@pytest.mark.parametrize(("number", "depends"), [(3, False), (4, True), (7, True), (8, False)])
def test_a_vector_depends_on_the_tile_that_covers_it(number: int, depends: bool) -> None:
    moved = tile("Dram, 0", "MatrixRf, 0"), tile("MatrixRf, 0", "Dram, 1")
    read = f"v_rd Dram, {number}\nv_relu\nv_wr InitialVrf, 3\n"
    _, saved = cycles_and_saved(*moved, read, chain(3, 4))
    assert (saved < 10) is depends  # the tiles can always come before FIRST


def test_without_waits_no_other_order_is_simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(ChainOrder, "_by_path")
    copies = [f"v_rd Dram, {number}\nv_wr InitialVrf, {number}\n" for number in range(1, 4)]
    assert cycles_and_saved(*copies)[1] == 0
    with pytest.raises(AttributeError, match="_by_path"):
        cycles_and_saved(*copies, chain(3, 4))


@pytest.mark.parametrize("seed", range(15))
def test_random_programs_save_no_more_than_is_charged(seed: int) -> None:
    """Another order of a random program saves at most the cycles that are charged as `fill`.

    Some programs read tiles from NetInQ; some stop with a fault at a NaN.
    """
    reason, _ = stop_and_saved(program(random.Random(seed)).device("fast"))
    assert reason in {"exit", "fault"}
