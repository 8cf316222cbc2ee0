"""Recording changes nothing and records each instruction once; parameters and areas."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from macaw import api, golden_description
from macaw.asm.program import Program
from macaw.asm.source import Source
from macaw.errors import InputError
from macaw.execution import configuration_of
from macaw.isa.memory_map import EXTERNAL
from macaw.isa.trace import AUTO, RECORD
from macaw.profiling import recording, replay
from macaw.profiling.model import Profile, Slice, Track, to_json
from macaw.profiling.option_kinds import KINDS
from macaw.profiling.profiler import ProfileOptions, profile
from macaw.profiling.recording import ProfileError
from tests.macaw.profile.printed import printed
from tests.macaw.profile.programs import copies, six_cores, six_profile

pytestmark = pytest.mark.once

PROGRAMS = Path(__file__).parents[3] / "programs"
SAMPLES = (
    "hello",
    "layer",
    "own_cp",
    "vector_dot",
    "conv1d",
    "nnp_mlp",
    "nnp_softmax",
    "fim_gru",
    "fig8",
    "six_cores",
)


def sample(name: str) -> tuple[Program, dict[str, np.ndarray]]:
    if name == "six_cores":
        return six_cores()
    made = golden_description.read_description(PROGRAMS / name)
    program = api.load(made.sources[0], device=made.device)
    return program, {tensor: np.load(path) for tensor, path in made.inputs.items()}


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample(name: str) -> None:
    """A recorded run has the cycles and outputs of a plain run (seed 001 ¶45, ¶79-80).

    Each instruction of each core is in one record.
    """
    program, inputs = sample(name)
    job = recording.make_job(program, configuration_of(program), inputs)
    plain = recording.run_job(job)
    assert not plain.failure
    found = six_profile() if name == "six_cores" else profile(program, inputs)
    assert found.cycles == plain.cycles
    here = {item.core: item for item in found.tracks if item.slices}
    for core, begun in plain.begun.items():
        track = here.get(core)
        numbers = (
            [] if track is None else [n for x in track.slices for n in range(x.first, x.last + 1)]
        )
        lost = 0 if track is None else track.lost
        assert len(set(numbers)) == len(numbers) == begun - lost, core
        assert set(numbers) <= set(range(begun))
        assert lost == 0 or (name, core) == (
            "fim_gru",
            "fim[1]",
        )  # more words overlap than groups are
    for item in found.tracks:
        assert all(0 <= begin < end <= plain.cycles + 1 for begin, end in item.busy), item.core
        for one in item.slices:
            assert 0 <= one.waited <= one.cycles, one
    rows = [item.core for item in found.rows]
    assert rows == ["cp", "dma", "pe", "vc", "nnp", "fim"]


def test_more_register_groups_lose_nothing() -> None:
    program, inputs = sample("fim_gru")
    few, more = (
        profile(program, inputs, ProfileOptions(groups=count, findings=False)) for count in (4, 16)
    )
    assert sum(item.lost for item in few.rows) > 0
    assert sum(item.lost for item in more.rows) == 0
    lost = sum(item.lost for item in few.rows)
    assert (
        f"{lost} records lost: all register groups were in use (--groups N has more), or the spill"
        " area was full"
    ) in " ".join(printed(few, 120).split())


def test_counters_of_records_are_those_of_the_device() -> None:
    """The sums of reads and writes in the records of a core equal the counters of its port."""
    program, inputs = sample("six_cores")
    device = recording.make_job(program, configuration_of(program), inputs).machine()
    device.run()
    counts = device.counters()
    for core in ("dma", "vc"):
        slices = next(item for item in six_profile().tracks if item.core == core).slices
        for name, of in (
            ("e_bus", "external_reads"),
            ("e_xwr", "external_writes"),
            ("e_rd", "reads"),
            ("e_wr", "writes"),
        ):
            assert sum(item.counters[name] for item in slices) == counts[core][of], (core, of)


def names(profile_: Profile, core: str) -> dict[int, tuple[str, str]]:
    track = next(item for item in profile_.tracks if item.core == core)
    return {item.first: (item.place, item.name) for item in track.slices}


def test_slices_have_the_names_of_their_instructions() -> None:
    found = profile(PROGRAMS / "own_cp" / "own_cp.s", {"x": np.load(PROGRAMS / "own_cp" / "x.npy")})
    cp, dma, pe = (names(found, core) for core in ("cp", "dma", "pe"))
    assert cp[2] == ("own_cp.s:23", "dma.copy zero, a0")
    assert cp[6] == ("own_cp.s:26", "dma.wait zero")
    assert dma[0] == ("own_cp.s:23", "transfer 1, 485 bytes")
    assert pe[0] == ("own_cp.s:18", "exe ib=0, last, data=(x, w[0]), out=y")


def test_names_of_an_executable_without_lines(tmp_path: Path) -> None:
    path = tmp_path / "p.elf"
    api.save(copies(1), path, lines=False)
    found = names(profile(path), "cp")
    assert found[1][0] == "turn"
    assert found[3] == ("turn+0x8", "dma.copy zero, a0")
    assert found[4] == ("turn+0xc", "dma.wait zero")


def test_markers_say_what_is_recorded() -> None:
    text = """
        .device tiny
        .core   cp
        li      t0, 3
        trace_begin 1
