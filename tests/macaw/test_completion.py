"""Completion in shells: suggestions for command lines, and the shells' scripts."""

from pathlib import Path

import pytest

from tests.macaw.conftest import Macaw


def suggested(macaw: Macaw, *words: str) -> list[str]:
    """The suggestions for the last word, as fish gets them; `file` if the shell completes files."""
    done = macaw(
        _MACAW_COMPLETE="fish_complete",
        COMP_WORDS=" ".join(["macaw", *words]),
        COMP_CWORD=words[-1],
    )
    assert done.stderr == ""
    rows = (line.split("\t")[0].partition(",") for line in done.stdout.splitlines() if line)
    return [kind if kind != "plain" else value for kind, _, value in rows]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["comp"], ["compile", "completion"]),
        (["help", "de"], ["debug", "device"]),
        (["device", "ti"], ["tiny"]),
        (["device", "x.to"], ["file"]),
        (["run", "--device", "la"], ["large"]),
        (["asm", "--device", "bw_a"], ["bw_a10"]),
        (["run", "lay"], ["file"]),
        (["run", "--engine", ""], ["fast", "reference"]),
        (["isa", "--core", "n"], ["nnp"]),
        (["isa", "trace_e"], ["trace_end"]),
        (["dis", "--core", "f"], ["fim"]),
        (["new", "x", "--core", ""], ["pe", "vc", "nnp", "fim", "c"]),
        (["completion", ""], ["bash", "zsh", "fish"]),
        (["concord", "--target", "t"], ["torch", "tensorflow"]),
        (["annotate", "--core", "n"], ["nnp"]),
        (["debug", "--against-device", "la"], ["large"]),
        (["debug", "--against-engine", "r"], ["reference"]),
        (["profile", "--against", "o"], ["file"]),
        (["test", "--junit", "r"], ["file"]),
        (["estimate", "--data", "i"], ["file"]),
        (["quantise", "--data", "i"], ["file"]),
    ],
    ids=lambda value: " ".join(value),
)
def test_what_a_word_can_become(macaw: Macaw, words: list[str], found: list[str]) -> None:
    assert suggested(macaw, *words) == found


def test_files_of_inputs(macaw: Macaw, tmp_path: Path) -> None:
    (tmp_path / "some").mkdir()
    for name in ("some/x.npy", "some/notes.txt", "x.npy", "xx.npy", "x.s"):
        (tmp_path / name).write_text("")
    assert suggested(macaw, "run", "-i", "x=x") == ["x=x.npy", "x=xx.npy"]
    assert suggested(macaw, "debug", "-i", "x=s") == ["x=some/"]
    assert suggested(macaw, "profile", "-i", "x=some/") == ["x=some/x.npy"]
    assert suggested(macaw, "debug", "--against-input", "x=x") == ["x=x.npy", "x=xx.npy"]
    assert suggested(macaw, "estimate", "--data", "x=x") == ["x=x.npy", "x=xx.npy"]
    assert suggested(macaw, "run", "-i", "x=none/") == []
    assert suggested(macaw, "run", "-i", "x") == []


def test_sections_of_an_executable(macaw: Macaw, tmp_path: Path, layer: Path) -> None:
    assert macaw("asm", layer, "-o", "l.elf").returncode == 0
    assert suggested(macaw, "dis", "l.elf", "--section", ".t") == [".text.cp", ".tensors"]
    assert suggested(macaw, "dis", layer.name, "--section", "") == []
    assert suggested(macaw, "dis", "--section", "") == []


def test_dis_prints_one_section(macaw: Macaw, layer: Path) -> None:
    assert macaw("asm", layer, "-o", "l.elf").returncode == 0
    for words in (["--raw"], []):
        whole = macaw("dis", "l.elf", *words).stdout
        part = macaw("dis", "l.elf", "-j", ".text.cp", *words).stdout
        assert ".text.cp: " in part
        assert ".pe.0: " in whole
        assert ".pe.0: " not in part
    done = macaw("dis", "l.elf", "--section", ".text")
    assert done.returncode == 2
    assert "no section is called '.text', there are .text.cp, .data.cp, " in done.stderr
    assert "there are .pe.0\n" in macaw("dis", "l.elf", "-j", "x", "--core", "pe").stderr


def test_completion_names_its_shell(macaw: Macaw) -> None:
    assert macaw("completion", SHELL="/usr/bin/fish").stdout == macaw("completion", "fish").stdout
    done = macaw("completion", SHELL="/bin/tcsh")
    assert done.returncode == 2
    assert "which shell is it? Name one of bash, zsh, fish" in done.stderr
    assert "'ksh' is not one of 'bash', 'zsh', 'fish'" in macaw("completion", "ksh").stderr


def test_help_is_that_of_the_command(macaw: Macaw) -> None:
    for name in ("run", "isa", "help"):
        assert macaw("help", name).stdout == macaw(name, "--help").stdout != ""
    assert macaw("help").stdout == macaw("--help").stdout
    done = macaw("help", "rum")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no command 'rum'; did you mean 'run'?" in done.stderr
