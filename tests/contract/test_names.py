"""Generic code neither imports nor names a core: such code stands in files of the core.

The tables say which files belong to a core or a base: a module of `isa` (and modules whose names
begin with its name), a folder of `emu`, a form of the assembler. `lowering` is no generic room: it
writes programs for certain cores.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from docs.trees import tree_of
from macaw.asm import parser_tables
from macaw.isa import registry

ROOT = Path(__file__).parents[2]
ROOMS = ("isa", "asm", "emu", "debugger", "src/macaw")
LOWERING = ("src/macaw/lowering/", "src/macaw/networks/")
SAMPLES = "src/macaw/samples/"
CORES = registry.cores()
OWNERS = {registry.module(core.name) for core in CORES} | {x.base for x in CORES if x.base}
NAMES = {core.name for core in CORES}
MNEMONICS = {row.mnemonic for core in CORES for row in core.instructions}

# (file, text): why the text may be in this file.
ALLOWED = {
    ("emu/system.py", "mem.swap"): "what a message calls the service that it is",
    ("emu/system.py", "dispatch"): "what a message calls the service that it is",
    ("emu/saved.py", "config"): "the name of an array in a file",
    ("asm/elf_note.py", "config"): "the name of an entry of a note",
    ("asm/formatter.py", "end"): "the name of a group of a regular expression",
    ("debugger/commands/blocks.py", "end"): "the line that ends a block of commands, as in GDB",
    ("asm/editors/textmate.py", "end"): "a word of TextMate grammars",
    ("asm/directives.py", "pe"): "an example of a field of the device",
    ("isa/lazy_pattern.py", "sub"): "a method of patterns",
    ("src/macaw/cli.py", "nnp"): "a sentence: whose programs",
    ("src/macaw/commands/options.py", "cp"): "a sentence: whose GNU sources are",
    ("src/macaw/commands/dis.py", "cp"): "an example of a section's name",
    ("src/macaw/commands/protect.py", "block"): "English",
    ("src/macaw/golden_description.py", "block"): "of a block format",
    ("src/macaw/name_expression.py", "and"): "an operator of expressions",
    ("src/macaw/name_expression.py", "or"): "an operator of expressions",
    ("isa/pages.py", "or"): "English",
    ("isa/markdown.py", "or"): "English",
    ("isa/trace.py", "trace_begin"): "the seed calls a parameter as it calls a marker",
    ("isa/trace.py", "loop"): "a member of a record",
    ("debugger/watch_target.py", "push"): "what comes into a queue of any core",
    ("isa/common.py", "cp"): "a sentence on how a run ends",
    ("isa/activities.py", "add"): "a kind of arithmetic",
    ("isa/config.py", "cp"): "a sentence: whose the local memory is in the memory map",
    ("src/macaw/layer_lowering.py", "dma"): "reports on lowered programs, as `lower`",
    ("src/macaw/commands/lower.py", "dma"): "reports on lowered programs, as `lower`",
    ("src/macaw/commands/lower.py", "pe"): "what operations are lowered for",
    ("src/macaw/commands/lower.py", "fim"): "what graphs are lowered for",
    ("src/macaw/commands/sweep.py", "pe"): "what operations are lowered for",
    ("src/macaw/sweeps/measuring.py", "dma"): "reports on lowered programs, as `lower`",
    ("src/macaw/concordance/layer_tensors.py", "nnp"): "its settings: its programs become software",
    ("src/macaw/concordance/emulation.py", "nnp"): "its events",
    ("src/macaw/commands/concord.py", "nnp"): "a sentence: whose programs become software",
}


def owned(path: str) -> bool:
    """Whether a file belongs to a core or a base."""
    own = "|".join(map(re.escape, OWNERS))
    if re.match(rf"src/macaw/(?:(?:{own})_\w+|commands/\w+_(?:{own}))\.py$", path):
        return True  # the front door of a lowering
    if path.startswith(SAMPLES):
        return True  # a program for each core
    return bool(
        re.match(
            rf"isa/(?:descriptors/)?(?:{own})(?:_\w+)?\.py$|emu/(?:{own})/|emu/rules/(?:{own})_",
            path,
        )
        or re.match(rf"asm/(?:disassembly/)?forms/(?:shared/)?(?:{own})(?:(?:_\w+)?\.py$|/)", path)
    )


def generic() -> list[str]:
    files = (
        path.relative_to(ROOT).as_posix() for room in ROOMS for path in ROOT.glob(f"{room}/**/*.py")
    )
    return sorted(path for path in files if not owned(path) and not path.startswith(LOWERING))


def imported(tree: ast.AST) -> Iterator[str]:
    """The dotted names of modules that a file imports, and of names that it imports from them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (item.name for item in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{item.name}" for item in node.names)


def texts(tree: ast.AST) -> Iterator[str]:
    """The strings of a file that are no docstrings."""
    described = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docs = {id(node.body[0].value) for node in ast.walk(tree)
            if isinstance(node, described) and node.body and isinstance(node.body[0], ast.Expr)}  # fmt: skip
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.value


def named(text: str) -> set[str]:
    """The cores that a text names as a whole word; also the text itself if it is a mnemonic."""
    return set(re.findall(r"\w+", text)) & NAMES | ({text} & MNEMONICS)


def test_no_generic_module_knows_a_core() -> None:
    places = "|".join(map(re.escape, OWNERS))
    own = rf"macaw\.(?:isa|emu|asm\.forms|asm\.disassembly\.forms)\.(?:{places})(?:[._]|$)"
    assert re.match(own, f"macaw.emu.{min(OWNERS)}")
    trees = {path: tree_of(ROOT / path) for path in generic()}
    assert trees
    assert [
        (path, name) for path in trees for name in imported(trees[path]) if re.match(own, name)
    ] == []
    found = {(path, word) for path in trees for text in texts(trees[path]) for word in named(text)}
    assert found - set(ALLOWED) == set()


def test_each_exception_is_needed() -> None:
    for path, word in ALLOWED:
        tree = tree_of(ROOT / path)
        assert any(word in named(text) for text in texts(tree)), (path, word)


def test_the_scan_sees_what_it_should() -> None:
    tree = ast.parse(
        '"""of cp"""\nimport macaw.emu.pe.row\nif x == "vc" or y == f"pe.{z}" or w == "mac":\n    pass\n'
    )
    assert "macaw.emu.pe.row" in list(imported(tree))
    assert {word for text in texts(tree) for word in named(text)} == {"vc", "pe", "mac"}
    assert owned("isa/vector_layouts.py")
    assert owned("asm/forms/pe/packets.py")
    assert not owned("isa/pages.py")


def test_data_files_of_rooms_name_no_core() -> None:
    """Files that are no Python code name no core, except in folders that are listed here."""
    grammar = (ROOT / "asm" / "grammar.lark").read_text("utf-8")
    code = re.sub(r"//.*", "", grammar)
    assert set(re.findall(r"\w+", code)) & NAMES == set()
    others = {path.parent.relative_to(ROOT).as_posix() for room in ROOMS for path in ROOT.glob(f"{room}/**/*.*")
              if path.suffix not in (".py", ".pyc", ".lark", ".typed") and not path.name.endswith((".schema.json", parser_tables.NAME)) and not {*LOWERING, SAMPLES} & {f"{up.relative_to(ROOT).as_posix()}/" for up in path.parents[:-len(ROOT.parts)]}}  # fmt: skip
    profiling = ROOT / "src" / "macaw" / "profiling"
    sweeps = ROOT / "src" / "macaw" / "sweeps"
    folders = [profiling / "page", profiling / "energies", sweeps / "page"]
    assert others <= {"isa/presets", "asm/forms"} | {
        x.relative_to(ROOT).as_posix() for x in folders
    }
    for path in (file for folder in folders for file in folder.iterdir()):
        words = set(re.findall(r"\w+", path.read_text("utf-8")))
        assert words & set(registry.names()) == set(), path