again:  addi    t0, t0, -1
        bnez    t0, again
        trace_end 1
        li      a0, 0
        li      a7, 93
        ecall
"""
    found = profile(api.assemble(Source(text, "p.s")), {}, ProfileOptions(mode="mark"))
    ((slice_,),) = (item.slices for item in found.rows if item.slices)
    assert (slice_.core, slice_.first, slice_.instructions, slice_.place) == ("cp", 2, 6, "p.s:6")
    assert (found.mode, found.bottleneck) == ("mark", None)


@pytest.mark.parametrize("num", [{"cp": 7}, {"": 7}])
def test_how_many_instructions_make_a_record(num: dict[str, int]) -> None:
    """`num` sets the number of instructions in a record (seed 001 ¶132).

    The default depends on the core.
    """
    found = profile(copies(2), {}, ProfileOptions(num=num))
    sizes = {
        item.core: {x.instructions for x in item.slices[:-1]} for item in found.rows if item.slices
    }
    assert sizes["cp"] == {7}
    assert sizes["dma"] == ({1} if "cp" in num else set())


def test_long_programs_have_fewer_records() -> None:
    """A long program has more instructions in each record (seed 001 ¶133)."""
    found = profile(copies(30, size=64, work=100))
    cp = next(item for item in found.rows if item.core == "cp")
    assert cp.slices[-1].last > 4096
    assert 256 <= len(cp.slices) <= 512


def test_register_groups() -> None:
    auto = recording.cycling_parameters(5, 4)
    assert {auto[name] for name in (recording.NUM, recording.STEP)} == {5}
    assert (auto[recording.MODE], auto[recording.OVERHEAD], auto[recording.LOOPS]) == (AUTO, 20, 0)
    assert profile(copies(2), {}, ProfileOptions(groups=1)).tracks == profile(copies(2)).tracks


def test_areas_lie_apart_behind_the_program() -> None:
    program = copies(1)
    config = configuration_of(program)
    parameters = {
        "cp": recording.cycling_parameters(1, 4),
        "dma": recording.cycling_parameters(1, 4),
        "vc": recording.cycling_parameters(1, 4),
    }
    found = recording.add_spill_areas(program, config, parameters, {"cp": 100, "dma": 3})
    areas = sorted((x[recording.SPILL], x[recording.SPILL_END]) for x in found.values())
    assert areas[-1][1] == EXTERNAL + config["mem.external_bytes"]
    assert all(low[1] <= high[0] for low, high in pairwise(areas))
    sizes = {
        core: (x[recording.SPILL_END] - x[recording.SPILL]) // RECORD.size
        for core, x in found.items()
    }
    assert sizes == {"cp": 100, "dma": 3, "vc": recording.MARK_MODE_BYTES // RECORD.size}


def test_executables_of_other_tools_may_have_a_stack_at_the_end() -> None:
    program, config = copies(1), configuration_of(copies(1))
    foreign = replace(program, note_version=0)
    parameters = {"cp": recording.cycling_parameters(1, 4)}
    ours = recording.add_spill_areas(program, config, parameters, {"cp": 100})
    theirs = recording.add_spill_areas(foreign, config, parameters, {"cp": 100})
    assert ours["cp"][recording.SPILL] - theirs["cp"][recording.SPILL] == 1 << 20
    small = config.changed({"mem.external_bytes": 1 << 20})
    tight = recording.add_spill_areas(foreign, small, parameters, {"cp": 100})
    assert tight["cp"][recording.SPILL_END] == EXTERNAL + (1 << 20)


FULL = """
        .device tiny
        .core   cp
        li      a0, 0
        li      a7, 93
        ecall
        .section .data
        .zero   {}
