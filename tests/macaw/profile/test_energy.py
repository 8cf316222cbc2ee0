"""Energy: tables and their errors, the estimate against NumPy, outputs, layers, static energy."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import macaw
from macaw.asm.program import Program
from macaw.emu import metering
from macaw.errors import InputError
from macaw.execution import configuration_of
from macaw.isa.activities import ACTIVITIES
from macaw.profiling import measuring
from macaw.profiling.energy import Energy
from macaw.profiling.energy_estimate import estimate_energy
from macaw.profiling.energy_report import energy_lines, energy_text
from macaw.profiling.energy_table import default_table, load_table, parse_table
from macaw.profiling.measuring import Measured
from macaw.profiling.model import from_json, to_json
from macaw.profiling.profiler import ProfileOptions, profile
from macaw.profiling.recording import Job, make_job
from macaw.profiling.terminal_report import print_report
from tests.macaw.command_runs import run_here
from tests.macaw.profile.programs import six_cores, small_network
from tests.macaw.profile.shared_runs import shared_runs

pytestmark = pytest.mark.once

# What Horowitz published for 45 nm, as a second witness of the default table.
PUBLISHED = {
    "add_int8": 0.03, "add_int32": 0.1, "mul_int8": 0.2, "mul_int32": 3.1, "add_fp16": 0.4,
    "add_fp32": 0.9, "mul_fp16": 1.1, "mul_fp32": 3.7, "sram_8k": 10 / 8, "sram_32k": 20 / 8,
    "sram_1m": 100 / 8, "dram": (1300 + 2600) / 2 / 8,
}  # fmt: skip


@pytest.fixture(scope="module")
def job() -> Job:
    program, inputs = six_cores()
    return make_job(program, configuration_of(program, None), inputs)


@pytest.fixture(scope="module")
def run(job: Job) -> Measured:
    return measuring.measure_job(job)


def check_sums(energy: Energy) -> None:
    """Check that each division of an energy adds up to the total."""
    close = pytest.approx
    assert sum(core.energy for core in energy.cores) == close(energy.total)
    counted = sum(item.energy for item in energy.activities)
    assert counted + energy.static == close(energy.total)
    for core in energy.cores:
        assert sum(core.kinds.values()) == close(core.energy)
        assert sum(line.energy for line in core.lines) == close(core.energy)
        for line in core.lines:
            assert sum(line.activities.values()) == close(line.energy)
        if core.causes:
            assert sum(core.causes.values()) == close(core.energy)
    if energy.layers:
        assert sum(energy.layers.values()) == close(counted)


def test_the_energy_of_a_run_is_the_sum_over_its_activities(job: Job, run: Measured) -> None:
    energy = estimate_energy(job, run, default_table())
    # independently: the counts of another run as a matrix, times the figures of the file
    _, meters, _ = metering.run(job.machine())
    names = [row.name for row in ACTIVITIES]
    counts = np.zeros((len(meters), len(names)))
    for core, meter in enumerate(meters.values()):
        for key, count in meter.counts.items():
            counts[core, names.index(key.activity)] += count
    text = (Path(measuring.__file__).parent / "energies" / "default.toml").read_text()
    figures = dict(re.findall(r"^(\w+) *= \{ energy = ([\d.]+),", text, flags=re.M))
    each = np.array([float(figures[name]) for name in names])
    by_core = dict(zip(meters, counts @ each, strict=True))
    assert energy.total == pytest.approx((counts @ each).sum())
    assert {core.core: core.energy for core in energy.cores} == pytest.approx(
        {name: total for name, total in by_core.items() if total}
    )
    moved = [name in names[15:20] for name in names]
    assert sum(energy.tensors.values()) == pytest.approx((counts @ (each * moved)).sum())
    assert names[15:20] == [row.name for row in ACTIVITIES if row.kind == "bytes"]
    check_sums(energy)


@pytest.mark.parametrize("name", [row.name for row in ACTIVITIES])
def test_a_table_of_zeros_but_one_gives_that_count(name: str, job: Job, run: Measured) -> None:
    table = parse_table(f'unit = "pJ"\nscale = 0\n[activities]\n{name} = 1', "one.toml")
    energy = estimate_energy(job, run, table)
    count = sum(
        count
        for meter in run.meters.values()
        for key, count in meter.counts.items()
        if key.activity == name
    )
    assert energy.total == count
    assert sum(line.energy for core in energy.cores for line in core.lines) == count


def test_tensors_have_the_bytes_that_moved_for_them(job: Job, run: Measured) -> None:
    table = parse_table('unit = "pJ"\nscale = 0\n[activities]\ndram = 1', "one.toml")
    tensors = estimate_energy(job, run, table).tensors
    sizes = {item.name: item.size for item in job.program.tensors}
    # each is copied or read as a whole
    for name in ("x", "d", "e"):
        assert tensors[name] >= sizes[name]
        assert tensors[name] % 32 == 0  # whole beats
    assert tensors["w1"] > 0  # a symbol of a part that the program copies to on-chip memory


def test_on_chip_bytes_belong_to_the_tensor_that_was_copied(job: Job, run: Measured) -> None:
    reads = {
        key.tensor
        for key in run.meters["pe[0]"].counts
        if key.memory == "on-chip" and not key.writes
    }
    assert "x" in reads or "items" in reads
    assert "w1" in reads


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_default_table_has_the_published_figures(name: str) -> None:
    price = default_table().activities[name]
    assert price.picojoules == PUBLISHED[name]
    assert price.source.startswith("Horowitz 2014: ")


def test_each_default_has_a_source() -> None:
    table = default_table()
    assert table.activities.keys() == {row.name for row in ACTIVITIES}
    assert all(price.picojoules > 0 and price.source for price in table.activities.values())
    assert table.static == {}


def test_a_table_replaces_and_scales() -> None:
    table = parse_table(
        """
        name = "ours"
        unit = "fJ"
        scale = 0.5
        [activities]
        add_int8 = 20
        mul_int8 = { energy = 90, source = "data sheet" }
        mul_int32 = { scale = 0.25 }
        mul_fp32 = { scale = 2, source = "a guess" }
        [static]
        pe = { energy = 4000, source = "data sheet" }
        """,
        "ours.toml",
    )
    got = table.activities
    assert table.name == "ours"
    assert (got["add_int8"].picojoules, got["add_int8"].source) == (0.02, "ours.toml")
    assert (got["mul_int8"].picojoules, got["mul_int8"].source) == (0.09, "data sheet")
    assert got["mul_int32"].picojoules == 0.25 * 3.1
    assert got["mul_int32"].source.endswith("times 0.25 (ours.toml)")
    assert (got["mul_fp32"].picojoules, got["mul_fp32"].source) == (
        7.4, "a guess; times 2 (ours.toml)",
    )  # fmt: skip
    assert got["dram"].picojoules == 0.5 * 243.75
    assert got["dram"].source.endswith("; times 0.5 (ours.toml)")
    assert table.static["pe"].picojoules == 4.0


UNIT = 'unit = "pJ"\n'


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("a = ", "t.toml: is not TOML: ", ""),
        ("\nscal = 2", "t.toml:2: scal: no such key", "scale"),
        (f"{UNIT}[activities]\nadd_int9 = 1", "t.toml:3: activities.add_int9: no such activity",
         "add_int8"),
        (f"{UNIT}[activities]\ndram = -1",
         "t.toml:3: activities.dram.energy: -1 is not a number from 0 to 1e+30", ""),
        (f"{UNIT}[activities]\ndram = true",
         "t.toml:3: activities.dram.energy: True is not a number from 0 to 1e+30", ""),
        (f"{UNIT}[activities]\ndram = nan",
         "t.toml:3: activities.dram.energy: nan is not a number from 0 to 1e+30", ""),
        (f"{UNIT}[activities]\ndram = inf",
         "t.toml:3: activities.dram.energy: inf is not a number from 0 to 1e+30", ""),
        (f"{UNIT}[activities.dram]\nenergy = '1'",
         "t.toml:3: activities.dram.energy: '1' is not a number from 0 to 1e+30", ""),
        ("[activities]\ndram = 3", "t.toml:2: activities.dram: a number without a unit",
         'unit = "pJ" at the top: fJ, pJ, nJ'),
        ('unit = "J"\n[static]\npe = 3', "t.toml:1: unit: 'J' is not one of fJ, pJ, nJ", ""),
        ("unit = 1\n[static]\npe = 3", "t.toml:1: unit: 1 is not one of fJ, pJ, nJ", ""),
        ('unit = "J"', "t.toml:1: unit: 'J' is not one of fJ, pJ, nJ", ""),
        (UNIT + '[activities]\ndram = { energy = 1, source = "a\\u001bb" }',
         "t.toml:3: activities.dram.source: 'a\\x1bb' is not a text", ""),
        ("scale = -0.5", "t.toml:1: scale: -0.5 is not a number from 0 to 1e+30", ""),
        ("name = 3", "t.toml:1: name: 3 is not a text", ""),
        ("activities = 3", "t.toml:1: activities: is not a table", ""),
        (f"{UNIT}[activities]\ndram = {{ energy = 1, scale = 2 }}",
         "t.toml:3: activities.dram: has to have either energy or scale", ""),
        (f"{UNIT}[activities]\ndram = {{ source = 'x' }}",
         "t.toml:3: activities.dram: has to have either energy or scale", ""),
        (f"{UNIT}[activities]\ndram = {{ energy = 1, sauce = 'x' }}",
         "t.toml:3: activities.dram.sauce: no such key", "source"),
        (f"{UNIT}[activities]\ndram = {{ energy = 1, source = 2 }}",
         "t.toml:3: activities.dram.source: 2 is not a text", ""),
        (f"{UNIT}[static]\npx = 1", "t.toml:3: static.px: no such kind of core", "pe"),
        (f"{UNIT}[static]\npe = {{ scale = 2 }}",
         "t.toml:3: static.pe.scale: there is no default to scale: give energy", ""),
        ('"\\u001b" = 3', "t.toml: ?: no such key", ""),
        ("scale = 1.1e30", "t.toml:1: scale: 1.1e+30 is not a number from 0 to 1e+30", ""),
        (f"name = {[1] * 20}", f"t.toml:1: name: {str([1] * 20)[:40]} is not a text", ""),
        (f"{'k' * 81} = 1", f"t.toml:1: {'k' * 80}: no such key", ""),
        ("\n[activities.dram]\nsauce = 1", "t.toml:3: activities.dram.sauce: no such key", "source"),
        ("[static]\nname = 1\n[activities]\n \"name\"\t= 1", "t.toml:4: activities.name: no such", ""),
        ("[activities]\ndram.scale = 2\ndram . \"sauce\" = 2",
         "t.toml:3: activities.dram.sauce: no such key", "source"),
    ],
)  # fmt: skip
def test_what_is_no_table(text: str, message: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_table(text, "t.toml")
    assert caught.value.message.startswith(message)
    assert hint in (caught.value.hint or "")
    assert "\x1b" not in caught.value.message


def test_numbers_from_0_to_1e30_are_energies() -> None:
    table = parse_table(f"{UNIT}[activities]\ndram = 0\nadd_int8 = 1e30", "t.toml")
    assert table.activities["dram"].picojoules == 0
    assert table.activities["add_int8"].picojoules == 1e30
    assert table.activities["add_fp16"] == default_table().activities["add_fp16"]
    assert (table.name, table.static) == ("t.toml", {})
    for unit, picojoules in (("fJ", 0.003), ("pJ", 3.0), ("nJ", 3000.0)):
        static = parse_table(f"unit = '{unit}'\n[static]\npe = 3", "t.toml").static
        assert static["pe"].picojoules == pytest.approx(picojoules)


def test_a_message_of_the_parser_is_cut() -> None:
    with pytest.raises(InputError) as caught:
        parse_table(f"{'k' * 300} = 1\n" * 2, "t.toml")
    assert len(caught.value.message) <= len("t.toml: is not TOML: ") + 200


def test_a_file_that_is_no_table(tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_bytes(b"\xff")
    with pytest.raises(InputError, match=r"t\.toml: is not UTF-8 text"):
        load_table(str(tmp_path / "t.toml"))
    with pytest.raises(InputError, match=r"cannot read .*none\.toml"):
        load_table(str(tmp_path / "none.toml"))


SOURCE = """
        .device tiny
        .input x, int8, 64
        .core cp
