"""`macaw asm` and `macaw dis`: files, options, diagnostics, and assembling a disassembly."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from macaw import api
from macaw.errors import InputError
from tests.macaw.command_runs import run_apart
from tests.macaw.conftest import ROOT, Macaw

Source = Callable[..., Path]

BAD = "        .core cp\n        addi a0, a0, 5000\n        frob\nx:      nop\nx:      nop\n"
WARNS = "        .core cp\n_start: nop\n.Lunused: nop\n"


def test_the_executable_is_named_after_the_source(macaw: Macaw, layer: Path) -> None:
    done = macaw("asm", "layer.s")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (layer.parent / "layer.elf").read_bytes().startswith(b"\x7fELF")


def test_the_same_source_gives_the_same_bytes(macaw_apart: Macaw, layer: Path) -> None:
    macaw_apart("asm", "layer.s", "-o", "a", PYTHONHASHSEED="2")
    macaw_apart("asm", "layer.s", "-o", "b", PYTHONHASHSEED="1")
    assert (layer.parent / "a").read_bytes() == (layer.parent / "b").read_bytes()


def test_what_dis_prints_assembles_to_the_same_bytes(macaw: Macaw, layer: Path) -> None:
    macaw("asm", "-g0", "layer.s", "-o", "a.elf")
    (layer.parent / "back.s").write_text(macaw("dis", "a.elf").stdout)
    assert macaw("asm", "-g0", "back.s", "-o", "b.elf").stderr == ""
    assert (layer.parent / "a.elf").read_bytes() == (layer.parent / "b.elf").read_bytes()


@pytest.mark.once
def test_lines_are_in_the_file_or_left_out(macaw: Macaw, layer: Path) -> None:
    for words in ([], ["-g"], ["-g0"]):
        assert macaw("asm", "layer.s", *words, "-o", f"a{''.join(words)}").stderr == ""
    default, with_lines, without = (
        (layer.parent / f"a{x}").read_bytes() for x in ("", "-g", "-g0")
    )
    assert default == with_lines
    assert b".debug_line\0" in default
    assert b"layer.s\0" in default
    assert b".debug" not in without
    assert b"layer.s" not in without
    back = macaw("dis", "a").stdout
    assert back == macaw("dis", "a-g0").stdout


def test_images(macaw: Macaw, layer: Path) -> None:
    folder = layer.parent
    assert macaw("asm", "layer.s", "--format", "hex").stderr == ""
    assert (folder / "layer.hex").read_bytes().startswith(b":020000040001F9\n")
    for memory in ("local", "external"):
        done = macaw("asm", "layer.s", "--format", "bin", "--memory", memory, "-o", memory)
        assert (done.returncode, done.stderr) == (0, "")
        assert (folder / memory).stat().st_size > 100
    done = macaw("asm", "layer.s", "--format", "bin")
    assert done.returncode == 2
    assert done.stderr == (
        "macaw: error: a raw image holds one memory: .text.cp is loaded at 0x00010000,"
        " .pe.0 at 0x80000000\n"
        "hint: choose the memory local or external, or the format hex\n"
    )
    assert not (folder / "layer.bin").exists()
    done = macaw("asm", "layer.s", "--memory", "local")
    assert done.returncode == 2
    assert "--memory goes with --format bin or hex" in done.stderr


def test_images_from_python(layer: Path) -> None:
    program = api.assemble(layer)
    path = layer.parent / "image"
    api.save(program, path, format="hex", memory="local")
    assert path.read_bytes().endswith(b":00000001FF\n")
    with pytest.raises(InputError, match="an ELF file holds all memories"):
        api.save(program, path, memory="local")
    with pytest.raises(InputError, match="no format is called 'srec'") as error:
        api.save(program, path, format="srec")
    assert error.value.hint == "there are elf, bin, hex"
    with pytest.raises(InputError, match="no memory is called 'rom'") as error:
        api.save(program, path, format="bin", memory="rom")
    assert error.value.hint == "there are local, cores, external"
    with pytest.raises(InputError, match="a raw image holds one memory"):
        api.save(program, path, format="bin")


@pytest.mark.once
def test_a_listing_goes_into_a_file_or_to_standard_output(macaw: Macaw, layer: Path) -> None:
    assert macaw("asm", "layer.s", "-o", "plain").stderr == ""
    done = macaw("asm", "layer.s", "--listing", "-", "-o", "a.elf")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("layer.s\n\n     1  ")
    assert (layer.parent / "a.elf").read_bytes() == (layer.parent / "plain").read_bytes()
    done = macaw("asm", "layer.s", "--listing", "a.lst", "--format", "hex", "-o", "a.hex")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (layer.parent / "a.lst").read_text().startswith("layer.s\n\n     1  ")


def test_each_output_of_asm_may_be_standard_output(macaw: Macaw, layer: Path) -> None:
    assert macaw("asm", "-c", "layer.s", "--ld-script", "script").returncode == 0
    hexadecimal = macaw("asm", "layer.s", "-o", "-", "--format", "hex")
    assert hexadecimal.stdout.startswith(":02")
    assert not hexadecimal.stderr
    script = macaw("asm", "-c", "layer.s", "--ld-script", "-")
    assert script.stdout == (layer.parent / "script").read_text("utf-8")
    assert macaw("header", "layer.s", "-o", "-").stdout == macaw("header", "layer.s").stdout
    done = macaw("asm", "layer.s", "-o", "-", "--listing", "-")
    assert done.stderr == "macaw: error: two outputs cannot both go to -\n"
    assert not (layer.parent / "-").exists()


def test_a_header_of_a_source_for_gnu_as(macaw: Macaw, source: Source) -> None:
    source(" .device tiny\n .global _start\n_start: nop\n", "p.s")
    assert macaw("asm", "-c", "--gnu", "p.s").returncode == 0
    assert macaw("header", "p.s").returncode == 2
    done = macaw("header", "--gnu", "p.s")
    assert done.returncode == 0
    assert "#define _start_address " in done.stdout
    assert "--gnu and -W go with a FILE" in macaw("header", "--gnu").stderr


@pytest.mark.parametrize(
    "words",
    [
        ["run", "layer.s", "-o", "y=-"],
        ["lower", "spmm", "-w", "w.npy", "-o", "-"],
        ["quantise", "m.onnx", "--data", "x.npy", "-o", "-"],
        ["concord", "layer.s", "-o", "-"],
        ["protect", "w.npy", "-o", "-", "--order", "o.npy"],
        ["protect", "w.npy", "-o", "p.npy", "--order", "-"],
        ["test", ".", "--junit", "-"],
        ["compile", "m.onnx", "-o", "-"],
        ["new", "-"],
        ["sweep", ".", "-o", "-"],
    ],
)
def test_outputs_that_cannot_be_standard_output(macaw: Macaw, words: list[str]) -> None:
    """They wrote a file or a folder with the name `-`."""
    done = macaw(*words)
    assert done.returncode == 2
    assert "standard output cannot be used here; ./- is a file or folder of this name" in " ".join(
        done.stderr.split()
    )


def test_a_listing_destroys_nothing(macaw: Macaw, source: Source, tmp_path: Path) -> None:
    source(BAD)
    assert macaw("asm", "p.s", "--listing", "p.lst").returncode == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p.s"]
    source(".core cp\n nop\n")
    for words in (["p.s", "-o", "x"], ["./p.s"]):
        done = macaw("asm", "p.s", "--listing", *words)
        assert done.returncode == 2
        assert done.stderr == (
            f"macaw: error: {words[0]} is an input: it is not overwritten\n"
            "hint: --listing names another\n"
        )
    for words in (["p.elf"], ["./x", "-o", "x"]):
        done = macaw("asm", "p.s", "--listing", *words)
        assert done.returncode == 2
        assert "are one file: it cannot hold both" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p.s"]


def test_dis_of_one_core(macaw: Macaw, layer: Path) -> None:
    macaw("asm", "layer.s", "-o", "a.elf")
    done = macaw("dis", "a.elf", "--core", "pe")
    assert done.returncode == 0
    assert ".core   pe, row=0" in done.stdout
    assert ".core   cp" not in done.stdout
    done = macaw("dis", "a.elf", "--core", "vc")
    assert done.returncode == 2
    assert done.stderr.startswith("macaw: error: the program has no part of a core 'vc'")


def test_raw(macaw: Macaw, layer: Path) -> None:
    macaw("asm", "layer.s", "-o", "a.elf")
    done = macaw("dis", "a.elf", "--raw")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\n   10000:  00000417  auipc   s0, 0x0\n" in done.stdout
    assert "\n10000000:  00010000 03000000  packet  config ib=0, segments=1" in done.stdout
    one = macaw("dis", "a.elf", "--raw", "--core", "pe").stdout
    assert one.startswith(".pe.0: ")
    assert one in done.stdout
    done = macaw("dis", "a.elf", "--raw", "--core", "vc")
    assert (done.returncode, done.stdout) == (2, "")


def test_dis_of_a_source(macaw: Macaw, layer: Path) -> None:
    done = macaw("dis", layer)
    assert done.returncode == 2
    assert done.stderr.endswith("is no ELF file\nhint: `macaw asm` makes one from a source\n")


@pytest.mark.parametrize("command", ["run", "dis", "annotate"])
def test_an_error_in_an_executable_names_the_file(
    macaw: Macaw, layer: Path, tmp_path: Path, command: str
) -> None:
    macaw("asm", "layer.s", "-o", "a.elf")
    data = (tmp_path / "a.elf").read_bytes()
    (tmp_path / "cut.elf").write_bytes(data[:200])
    (tmp_path / "wide.elf").write_bytes(b"\x7fELF\2" + data[5:])
    done = macaw(command, "cut.elf")
    assert done.returncode == 2
    assert re.match(r"macaw: error: cut\.elf: \d+ section headers at offset ", done.stderr)
    done = macaw(command, "wide.elf")
    assert done.stderr.startswith("macaw: error: wide.elf: the file is a 64-bit ELF file; ")


def test_a_header_of_no_program(macaw: Macaw, tmp_path: Path) -> None:
    (tmp_path / "x.npy").write_bytes(b"")
    done = macaw("header", "x.npy")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("macaw: error: x.npy is an array, no program\n")


def test_all_mistakes_are_reported_and_nothing_is_written(
    macaw: Macaw, source: Source, tmp_path: Path
) -> None:
    source(BAD)
    (tmp_path / "p.elf").write_bytes(b"old")
    done = macaw("asm", "p.s")
    assert (done.returncode, done.stdout) == (2, "")
    places = [line.split(" ")[0] for line in done.stderr.splitlines() if line.startswith("p.s:")]
    assert [place.split(":")[1] for place in places] == ["2", "3", "5"]
    assert (tmp_path / "p.elf").read_bytes() == b"old"


def test_diagnostics_in_json(macaw: Macaw, source: Source) -> None:
    source(BAD)
    found = json.loads(macaw("asm", "p.s", "--diagnostics", "json").stderr)
    assert [item["line"] for item in found] == [2, 3, 5]
    documented = (ROOT / "docs" / "cli.md").read_text()
    for name in found[0]:
        assert f"`{name}`" in documented
    source("        .core cp\n_start: nop\n")
    assert macaw("asm", "p.s", "--diagnostics", "json").stderr == "[]\n"


MANY = "        .core cp\n" + "        addd a0, a1\n" * 130


@pytest.mark.once
def test_at_most_a_hundred_errors_are_printed(macaw: Macaw, source: Source) -> None:
    source(MANY)
    said = macaw("asm", "p.s").stderr.splitlines()
    assert sum("error: " in line for line in said) == 100
    assert said[-1] == "macaw: 30 more errors not shown"
    assert macaw("run", "p.s").stderr.splitlines() == said
    three = macaw("asm", "p.s", "--max-errors", 3).stderr.splitlines()
    assert three == [*said[:12], "macaw: 127 more errors not shown"]
    everything = macaw("asm", "p.s", "--max-errors", 0).stderr
    assert everything.count("error: ") == 130
    assert "more" not in everything
    *found, note = json.loads(macaw("asm", "p.s", "--diagnostics", "json").stderr)
    assert [item["line"] for item in found] == list(range(2, 102))
    assert (note["severity"], note["message"]) == ("note", "30 more errors not shown")


def test_warnings_and_errors_are_counted_apart(macaw: Macaw, source: Source) -> None:
    source('.core cp\n.warning "w"\n.warning "x"\nnope\n.warning "y"\n')
    said = macaw("asm", "p.s", "--max-errors", 1).stderr
    assert said.count("warning: ") == 1
    assert said.count("error: ") == 1
    assert said.endswith("macaw: 2 more warnings not shown\n")


def test_a_warning_is_printed_and_the_file_written(
    macaw: Macaw, source: Source, tmp_path: Path
) -> None:
    source(WARNS)
    done = macaw("asm", "p.s")
    assert done.returncode == 0
    assert done.stderr.startswith("p.s:3:1: warning: ")
    assert (tmp_path / "p.elf").exists()


def test_werror(macaw: Macaw, source: Source, tmp_path: Path) -> None:
    source(WARNS)
    done = macaw("asm", "p.s", "-Werror")
    assert done.returncode == 2
    assert done.stderr.startswith("p.s:3:1: error: ")
    assert "[-Werror=" in done.stderr
    assert not (tmp_path / "p.elf").exists()


@pytest.mark.once
def test_definitions(macaw: Macaw, source: Source) -> None:
    source("        .core cp\n        li a0, CODE\n        li a7, 93\n        ecall\n")
    assert macaw("asm", "p.s").returncode == 2
    assert macaw("asm", "p.s", "-D", "CODE=0x15").stderr == ""
    assert "code 21" in macaw("run", "p.elf").stderr
    for wrong in ("=3", "1x=3"):
        assert f"'{wrong}' is not NAME=VALUE" in macaw("asm", "p.s", "-D", wrong).stderr
    assert "CODE is given twice" in macaw("asm", "p.s", "-D", "CODE=1", "-DCODE=2").stderr


def test_folders_that_files_may_come_from(macaw: Macaw, layer: Path) -> None:
    inner = layer.parent / "inner"
    inner.mkdir()
    layer.rename(inner / "layer.s")
    done = macaw("asm", "inner/layer.s", "-o", "a.elf")
    assert done.returncode == 2
    assert "weights.npy" in done.stderr
    assert macaw("asm", "inner/layer.s", "-I", ".", "-o", "a.elf").stderr == ""


def test_a_device_that_is_none(macaw: Macaw, layer: Path) -> None:
    done = macaw("asm", layer, "--device", "huge")
    assert done.returncode == 2
    assert "no device is called 'huge'" in done.stderr


@pytest.mark.once
@pytest.mark.parametrize(
    ("options", "written"),
    [(["asm"], "stdin.elf"), (["asm", "-c"], "stdin.o"), (["header", "-o", "m.h"], "m.h")],
)
def test_a_source_from_a_pipe(layer: Path, options: list[str], written: str) -> None:
    """Its files, and an output without a name, are in the current folder."""
    folder, before = layer.parent, set(layer.parent.iterdir())
    done = run_apart([*options, "/dev/stdin"], folder, text=layer.read_text("utf-8"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert set(folder.iterdir()) - before == {folder / written}


@pytest.mark.once
@pytest.mark.parametrize("command", ["asm", "concord"])
def test_a_source_without_a_name(macaw: Macaw, command: str) -> None:
    done = macaw(command, ".")
    assert done.stderr == "macaw: error: '.' is no name of a file\n"
    assert done.returncode == 2


@pytest.mark.parametrize("output", ["none/a.elf", "."])
def test_an_output_that_cannot_be_written(macaw: Macaw, layer: Path, output: str) -> None:
    done = macaw("asm", layer, "-o", output)
    assert done.returncode == 2
    assert done.stderr.startswith(f"macaw: error: cannot write {output}: ")


@pytest.mark.once
@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["layer.s", "-o", "layer.s"], "layer.s"),
        (["layer.s", "-o", "../{0}/layer.s"], "../{0}/layer.s"),
        (["layer.s", "-o", "link.s"], "link.s"),
        (["other.s", "layer.s", "-o", "layer.s"], "layer.s"),
        (["layer.elf"], "layer.elf"),
        (["layer.s", "--device", "d.toml", "-o", "d.toml"], "d.toml"),
        (["layer.s", "-o", "weights.npy"], "weights.npy"),
        (["layer.s", "-o", "../{0}/weights.npy"], "../{0}/weights.npy"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_an_input_is_not_overwritten(
    macaw: Macaw, layer: Path, arguments: list[str], named: str
) -> None:
    folder = layer.parent
    (folder / "link.s").symlink_to("layer.s")
    for name in ("layer.elf", "other.s"):
        (folder / name).write_bytes(layer.read_bytes())
    (folder / "d.toml").write_text("")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    done = macaw("asm", *(word.format(folder.name) for word in arguments))
    assert done.returncode == 2
    assert done.stderr == (
        f"macaw: error: {named.format(folder.name)} is an input: it is not overwritten\n"
        "hint: -o names another\n"
    )
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
