"""programs/c_layer and c_vector: executables match their C sources and give recorded outputs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

import macaw
from tests.asm.gnu_tools import output
from tests.asm.linked_files import CLANG, LLD, compile_c, link, need
from tests.debugger.running import printed

ROOT = Path(__file__).parents[2]
PROGRAMS = {"c_layer": "layer", "c_vector": "vectors"}  # the Macaw source of each
SUFFIXES = (".s", ".c", ".npy", ".sh", ".toml")


@pytest.fixture(params=PROGRAMS)
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of a program's sources."""
    target = tmp_path / request.param
    target.mkdir()
    for file in (ROOT / "programs" / request.param).iterdir():
        if file.suffix in SUFFIXES:
            shutil.copy(file, target)
    return target


def expected(name: str) -> dict[str, np.ndarray]:
    recorded = ROOT / "programs" / name / "expected"
    return {path.stem: np.load(path) for path in recorded.glob("*.npy")}


def test_the_kept_executable_is_of_these_sources(folder: Path) -> None:
    item = macaw.assemble_object(folder / f"{PROGRAMS[folder.name]}.s")
    with (ROOT / "programs" / folder.name / f"{folder.name}.elf").open("rb") as stream:
        symbols = ELFFile(stream).get_section_by_name(".symtab")
        assert isinstance(symbols, SymbolTableSection)
        assert symbols.get_symbol_by_name(item.layout_symbol), "run build.sh"