_start: la t0, x
        lw t1, 0(t0)
        mul t1, t1, t1
        li a0, 0
        li a7, 93
        ecall
"""


@pytest.fixture(scope="module")
def small() -> Program:
    return macaw.assemble(macaw.Source(SOURCE, "small.s"))


ZEROS = {"x": np.zeros(64, np.int8)}


def test_static_energy_is_that_of_the_cycles(small: Program, tmp_path: Path) -> None:
    text = f"{UNIT}scale = 0\n[activities]\nmul_int32 = 5\n[static]\ncp = 2\npe = 3"
    (tmp_path / "t.toml").write_text(text)
    report = profile(small, ZEROS, ProfileOptions(energy=tmp_path / "t.toml", causes=True))
    energy = report.energy
    assert energy is not None
    assert energy.static == pytest.approx(report.cycles * (2 + 3 + 3))  # tiny has two rows
    assert energy.total == pytest.approx(energy.static + 5)
    check_sums(energy)
    by_core = {core.core: core for core in energy.cores}
    assert by_core.keys() == {"cp", "pe[0]", "pe[1]"}
    account = next(one for one in report.accounts if one.core == "cp")
    roots = {cause.name: 2.0 * cause.cycles for cause in account.causes}
    roots["work"] += 5
    assert dict(by_core["cp"].causes) == pytest.approx(roots)
    assert dict(by_core["pe[0]"].causes) == pytest.approx({"idle": 3.0 * report.cycles})
    product = next(line for line in by_core["cp"].lines if line.place == "small.s:7")
    assert product.activities["mul_int32"] == 5
    assert product.activities["static"] >= 2


def test_static_energy_of_a_program_that_does_not_end() -> None:
    program = macaw.assemble(macaw.Source(".device tiny\n.core cp\n1: j 1b\n", "endless.s"))
    config = configuration_of(program, None)
    device = make_job(program, config, {}, 100).machine()
    _, meters, memory = metering.run(device, 100)
    table = parse_table(f"{UNIT}[static]\ncp = 1", "t.toml")
    with pytest.raises(InputError, match=r"the program does not end by itself"):
        estimate_energy(make_job(program, config, {}, 100), Measured(device, meters, memory), table)


def test_without_the_option_there_is_no_energy(
    small: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measuring, "measure_job", lambda job: pytest.fail("measured"))
    assert profile(small, ZEROS).energy is None


def test_layers_of_a_network(tmp_path: Path) -> None:
    network = small_network()
    inputs = network.device_inputs({"x": np.ones((1, 2, 4, 4), np.float32)})
    options = ProfileOptions(energy="", findings=False)
    with shared_runs():
        report = profile(network.program, inputs, options)
        # each product of the array is in the layer that uses the array
        (tmp_path / "t.toml").write_text(f"{UNIT}scale = 0\n[activities]\nmul_int8 = 1")
        options = ProfileOptions(energy=str(tmp_path / "t.toml"), findings=False)
        only = profile(network.program, inputs, options).energy
    assert report.energy is not None
    check_sums(report.energy)
    assert list(report.energy.layers)[:2] == ["/stem/Conv", "/sum/Add"]
    assert only is not None
    assert only.layers.keys() == {"/stem/Conv"}
    lines = list(energy_lines(report.energy, 80))
    assert any(line.split()[:1] == ["/stem/Conv"] for line in lines)


@pytest.mark.parametrize("width", [80, 200])
def test_the_report_fits(job: Job, run: Measured, width: int) -> None:
    energy = estimate_energy(job, run, default_table())
    lines = list(energy_lines(energy, width))
    assert max(map(len, lines)) <= width
    assert any(line.endswith("the middle") for line in lines) == (width == 200)
    assert "more not shown" in lines[-1]


@pytest.mark.parametrize(
    ("energy", "text"), [(0.0, "0 pJ"), (0.5, "0.5 pJ"), (1500.0, "1.5 nJ"), (2e6, "2 µJ"),
                         (3e9, "3 mJ"), (4e12, "4,000 mJ")]
)  # fmt: skip
def test_texts_of_energies(energy: float, text: str) -> None:
    assert energy_text(energy) == text


def test_json_and_an_ascii_terminal(small: Program) -> None:
    report = profile(small, ZEROS, ProfileOptions(energy=""))
    assert from_json(json.loads(json.dumps(to_json(report)))) == report
    data = io.TextIOWrapper(io.BytesIO(), "ascii")
    print_report(
        report, Console(width=80, file=data, highlight=False), layers=False, limit=None, plain=False
    )
    data.seek(0)
    assert "\nenergy: " in data.read()


def test_the_command(tmp_path: Path) -> None:
    (tmp_path / "a.s").write_text(SOURCE)
    (tmp_path / "t.toml").write_text(f"{UNIT}scale = 0\n[activities]\nmul_int32 = 7\n")
    np.save(tmp_path / "x.npy", ZEROS["x"])
    command = ("profile", "a.s", "-i", "x=x.npy")
    done = run_here((*command, "--energy", "t.toml"), tmp_path)
    assert "mul t1, t1, t1" in done.stdout
    assert "energy: 7 pJ\n  an estimate with the table t.toml, " in done.stdout
    assert "energy: " in run_here((*command, "--energy"), tmp_path).stdout
    done = run_here(("profile", "--energy", "a.s", "-i", "x=x.npy"), tmp_path)
    assert done.returncode == 2
    assert "'a.s' is no table, whose name ends with .toml; write --energy after" in done.stderr
    done = run_here((*command, "--energy", "none.toml"), tmp_path)
    assert done.returncode == 2
    assert "cannot read none.toml" in done.stderr
