"""`macaw run` and `macaw.run`: results, batches, files, statistics, JSON, and programs that fail."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import macaw as api
from macaw.cli import FIRST_STEPS
from tests.macaw.conftest import HELLO, ROOT, Macaw

Source = Callable[[str], Path]

EXIT = "        li a7, 93\n        li a0, {}\n        ecall\n"
LOOP = "        .core cp\nloop:   j loop\n"
FAULT = "        .core cp\n        lw a0, 2(zero)\n"


def test_outputs_are_printed(macaw: Macaw, layer: Path, expected_y: np.ndarray) -> None:
    done = macaw("run", layer, "-i", "x=x.npy")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"y (int32, 8)\n{expected_y}\n"


def test_text_is_no_file_name() -> None:
    with pytest.raises(api.InputError, match="several lines is no file name") as error:
        api.assemble(HELLO.read_text())
    assert error.value.hint == "macaw.Source(text, 'name.s')"
    assert api.run(api.assemble(api.Source(HELLO.read_text(), "hello.s"))).cycles > 0


def test_outputs_are_written(macaw: Macaw, layer: Path, expected_y: np.ndarray) -> None:
    done = macaw("run", layer, "-i", "x=x.npy", "-o", "y=out.npy")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    written = np.load(layer.parent / "out.npy")
    assert written.dtype == np.int32
    np.testing.assert_array_equal(written, expected_y)


@pytest.mark.once
@pytest.mark.parametrize("name", ["layer.s", "x.npy", "weights.npy"])
def test_an_input_is_not_overwritten(macaw: Macaw, layer: Path, name: str) -> None:
    before = (layer.parent / name).read_bytes()
    done = macaw("run", "layer.s", "-i", "x=x.npy", "-o", f"y=./{name}")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"macaw: error: ./{name} is an input: it is not overwritten\n")
    assert (layer.parent / name).read_bytes() == before


def test_an_executable_runs_like_its_source(macaw: Macaw, layer: Path) -> None:
    assert macaw("asm", layer, "-o", "layer.elf").returncode == 0
    first = macaw("run", layer, "-i", "x=x.npy", "--json")
    second = macaw("run", "layer.elf", "-i", "x=x.npy", "--json")
    assert json.loads(first.stdout) == json.loads(second.stdout)


def test_a_batch_axis_runs_once_an_item(macaw: Macaw, layer: Path) -> None:
    images = np.stack([np.load(layer.parent / "x.npy") // k for k in (1, 2, 3)])
    np.save(layer.parent / "xs.npy", images)
    done = macaw("run", layer, "-i", "x=xs.npy", "-o", "y=ys.npy", "--json")
    result = json.loads(done.stdout)
    assert result["items"] == 3
    assert result["outputs"]["y"] == {"dtype": "int32", "shape": [3, 8], "file": "ys.npy"}
    weights = np.load(layer.parent / "weights.npy").astype(np.int32)
    np.testing.assert_array_equal(np.load(layer.parent / "ys.npy"), images @ weights.T)
    singles = [api.run(layer, x=image) for image in images]
    assert result["cycles"] == sum(run.cycles for run in singles)
    macs = [run.counters["pe[0]"]["macs"] for run in singles]
    assert result["counters"]["pe[0]"]["macs"] == sum(macs)


@pytest.mark.once
def test_jitter_changes_cycles_alone(macaw: Macaw, layer: Path) -> None:
    plain, noisy, again = (
        json.loads(macaw("run", layer, "-i", "x=x.npy", "--json", *more).stdout)
        for more in ([], ["--jitter", "2"], ["--jitter", "2", "--engine", "reference"])
    )
    assert noisy == again
    assert noisy["cycles"] > plain["cycles"]
    assert noisy["outputs"] == plain["outputs"]


def test_each_item_of_a_batch_has_a_seed_of_its_own(layer: Path) -> None:
    x = np.load(layer.parent / "x.npy")
    both = api.run(layer, x=np.stack([x, x]), jitter=1)
    assert (
        both.cycles == api.run(layer, x=x, jitter=1).cycles + api.run(layer, x=x, jitter=2).cycles
    )


def test_json_has_its_documented_fields(macaw: Macaw, layer: Path, expected_y: np.ndarray) -> None:
    result = json.loads(macaw("run", layer, "-i", "x=x.npy", "--json").stdout)
    assert set(result) == {
        "stop", "exit_code", "items", "cycles", "outputs", "unwritten", "cautions", "counters", "stdout",
        "stderr",
    }  # fmt: skip
    assert (result["stop"], result["exit_code"], result["items"]) == ("exit", 0, None)
    assert result["outputs"] == {"y": {"dtype": "int32", "shape": [8], "data": expected_y.tolist()}}
    documented = (ROOT / "docs" / "cli.md").read_text()
    for name in result:
        assert f"`{name}`" in documented


@pytest.mark.once
def test_stats_fit_a_narrow_and_a_wide_terminal(macaw: Macaw, layer: Path) -> None:
    for columns in ("80", "200"):
        done = macaw("run", layer, "-i", "x=x.npy", "--stats", COLUMNS=columns)
        assert done.returncode == 0
        lines = done.stderr.splitlines()
        assert lines[0].endswith(" cycles")
        assert max(map(len, lines)) <= int(columns)
        assert any("weights_examined" in line and "123" in line for line in lines)
        assert "…" not in done.stderr


@pytest.mark.once
def test_stats_keep_their_numbers_on_any_terminal(macaw: Macaw, layer: Path) -> None:
    counters = json.loads(macaw("run", layer, "-i", "x=x.npy", "--json").stdout)["counters"]
    single = [f"{n:,}" for core in ("cp", "dma") for n in counters[core].values() if n]
    shown = []
    for columns in (58, 48, 40, 30, 24, 20, 16):
        done = macaw("run", layer, "-i", "x=x.npy", "--stats", COLUMNS=str(columns))
        *lines, _, _ = done.stderr.splitlines()  # the last is a sentence
        assert max(map(len, lines)) <= columns
        assert "…" not in done.stderr
        assert ("products" in done.stderr) == (columns >= 40)
        shown.append(re.findall(r"(?<= )[\d,]+(?= |$)", "\n".join(lines), flags=re.M))
    assert shown[0][: len(single)] == single
    assert all(numbers == shown[0] for numbers in shown)


@pytest.mark.once
def test_the_programs_own_output_comes_through(macaw: Macaw) -> None:
    done = macaw("run", HELLO)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "Hello from the command processor.\n"
    result = json.loads(macaw("run", HELLO, "--json").stdout)
    assert result["stdout"] == "Hello from the command processor.\n"


@pytest.mark.once
def test_another_device(macaw: Macaw, layer: Path) -> None:
    slow = api.configuration("tiny").changed({"mem.external_latency": 200})
    (layer.parent / "slow.toml").write_text(slow.to_toml())
    usual = json.loads(macaw("run", layer, "-i", "x=x.npy", "--json").stdout)
    late = json.loads(
        macaw("run", layer, "-i", "x=x.npy", "--json", "--device", "slow.toml").stdout
    )
    assert late["outputs"] == usual["outputs"]
    assert late["cycles"] > usual["cycles"]


# Programs that fail ----------------------------------------------------------------------------


@pytest.mark.once
def test_an_exit_code(macaw: Macaw, source: Source) -> None:
    path = source("        .core cp\n" + EXIT.format(3))
    done = macaw("run", path)
    assert done.returncode == 1
    assert done.stderr == "macaw: warning: the program exited with code 3\n"
    assert json.loads(macaw("run", path, "--json").stdout)["exit_code"] == 3


def test_a_fault_names_its_line(macaw: Macaw, source: Source) -> None:
    path = source(FAULT)
    done = macaw("run", path)
    assert done.returncode == 1
    first, line, caret = done.stderr.splitlines()
    assert first.startswith(f"{path}:2:9: fault: cp: misaligned access at 0x00010000, cycle ")
    assert line.strip() == "lw a0, 2(zero)"
    assert caret.strip() == "^^"


def test_a_fault_of_an_executable_without_lines_names_the_symbol(
    macaw: Macaw, source: Source
) -> None:
    path = source("        .core cp\nmain:   nop\n        lw a0, 2(zero)\n")
    macaw("asm", "-g0", path, "-o", "p.elf")
    done = macaw("run", "p.elf")
    assert done.returncode == 1
    assert "cp: misaligned access at 0x00010004" in done.stderr
    assert "hint: 0x00010004 is main+0x4" in done.stderr


def test_a_fault_in_json(macaw: Macaw, source: Source) -> None:
    path = source(FAULT)
    done = macaw("run", path, "--json")
    assert (done.returncode, done.stderr) == (1, "")
    result = json.loads(done.stdout)
    assert result["stop"] == "fault"
    assert result["item"] is None
    fault = result["fault"]
    assert (fault["kind"], fault["core"], fault["address"]) == ("misaligned access", "cp", 0x10000)
    assert fault["place"] == {"file": str(path), "line": 2, "column": 9}


@pytest.mark.once
def test_an_executable_names_the_place_of_its_fault_as_its_source_does(
    macaw: Macaw, source: Source
) -> None:
    source(FAULT)
    assert macaw("asm", "p.s").returncode == 0
    assert macaw("asm", "-g0", "p.s", "-o", "bare.elf").returncode == 0
    from_source, from_file = macaw("run", "p.s"), macaw("run", "p.elf")
    assert from_file.returncode == from_source.returncode == 1
    assert from_file.stderr == from_source.stderr
    assert from_file.stderr.startswith("p.s:2:9: ")
    assert macaw("run", "bare.elf").stderr.startswith("macaw: error: cp: ")
    for name in ("p.s", "p.elf"):
        fault = json.loads(macaw("run", name, "--json").stdout)["fault"]
        assert fault["place"] == {"file": "p.s", "line": 2, "column": 9}


def test_a_cycle_limit(macaw: Macaw, source: Source) -> None:
    done = macaw("run", source(LOOP), "--max-cycles", 1000)
    assert done.returncode == 1
    assert done.stderr.startswith("macaw: error: cycle limit: 1000 cycles are over; running: cp at")


def test_a_breakpoint(macaw: Macaw, source: Source) -> None:
    done = macaw("run", source("        .core cp\n        ebreak\n"))
    assert done.returncode == 1
    assert "breakpoint" in done.stderr


def test_the_folder_of_a_golden_test_has_the_inputs(macaw: Macaw, layer: Path) -> None:
    """A hint names the folder of a golden test that has the missing inputs."""
    (layer.parent / "golden.toml").write_text('source = "layer.s"\n[inputs]\nx = "x.npy"')
    folder = layer.parent
    hint = f"hint: -i x=FILE.npy, or the folder '{folder}', whose golden.toml has inputs\n"
    for command in ("run", "annotate"):
        assert hint in macaw(command, layer).stderr
    assert macaw("annotate", folder).returncode == 0
    (folder / "golden.toml").write_text('source = "layer.s"')
    assert macaw("run", layer).stderr.endswith("hint: -i x=FILE.npy\n")
    (folder / "golden.toml").write_text("[")
    assert macaw("run", layer).stderr.endswith("hint: -i x=FILE.npy\n")


def test_nothing_is_written_after_a_fault(macaw: Macaw, source: Source, tmp_path: Path) -> None:
    path = source("        .output y, int32, 4\n" + FAULT)
    assert macaw("run", path, "-o", "y=y.npy").returncode == 1
    assert not (tmp_path / "y.npy").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "1 input not given: x (int8, 64)\nhint: -i x=FILE.npy, or the folder"),
        (["-i", "z=x.npy"], "the program has no input 'z'"),
        (["-i", "x=none.npy"], "cannot read none.npy: No such file or directory"),
        (["-i", "x=layer.s"], "layer.s is no .npy file"),
        (["-i", "x=wide.npy"], "input x is int8, the array given is int64"),
        (["-i", "x=x.npy", "-o", "z=z.npy"], "the program has no output 'z'"),
        (
            ["-i", "x=x.npy", "-o", "y=none/y.npy"],
            "cannot write none/y.npy: No such file or directory",
        ),
        (["-i", "x=x.npy", "--device", "none"], "no device is called 'none'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_input(macaw: Macaw, layer: Path, arguments: list[str], message: str) -> None:
    np.save(layer.parent / "wide.npy", np.zeros(64, dtype=np.int64))
    done = macaw("run", layer, *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("macaw: error: ")
    assert message in done.stderr
    assert not done.stdout


def test_a_source_with_mistakes(macaw: Macaw, source: Source) -> None:
    done = macaw("run", source("        .core cp\n        adddi a0, a0, 1\n"))
    assert done.returncode == 2
    assert "p.s:2:9: error: " in done.stderr


def test_a_file_that_is_neither_source_nor_executable(macaw: Macaw, tmp_path: Path) -> None:
    (tmp_path / "cut.elf").write_bytes(b"\x7fELF\1\1\1")
    (tmp_path / "noise").write_bytes(bytes(range(256)))
    for name in ("cut.elf", "noise"):
        done = macaw("run", name)
        assert done.returncode == 2
        assert "internal error" not in done.stderr


# From Python -----------------------------------------------------------------------------------


def test_from_python(layer: Path, expected_y: np.ndarray) -> None:
    program = api.assemble(layer)
    run = api.run(program, x=np.load(layer.parent / "x.npy"))
    np.testing.assert_array_equal(run.outputs["y"], expected_y)
    assert run.exit_code == 0
    assert run.cycles == run.device.cycle > 0
    assert run.counters["pe[0]"]["weights_examined"] == 123


def test_runs_do_not_see_each_other(layer: Path) -> None:
    program = api.assemble(layer)
    first, second = (api.run(program, x=np.load(layer.parent / "x.npy")) for _ in range(2))
    assert (first.cycles, first.counters) == (second.cycles, second.counters)


def test_source_text(expected_y: np.ndarray, layer: Path) -> None:
    source = api.Source("        .core cp\n" + EXIT.format(5), "inline.s")
    assert api.run(api.assemble(source)).exit_code == 5


def test_a_fault_is_an_exception_that_keeps_the_device(source: Source) -> None:
    with pytest.raises(api.RunError, match="misaligned access") as caught:
        api.run(source(FAULT))
    assert caught.value.stop.reason == "fault"
    assert caught.value.device.cores["cp"].next_address == 0x10000


def test_save_and_load(layer: Path, tmp_path: Path) -> None:
    program = api.load(layer)
    api.save(program, tmp_path / "saved.elf")
    assert api.load(tmp_path / "saved.elf") == program
    assert api.disassemble(tmp_path / "saved.elf") == api.disassemble(program)


LEFT = """
        .device tiny
        .output y, float16, {count}, 4, at=netout
        .core   nnp
        SetIterations(3)
        v_rd    MulVrf, 0
        v_wr    NetOutQ
        end_chain