def test_build_sh_makes_it_anew(folder: Path) -> None:
    need("gcc")
    tool = folder / "bin" / "macaw"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m macaw "$@"\n')
    tool.chmod(0o755)
    paths = os.pathsep.join((str(tool.parent), os.environ["PATH"]))
    environment = {**os.environ, "PATH": paths, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [folder / "build.sh"], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    check(folder, f"{folder.name}.elf")
    path = str(folder / f"{folder.name}.elf")
    lines = output("readelf", "-aW", "--debug-dump", path)
    assert "main.c" in lines
    code = output("objdump", "-dS", path)
    assert "<_start>:" in code


@pytest.mark.parametrize("linker", ["ld", LLD])
@pytest.mark.parametrize("compiler", ["gcc", CLANG])
def test_other_compilers_and_linkers(folder: Path, compiler: str, linker: str) -> None:
    item = macaw.assemble_object(folder / f"{PROGRAMS[folder.name]}.s")
    macaw.save_object(item, folder / "net.o")
    (folder / "net.ld").write_text(macaw.linker_script(item))
    (folder / "macaw.h").write_text(macaw.c_header(item))
    compile_c(folder, compiler, "main.c", "-O0" if linker == "ld" else "-Os", "-g")
    assert link(folder, linker, "main.o", "net.o") == ""
    check(folder, "app.elf")


def check(folder: Path, executable: str) -> None:
    """The executable writes the recorded outputs; cycles may differ, because compilers differ."""
    run = macaw.run(folder / executable, x=np.load(folder / "x.npy"))
    assert run.exit_code == 0
    for name, array in expected(folder.name).items():
        if name != "cycles":
            assert run.outputs[name].tolist() == array.tolist()
    if folder.name == "c_layer":
        assert run.stdout == "largest: y[3] = 955\n"
        weights = np.load(folder / "weights.npy").astype(np.int32)
        assert run.outputs["y"].tolist() == (weights @ np.load(folder / "x.npy")).tolist()
    else:
        products = np.load(folder / "x.npy").astype(np.int32) * np.load(folder / "w.npy")
        assert run.outputs["sums"].tolist() == [products.sum()] * 2
        by_vectors, by_numbers = run.outputs["cycles"].tolist()
        assert by_vectors < by_numbers / 4


def test_a_header_of_other_sources_is_refused(folder: Path) -> None:
    name = folder / f"{PROGRAMS[folder.name]}.s"
    (folder / "macaw.h").write_text(macaw.c_header(macaw.assemble_object(name)))
    name.write_text(name.read_text() + "        .data\n        .word 5\n")
    item = macaw.assemble_object(name)
    macaw.save_object(item, folder / "net.o")
    (folder / "net.ld").write_text(macaw.linker_script(item))
    compile_c(folder, "gcc", "main.c", "-O1")
    assert "undefined reference to `macaw_layout_" in link(folder, "ld", "main.o", "net.o")


# --- the tools take a linked program -------------------------------------------------------

KEPT = {name: ROOT / "programs" / name / f"{name}.elf" for name in PROGRAMS}


def line_of(name: str, text: str) -> int:
    """The number of the first line of main.c that contains `text`."""
    lines = (ROOT / "programs" / name / "main.c").read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def test_the_sources_beside_an_executable_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Macaw finds the C sources beside an executable from any folder.

    If they are in the current folder, they have their short names.
    """
    path = KEPT["c_layer"]
    monkeypatch.chdir(tmp_path)
    program = macaw.load(path)
    assert str(path.parent / "main.c") in {line.file for line in program.lines}
    session = macaw.debug(program, x=np.load(path.parent / "x.npy"))
    number = line_of("c_layer", "macaw_exit(")
    text = printed(session, f"list main.c:{number}")
    assert "macaw_exit(" in text
    monkeypatch.chdir(path.parent)
    assert "main.c" in {line.file for line in macaw.load(path).lines}
    monkeypatch.chdir(path.parents[1])
    (tmp_path / "c_layer.elf").write_bytes(path.read_bytes())
    assert "main.c" in {line.file for line in macaw.load(tmp_path / "c_layer.elf").lines}


def test_a_breakpoint_in_c_that_vc_runs_is_hit() -> None:
    from macaw.debugger.commands.text import answer_text
    from macaw.debugging import make_interpreter

    x = np.load(ROOT / "programs" / "c_vector" / "x.npy")
    interpreter = make_interpreter(macaw.load(KEPT["c_vector"]), {"x": x})
    place = f"main.c:{line_of('c_vector', 'macaw_pmac_s8(')}"

    def said(line: str) -> str:
        return answer_text(interpreter.execute(line), line)

    assert said(f"break {place}").endswith(place)
    assert f"break 1: {place} by vc" in said("run")
    lanes = [int(word) for word in said("print/i8 vc.vr0").split("[")[1].rstrip("]\n").split(",")]
    assert lanes == x[:16].tolist()
    assert f"break 1: {place} by vc" in said("continue")
    said("reverse-continue")
    assert said("print/i8 vc.vr0").split("[")[1].rstrip("]\n").split(",")[0] == str(x[0])
    said(f"break main.c:{line_of('c_vector', 'macaw_exit(sums[0]')}")
    said("delete 1")
    assert "by cp" in said("continue")


def test_dis_prints_all_of_it() -> None:
    text = macaw.disassemble(KEPT["c_layer"])
    assert text.startswith("# Linked with objects of other tools. Everything stays")
    for line in (
        ".input  x, int8, 64",
        ".seq    layer",
        "dispatch ",
        ".org    0x1b8",
        "_start:",
    ):
        assert line in text
    x = np.load(ROOT / "programs" / "c_layer" / "x.npy")
    again = macaw.run(macaw.assemble(macaw.Source(text)), x=x)
    first = macaw.run(macaw.load(KEPT["c_layer"]), x=x)
    assert (again.stdout, again.cycles) == (first.stdout, first.cycles)
    text = macaw.disassemble(KEPT["c_vector"], core="vc")
    assert "pmac.s8 vr3, vr0, vr1, vr2, acc" in text
    assert "core.start" not in text
    assert "<vc_main>:" in macaw.disassemble(KEPT["c_vector"], raw=True)


def test_a_profile_names_the_lines_of_c() -> None:
    from macaw.profiling.profiler import profile

    x = np.load(ROOT / "programs" / "c_vector" / "x.npy")
    report = profile(macaw.load(KEPT["c_vector"]), {"x": x})
    place = f"main.c:{line_of('c_vector', 'sum += x[i]')}"
    assert place in str(report.bottleneck)
