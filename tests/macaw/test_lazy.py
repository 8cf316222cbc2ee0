"""Modules that light commands load: help needs no NumPy."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import macaw as api
from macaw.isa import registry
from tests.macaw.conftest import LAYER, Macaw

HEAVY = ("numpy", "lark", "prompt_toolkit", "rich", "pygments")

PROBE = """
import json, sys
from macaw.cli import run_command
status = run_command(sys.argv[1:])
print(json.dumps([status, list(sys.modules)]), file=sys.stderr)
"""


def loaded_by(*arguments: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *arguments], capture_output=True, text=True, check=True
    )
    status, names = json.loads(done.stderr.splitlines()[-1])
    assert status == 0, done.stderr
    return set(names)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["run", "--help"],
        ["asm", "--help"],
        ["test", "--help"],
        ["isa", "add"],
        ["device", "tiny"],
    ],
    ids=" ".join,
)
def test_light_commands_load_nothing_heavy(arguments: list[str]) -> None:
    assert not loaded_by(*arguments).intersection(HEAVY)


def test_help_of_the_group_reads_no_table() -> None:
    loaded = loaded_by("--help")
    assert not loaded & {"macaw.asm", "macaw.emu", "macaw.lowering", "macaw.commands"}
    assert {name for name in loaded if name.startswith("macaw.isa.")} == {"macaw.isa.errors"}


@pytest.mark.parametrize(
    ("source", "tables"),
    [
        (".core cp\nadd a0, a0, a1\n", {"cp"}),
        (".macro one\nret\n.endm\n.core cp\none\n", {"cp"}),
        (".core vc\nadd a0, a0, a1\n", {"cp", "vector"}),
        (".core pe\nw: .array int8, 8\n", {"cp", "pe"}),
    ],
    ids=["cp", "macro", "vc", "pe"],
)
def test_asm_imports_the_tables_of_the_cores_that_the_source_names(
    source: str, tables: set[str], tmp_path: Path
) -> None:
    """`macaw asm` loads the tables of cores in the source, and cp's for the default program."""
    path = tmp_path / "a.s"
    path.write_text(source)
    loaded = loaded_by("asm", str(path), "-o", str(tmp_path / "a.elf"))
    owners = {registry.module(name) for name in registry.names()} - {"dma"}  # cp uses its structure
    assert {name for name in owners if f"macaw.isa.{name}" in loaded} == tables
    forms = {name for name in owners if f"macaw.asm.forms.{name}" in loaded}
    assert forms <= tables


def test_compile_starts_its_processes_before_numpy_is_loaded() -> None:
    """Two processes import NumPy at the same time, so the start of `compile --jobs 2` is shorter."""
    probe = "import sys, macaw.networks.compiler; sys.exit('numpy' in sys.modules)"
    subprocess.run([sys.executable, "-c", probe], check=True)


def test_a_run_loads_only_the_fast_engines_and_no_grammar() -> None:
    """`macaw run` of a layer loads no reference engine of a core, and nothing that is slow to load.

    Lists of operands are parsed without Lark, states are hashed only if someone asks for a hash.
    """
    loaded = loaded_by("run", str(LAYER / "layer.s"), "-i", f"x={LAYER / 'x.npy'}")
    assert "macaw.emu.pe.fast.row" in loaded
    engines = ("scalar", "dma", "vector", "nnp", "fim")
    assert not {f"macaw.emu.{core}.reference" for core in engines} & loaded
    slow = (
        "lark",
        "hashlib",
        "tempfile",
        "decimal",
        "numpy.ma",
        "macaw.emu.pe.reference.row",  # the fast row extends other modules of the folder
    )
    assert not loaded.intersection(slow)


def test_dis_loads_nothing_heavy(macaw: Macaw, tmp_path: Path) -> None:
    assert macaw("asm", LAYER / "layer.s", "-o", "layer.elf").returncode == 0
    assert not loaded_by("dis", str(tmp_path / "layer.elf")).intersection(HEAVY)


def test_import_macaw_loads_nothing_of_its_own_rooms() -> None:
    code = "import sys, macaw; print([n for n in sys.modules if n.startswith('macaw.') or n == 'numpy'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("name", api.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(api, name) is not None
    assert name in dir(api)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'macaw' has no attribute 'asemble'"):
        api.asemble  # noqa: B018