"""


@pytest.mark.once
@pytest.mark.parametrize("count", [1, 2, 3])
def test_what_no_output_takes_is_said(macaw: Macaw, source: Source, count: int) -> None:
    done = macaw("run", source(LEFT.format(count=count)))
    assert done.returncode == 0
    left = f"{8 * (3 - count)} bytes that nnp wrote are still in netout: no output or transfer read them"
    assert done.stderr == (f"macaw: warning: {left}\n" if count < 3 else "")


def test_an_input_without_elements_is_refused_by_its_shape(layer: Path) -> None:
    empties: tuple[object, ...] = ([], np.zeros((0, 4)), np.zeros(0, np.int8))
    for empty in empties:
        with pytest.raises(api.InputError, match=r"input x is .*, the array given is "):
            api.run(layer, x=empty)


@pytest.mark.parametrize(
    ("command", "name", "message"),
    [
        ("run", "make.py", "make.py is Python, no program\nhint: python3 runs it"),
        ("asm", "main.C", "main.C is C, no program\nhint: a C compiler makes an object of it, "),
        ("asm", "net.onnx", "net.onnx is an ONNX model, no program\nhint: `macaw quantise`"),
        ("run", "x.npy", "x.npy is an array, no program\nhint: -i NAME=FILE binds it to an input"),
    ],
)
def test_other_files_are_no_programs(macaw: Macaw, command: str, name: str, message: str) -> None:
    done = macaw(command, name)
    assert done.returncode == 2
    assert done.stderr.startswith(f"macaw: error: {message}")


def test_the_description_of_a_folder_is_not_overwritten(macaw: Macaw, layer: Path) -> None:
    (layer.parent / "golden.toml").write_text('source = "layer.s"\n[inputs]\nx = "x.npy"')
    refused = "golden.toml is an input: it is not overwritten\n"
    assert refused in macaw("run", ".", "-o", "y=golden.toml").stderr
    assert refused in macaw("profile", layer, "-i", "x=x.npy", "--json", "golden.toml").stderr
    assert refused in macaw("sweep", ".", "--set", "pe.rows=1,2", "--csv", "golden.toml").stderr
    done = macaw("debug", ".", "--batch", "-e", "save breakpoints golden.toml")
    assert refused in done.stdout + done.stderr
    assert (layer.parent / "golden.toml").read_text().startswith("source")


def test_a_sweep_takes_no_model(macaw: Macaw) -> None:
    done = macaw("sweep", "net.onnx", "--set", "pe.rows=2")
    assert "net.onnx is an ONNX model, no program\n" in done.stderr


@pytest.mark.parametrize("command", ["run", "debug", "profile", "annotate"])
def test_an_onnx_model_is_no_program(macaw: Macaw, tmp_path: Path, command: str) -> None:
    (tmp_path / "net.onnx").write_bytes(b"\x08\x0a\x12\x80")
    done = macaw(command, "net.onnx")
    assert done.returncode == 2
    assert done.stderr == (
        "macaw: error: net.onnx is an ONNX model, no program\n"
        "hint: `macaw quantise` gives it integers, `macaw compile` makes a program of it\n"
    )


def test_first_steps_fit_into_eighty_columns() -> None:
    assert max(map(len, FIRST_STEPS.splitlines())) <= 80


def test_a_folder_in_python_is_no_program(tmp_path: Path) -> None:
    """The hint says what to load in place of the folder, as `macaw run FOLDER` finds it."""
    layer, network, empty = ROOT / "programs/layer", tmp_path / "net", tmp_path / "empty"
    network.mkdir()
    empty.mkdir()
    (network / "net.json").write_text("{}")
    calls: tuple[Callable[[Path], object], ...] = (api.run, api.debug, api.load)
    for folder, hint in (
        (layer, f"its program: {str(layer / 'layer.s')!r}"),
        (network, f"macaw.load_network({str(network)!r}) loads the network in it"),
        (empty, "`macaw new NAME` makes a folder with one"),
    ):
        for call in calls:
            with pytest.raises(api.InputError, match=r" is a folder, not a file of") as caught:
                call(folder)
            assert caught.value.hint == hint