"""


def test_a_program_that_fills_external_memory() -> None:
    room = 1 << 20
    config = api.configuration("tiny").changed({"mem.external_bytes": room})
    full = api.assemble(Source(FULL.format(room - 64), "p.s"), device=config)
    with pytest.raises(
        InputError, match="no room for records: the program uses external memory up to 0x800fffc0"
    ) as caught:
        profile(full, device=config)
    assert caught.value.hint == "the device's mem.external_bytes ends at 0x80100000"
    nearly = api.assemble(Source(FULL.format(room - 3 * RECORD.size + 8), "p.s"), device=config)
    found = next(item for item in profile(nearly, device=config).rows if item.core == "cp")
    assert (len(found.slices), found.lost) == (
        2,
        1,
    )  # of three; an area is whole records, and aligned


READS = """
        .device tiny
        .core   cp
        li      t0, {}
        lw      t1, 0(t0)
        beqz    t1, 1f
        nop
1:      li      a0, 0
        li      a7, 93
        ecall
"""


def test_a_program_that_sees_its_records() -> None:
    """A program that reads its own records is refused: recording changes the cycles of its run."""
    config = api.configuration("tiny")
    last = EXTERNAL + config["mem.external_bytes"] - 11 * RECORD.size + 24
    program = api.assemble(Source(READS.format(last), "p.s"))
    with pytest.raises(
        InputError,
        match=r"the program took .* cycles while it was recorded, .* without: it uses external memory from",
    ):
        profile(program)


@pytest.mark.parametrize("register", ["trace_spill", "trace_spill_end"])
@pytest.mark.parametrize("mode", ["auto", "mark"])
def test_a_program_that_moves_its_spill_area(register: str, mode: str) -> None:
    """The write empties the area: the profile would lack the records before it."""
    text = f".core cp\ntrace_begin 0\nnop\ntrace_end 0\nli t0, 0x80100000\ncsrw {register}, t0\n"
    program = api.assemble(Source(f"{text}li a0, 0\nli a7, 93\necall\n", "p.s"))
    with pytest.raises(ProfileError, match=f"the program sets {register} of cp: records are lost"):
        profile(program, options=ProfileOptions(mode=mode, findings=False))


def setting(register: str, value: str) -> Program:
    """Return a program that gives a trace register of cp a value after ten instructions."""
    text = f".core cp\n.rept 10\nnop\n.endr\n{value}\ncsrw {register}, t0\n"
    marked = "trace_begin 0\nnop\ntrace_end 0\n"
    return api.assemble(Source(f"{text}{marked}li a0, 0\nli a7, 93\necall\n", "p.s"))


@pytest.mark.parametrize(
    ("register", "value", "mode"),
    [
        ("trace_mode", "li t0, 0", "auto"),
        ("trace_mode", "li t0, 1", "mark"),
        ("trace_num", "li t0, 5", "auto"),
        ("trace_step", "li t0, 0", "auto"),
        ("trace_overhead", "li t0, 1", "auto"),
        ("trace_loops", "li t0, 1", "auto"),
        ("trace_spill", "csrr t0, trace_spill", "auto"),
        ("trace_spill", "csrr t0, trace_spill", "mark"),
    ],
)
def test_a_program_that_changes_what_is_recorded(register: str, value: str, mode: str) -> None:
    """Records would be lost or wrong. A write to `trace_spill` empties the area in any case."""
    with pytest.raises(ProfileError, match=f"the program sets {register} of cp: records are lost"):
        profile(setting(register, value), options=ProfileOptions(mode=mode, findings=False))


@pytest.mark.parametrize(
    ("register", "value", "mode"),
    [("trace_mode", "li t0, 0", "mark"), ("trace_num", "li t0, 5", "mark")],
)
def test_a_program_that_changes_nothing_of_the_recording(
    register: str, value: str, mode: str
) -> None:
    found = profile(setting(register, value), options=ProfileOptions(mode=mode))
    assert [len(item.slices) for item in found.rows if item.slices] == [1]


def test_a_device_that_does_not_record() -> None:
    config = api.configuration("tiny").changed({"trace.recording": False})
    with pytest.raises(InputError, match="the trace blocks of tiny do not record"):
        profile(copies(1), device=config)


ANY_OPTIONS: dict[str, Any] = {"energy": 3}  # of a type that mypy would refuse


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (ProfileOptions(mode="loud"), "no mode is called 'loud', there are auto, mark"),
        (
            ProfileOptions(repeat=3),
            "'repeat' takes the mean of runs that differ, and without jitter all are the same",
        ),
        (ProfileOptions(mode="mark", num={"": 3}), "'num' is for auto mode"),
        (ProfileOptions(mode="mark", segments=3), "'segments' is for auto mode"),
        (
            ProfileOptions(segments=3, num={"": 3}),
            "'segments' says how many instructions make a record",
        ),
        (ProfileOptions(goals={"cylces": 3}), "no goal is called 'cylces'"),
        (ProfileOptions(thresholds={"block": 3}), "no metric with a threshold is called 'block'"),
        (ProfileOptions(item=2), "there is no item 2, the last one is 0"),
        (ProfileOptions(groups=99), "trace.groups"),
        (ProfileOptions(segments=2, shared=4), "segments cannot share 4 of 4 register groups"),
        (ProfileOptions(shared=2), "'shared' is for neighbouring segments"),
        (ProfileOptions(num={"ccp": 3}), "no core is called 'ccp'"),
        (ProfileOptions(num={"cp": 0}), "num is whole numbers from 1 to 4294967295 by the name of"),
        (ProfileOptions(num={"cp": 1 << 32}), "num is whole numbers from 1 to 4294967295 by"),
        (ProfileOptions(segments=0), "segments is a whole number from 1, not 0"),
        (ProfileOptions(shared=0, segments=2), "shared is a whole number from 1, not 0"),
        (ProfileOptions(repeat=0, jitter=1), "repeat is a whole number from 1, not 0"),
        (ProfileOptions(workers=0), "workers is a whole number from 1, not 0"),
        (ProfileOptions(item=-1), "item is a whole number from 0, not -1"),
        (ProfileOptions(goals={"cycles": float("nan")}), "goals is finite numbers from 0 by"),
        (ProfileOptions(goals={"cycles": float("inf")}), "goals is finite numbers from 0 by"),
        (ProfileOptions(thresholds={"late": float("inf")}), "thresholds is finite numbers from 0"),
        (ProfileOptions(goals={"cycles": 1e300}), "the goal 'cycles' is at most 9,007,.*, not 1e"),
        (ProfileOptions(goals={"cycles": 10**400}), "goals is finite numbers from 0 by"),
        (ProfileOptions(repeat=10**5000, jitter=1), "a profile has 100,000 runs at most, here"),
        (ProfileOptions(segments=10**5), "a profile has 100,000 runs at most, here 'repeat' times"),
        (ProfileOptions(**ANY_OPTIONS), "energy is the path of a file, not 3"),
    ],
)
def test_options_that_do_not_fit(options: ProfileOptions, message: str) -> None:
    with pytest.raises(InputError, match=message):
        profile(copies(1), {}, options)


def test_an_earlier_profile_needs_no_name() -> None:
    options = ProfileOptions(against=profile(copies(1), {}), findings=False)
    with pytest.raises(InputError, match=r"^the earlier profile is the profile of another run"):
        profile(copies(2), {}, options)
    found = profile(copies(2), {}, replace(options, allow=("program",)))
    assert found.against == "the earlier profile"


def test_options_take_numbers_of_numpy() -> None:
    """The seeds of repeated runs are 255, 256 and 257; a number of 8 bits would wrap."""
    source = Source(".core cp\n la a0, x\n lw a1, 0(a0)\n li a7, 93\n ecall\n.input x, int32, 1\n")
    program, inputs = api.assemble(source, device="tiny"), {"x": [1]}
    seed: Any = np.uint8(255)
    repeat: Any = np.int64(3)
    goals: Any = {"cycles": np.int64(9)}
    found = profile(program, inputs, ProfileOptions(jitter=seed, repeat=repeat, goals=goals))
    plain = ProfileOptions(jitter=255, repeat=3, goals={"cycles": 9})
    assert json.dumps(to_json(found)) == json.dumps(to_json(profile(program, inputs, plain)))


def test_each_option_has_a_kind() -> None:
    assert list(KINDS) == [field.name for field in fields(ProfileOptions)]


def test_the_mean_of_jittered_runs() -> None:
    found = profile(copies(5), {}, ProfileOptions(jitter=3, repeat=4))
    assert len(found.runs) == 4
    assert len(set(found.runs)) > 1
    assert found.cycles == round(sum(found.runs) / 4)
    one = profile(copies(5), {}, ProfileOptions(jitter=3))
    assert one.runs == found.runs[:1]
    last = next(item for item in found.rows if item.core == "cp").busy[-1][1]
    assert abs(last - found.cycles) <= 1


@pytest.mark.parametrize(
    ("counts", "named"),
    [
        ((7000, 0, 3), (7000, 0, 3)),  # all
        ((9000, 0, 100), (7900, 0, 100)),  # names that a core does not need are for the others
        ((9000, 5000, 100), (3950, 3950, 100)),
        ((2000, 9000, 3000, 9000), (2000, 2000, 2000, 2000)),
    ],
)
def test_which_slices_get_a_name(counts: tuple[int, ...], named: tuple[int, ...]) -> None:
    tracks = [
        Track(f"c{core}", f"c{core}", tuple(
            Slice(f"c{core}", f"c{core}", 0, cycles, cycles, 1, "", "", {}) for cycles in range(count)
        ))
        for core, count in enumerate(counts)
    ]  # fmt: skip
    chosen = replay.choose_slices(tracks)
    for track, count, most in zip(tracks, counts, named, strict=True):
        own = sorted(item.cycles for item in chosen if item.core == track.core)
        assert own == [*range(count - most, count)]  # the longest


@pytest.mark.parametrize("core", ["cp", "dma"])
def test_a_slice_that_is_looked_at_alone_has_its_own_name(core: str) -> None:
    """A replay of one slice alone gives the name of this slice, not of another one (F48).

    The dma shows a transfer in the cycle after its start, so the replay looks there.
    """
    program = copies(6)
    slices = next(item for item in profile(program).tracks if item.core == core).slices
    job = recording.make_job(program, configuration_of(program), {})
    for item in slices[2:12]:
        names, _ = replay.replay_run(job, [item], cycles=10**6)
        assert names == {(item.core, item.first): (item.name, item.place)}


STARTED = {
    "vc": """
        .core   vc
first:  li      a0, 7
        li      a1, 8
        li      a0, 0
        li      a7, 93
        ecall
""",
    "fim": """
        .core   fim, island=0
first:  .block  banks=0
          mmr   op, mul
          mmr   arrange, dot
        end
""",
    "nnp": """
        .core   nnp
first:  v_rd    Dram, 0
        v_wr    InitialVrf, 0
        v_rd    Dram, 4
        v_wr    InitialVrf, 1
        end_chain
""",
}


@pytest.mark.parametrize("core", STARTED)
def test_the_first_instruction_of_a_started_core_has_its_own_name(core: str) -> None:
    """A core may execute it in the cycle in which cp starts the core; the next one had its name."""
    program = api.assemble(Source(STARTED[core], "first.s"))
    found = profile(program, {}, ProfileOptions(findings=False))
    slices = next(item for item in found.tracks if item.row == core and item.slices).slices
    first, second = (next(x for x in slices if x.first == number) for number in (0, 1))
    lines = STARTED[core].splitlines()
    place = next(number for number, line in enumerate(lines, 1) if line.startswith("first:"))
    place += core == "fim"  # its first line only describes the block
    assert first.place == f"first.s:{place}"
    assert second.place == f"first.s:{place + 1 + (core == 'nnp')}"
