"""Probes after instructions: both engines report what a listener hears, in the same cycles."""

from __future__ import annotations

import re

import pytest

from macaw.emu.breaks import Probe
from macaw.isa.codec import describe
from tests.emu.scalar_devices import random_devices, stop_summary
from tests.emu.traced_programs import configure_trace, random_parameters, traced_devices

pytestmark = pytest.mark.once

SEEDS = {"cp": (3, 6), "vc": (0, 2)}  # of programs that are translated
LONGEST = 5000  # cycles


def listened(device, core, number):
    """Return (address, cycle) of each change of a register, and of each read, from a listener."""
    hart, name = device.cores[core], device.cores[core].table.files[0].names[number][0]
    changes, sources = [], []
    held = hart.x[number]
    address = None

    def hear(event):
        nonlocal held, address
        if event.kind == "instruction":
            address = event.values["address"]
        elif event.kind == "done":
            begin = event.values["begin"]
            if hart.x[number] != held:
                changes.append((address, begin))
            held = hart.x[number]
            found = hart.decoder.fetch(address)
            words = re.findall(r"\w+", describe(found).partition(" ")[2])
            if (
                (
                    found.row.mnemonic.startswith(("s", "vs"))
                    and found.row.family.endswith(("store", "memory"))
                )
                or found.row.family == "branch"
                or found.row.mnemonic == "dispatch"
            ):
                named = words
            else:
                named = words[1:]
            if name in named:
                sources.append((address, begin))

    device.listen(hear, [core])
    stop = device.run(until=LONGEST)
    return changes, sources, stop


def probed(device, core, number, reads, form):
    """The reports of probes: (address, cycle)."""
    hart = device.cores[core]
    found: list[tuple[int, int | None]] = []
    told: list[int] = []
    cell = [hart.x[number]]

    def test():
        return hart.x[number] != cell[0]

    asked = form in ("text", "test")
    text = f"x[{number}] != cell[0]" if form == "text" else ""
    probe = Probe(
        frozenset({("x", number)}), reads, not reads, told.append,
        test if asked else None, text, {"cell": cell},
    )  # fmt: skip
    hart.set_probes([probe])

    def acted(who):
        if told and (reads or hart.x[number] != cell[0]):
            begin = device.cycle if who is hart else None  # of an access that had waited
            found.append((told[-1], begin))
        assert len(told) < 2
        told.clear()
        cell[0] = hart.x[number]

    device.on_act = acted
    stop = device.run(until=LONGEST)
    device.on_act = None
    return found, stop


def same(found, expected):
    """Assert equal reports; a found cycle may be None, if its access waited for the arbiter."""
    assert [x for x, _ in found] == [x for x, _ in expected]
    assert all(a is None or a == b for (_, a), (_, b) in zip(found, expected, strict=True))


def compare(witness, devices, core, number, form):
    """Compare the reports of all devices; return their number."""
    changes, sources, stop = listened(witness, core, number)
    expected = sources if form == "reads" else changes
    for device in devices:
        found, other = probed(device, core, number, form == "reads", form)
        same(found, expected)
        assert stop_summary(other) == stop_summary(stop)
        assert device.hash() == witness.hash()
    return len(expected)


def hot(device, core):
    """The registers that translated code writes."""
    device.run(until=LONGEST)
    sources = [block.source for block in device.cores[core].plain.blocks.values()]
    return sorted({int(x) for source in sources for x in re.findall(r" x(\d+) = (?!x\[)", source)})


@pytest.mark.parametrize("form", ["text", "test", "always", "reads"])
@pytest.mark.parametrize("core", ["cp", "vc"])
def test_probes_tell_what_a_listener_hears(core, form):
    seen, blocks = 0, []
    for seed in SEEDS[core]:
        both, chance = random_devices(core, seed)
        number = chance.choice(hot(random_devices(core, seed)[0][0], core))
        seen += compare(random_devices(core, seed)[0][1], both, core, number, form)
        blocks += [block.source for block in both[0].cores[core].plain.blocks.values()]
    assert seen
    assert form == "reads" or any("asked = True" in source for source in blocks)


@pytest.mark.parametrize("core", ["cp", "vc"])
def test_probes_in_code_that_counts_for_the_trace(core):
    seen = 0
    for seed in (1, 2):
        groups = []
        for _ in range(2):
            devices, chance = traced_devices(core, seed)
            chosen = random_parameters(chance)
            for device in devices:
                configure_trace(device, core, 1, chosen)
            groups.append(devices)
        number = chance.randrange(5, 24)
        seen += compare(groups[0][0], groups[1][:2], core, number, "text")
    assert seen


def test_code_without_probes_is_as_before():
    device, _ = random_devices("cp", 3)[0]
    hart = device.cores["cp"]
    hart.set_probes([Probe(frozenset({("x", 9)}), False, True, lambda address: None)])
    device.run(until=1500)
    hart.set_probes([])
    assert not hart.plain.blocks
    assert not hart.code.runs
    device.run(until=5000)
    other = random_devices("cp", 3)[0][0]
    other.run(until=5000)
    assert device.hash() == other.hash()
    assert hart.plain.blocks.keys() == other.cores["cp"].plain.blocks.keys() != set()
