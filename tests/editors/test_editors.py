"""The editors' grammars, each in the engine of its editor, agree with the assembler on each word.

The grammars do not know which core a line is for. So they may show a plain symbol as a word or
register of another core.
"""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from macaw.asm.editors import textmate, vim, words
from macaw.isa import registry
from macaw.language_server.translations import LEGEND
from tests.editors.textmate import Engine
from tests.editors.view import ROOT, kinds, samples

GRAMMAR = textmate.grammar()
SCOPES = {
    "entity.name.function.label": "label", "keyword.mnemonic": "mnemonic",
    "keyword.control.directive": "directive", "entity.name.function.macro": "macro",
    "variable.language.register": "register", "constant.language": "word",
    "entity.other.attribute-name": "named", "support.function": "function", "constant.numeric": "number",
    "string.quoted.double": "string", "string.quoted.single": "number", "variable.other": "symbol",
}  # fmt: skip
GROUPS = {
    "Label": "label", "Local": "label", "Mnemonic": "mnemonic", "Directive": "directive", "Macro": "macro",
    "Register": "register", "Word": "word", "Named": "named", "Function": "function", "Number": "number",
    "Float": "number", "String": "string", "Quoted": "string", "Escape": "string", "Character": "number", "Symbol": "symbol",
    "Assigned": "symbol", "Moved": "register", "Place": "register", "Called": "function",
}  # fmt: skip
EXTRA = """\
        .core   cp
a: b: 1: add a0, sp, x3; beq a0, a1, 1b # comment; no statement
x = 5 + 0x10 /* two
 lines add */ * 3
        .byte 'a', '\\n', "s;#\\"tr", 010
        .double 1.5e3, .5, 1e9
        unknown a0, 1
        .word 1 /* a comment up to
 the end of a line */
next: .ascii "x"
last: .word 2 /* once more */
and:  nop
        lw a0, %lo(x - . + 4)(a1) // comment
        .word sizeof(x), x == 3, -1
        fence rw, rw;; nop
"two words": j "two words"
"a#b" : "c;d": .word 1
"e f" = 5
"""


def compared(text: str, mine: dict[tuple[int, int], str]) -> list[object]:
    """The words for which an editor's kind differs from the assembler's: text and both kinds."""
    return [
        (text[slice(*span)], mine.get(span), kind)
        for span, kind in kinds(text).items()
        if mine.get(span) != kind
        and not (kind == "symbol" and mine.get(span) in ("word", "register"))
    ]


def in_textmate(text: str) -> dict[tuple[int, int], str]:
    engine, found, offset = Engine(GRAMMAR), {}, 0
    for line in text.split("\n"):
        begun = None
        for start, end, scope in engine.line(line):
            kind = next((x for s, x in SCOPES.items() if scope.startswith(s)), scope)
            # Quotes, escapes and what lies between them are pieces of one string.
            if scope.startswith(("string.quoted.double", "constant.character")):
                begun = start if begun is None else begun
                found[offset + begun, offset + end] = "string"
            else:
                begun = None
                found[offset + start, offset + end] = kind
        offset += len(line) + 1
    return found


@pytest.mark.few(100)
@pytest.mark.parametrize("path", samples(), ids=lambda path: path.stem)
def test_textmate_says_what_the_assembler_says(path: Path) -> None:
    text = path.read_bytes().decode("utf-8")
    assert not compared(text, in_textmate(text))


def test_textmate_on_what_is_hard() -> None:
    assert not compared(EXTRA, in_textmate(EXTRA))
    scopes = in_textmate(EXTRA)
    at = EXTRA.index("lines add")
    assert [kind for (a, b), kind in scopes.items() if a <= at < b] == ["comment.block.macaw"]


def test_every_word_of_the_tables_in_textmate() -> None:
    for core in registry.cores():
        for name in core.rows:
            ((start, end, scope),) = Engine(GRAMMAR).line(f"  {name}")[1:2]
            assert (start, end) == (2, 2 + len(name))
            assert scope.startswith("keyword.mnemonic.")
    for name in words.directives():
        assert Engine(GRAMMAR).line(name)[0] == (0, len(name), "keyword.control.directive.macaw")


def test_the_extension_names_its_files() -> None:
    files = textmate.files()
    folder = ROOT / "editors" / "vscode"
    package = json.loads((folder / "package.json").read_text("utf-8"))
    (language,), (grammar,) = (
        package["contributes"]["languages"],
        package["contributes"]["grammars"],
    )
    named = {language["configuration"][2:], grammar["path"][2:]}
    assert named == set(files)
    ignored = (folder / ".vscodeignore").read_text("utf-8").split()
    assert {f"!{name}" for name in [*named, "package.json", package["main"][2:]]} <= set(ignored)
    held = json.loads(files[grammar["path"][2:]])
    assert held["scopeName"] == grammar["scopeName"]
    assert language["id"] == grammar["language"]


def test_the_lock_file_is_of_the_extension_and_names_no_registry() -> None:
    """The lock file has the packages of the manifest, and names no registry.

    `make vsix` installs with `npm ci` from the registry that the user has configured.
    """
    package = json.loads((ROOT / "editors" / "vscode" / "package.json").read_text("utf-8"))
    lock = json.loads((ROOT / "editors" / "vscode" / "package-lock.json").read_text("utf-8"))[
        "packages"
    ]
    own = lock.pop("")
    assert own["devDependencies"] == package["devDependencies"]
    for name, version in package["devDependencies"].items():
        assert lock[f"node_modules/{name}"]["version"] == version
    assert len(lock) > 100
    for name, item in lock.items():
        assert "resolved" not in item, name
        assert item["integrity"].startswith("sha512-"), name


def test_the_extension_knows_the_roles_of_the_server() -> None:
    """The manifest declares each role that VS Code does not know, with the grammar's colour."""
    package = json.loads((ROOT / "editors/vscode/package.json").read_text("utf-8"))
    contributes = package["contributes"]
    (scopes,) = contributes["semanticTokenScopes"]
    named = {name.partition(".")[0] for name in scopes["scopes"]}
    assert named <= set(LEGEND.token_types)
    own = {item["id"] for item in contributes["semanticTokenTypes"]}
    assert own == {"register", "label"} <= set(LEGEND.token_types)
    of_grammar = json.dumps(GRAMMAR)
    for role in named - {"variable"}:
        assert all(scope.removesuffix(".macaw") in of_grammar for scope in scopes["scopes"][role])


VIM = shutil.which("vim")
DUMP = r"""
set nocompatible
exe 'set rtp^=' . $MACAW_VIM
filetype plugin on
syntax on
let all = []
for name in readfile($MACAW_LIST)
  exe 'edit ' . fnameescape(name)
  call add(all, '#' . &filetype . ' ' . &commentstring)
  for n in range(1, line('$'))
    call add(all, join(map(range(1, col([n, '$']) - 1), 'synIDattr(synID(n, v:val, 1), "name")[5:]'), ','))
  endfor
endfor
call writefile(all, $MACAW_OUT)
qa!
"""


@pytest.fixture(scope="module")
def vim_says(tmp_path_factory) -> dict[str, list[list[str]]]:
    """For each sample, Vim's group of each byte of each line."""
    folder = tmp_path_factory.mktemp("vim")
    (folder / "extra.s").write_text(EXTRA)
    (folder / "foreign.s").write_text("        .text\nmain:   movl %eax, %ebx\n")
    names = [*map(str, samples()), str(folder / "extra.s"), str(folder / "foreign.s")]
    (folder / "list").write_text("\n".join(names) + "\n")
    (folder / "dump.vim").write_text(DUMP)
    environment = {**os.environ, "MACAW_VIM": str(ROOT / "editors/vim"), "MACAW_LIST": str(folder / "list"),
                   "MACAW_OUT": str(folder / "out")}  # fmt: skip
    subprocess.run(
        [str(VIM), "-es", "-u", "NONE", "-i", "NONE", "-n", "-S", str(folder / "dump.vim")],
        env=environment, timeout=120, check=False, stdin=subprocess.DEVNULL, cwd=folder,
    )  # fmt: skip
    found: dict[str, list[list[str]]] = {}
    for line in (folder / "out").read_text().split("\n")[:-1]:
        if line.startswith("#"):
            name = names[len(found)]
            found[name] = [[line[1:]]]
        else:
            found[name].append(line.split(",") if line else [])
    return {Path(name).stem + Path(name).parent.name: lines for name, lines in found.items()}


def vim_kinds(text: str, lines: list[list[str]]) -> dict[tuple[int, int], str]:
    """Vim's groups as kinds, at spans of the assembler's words; "several: ..." if groups differ."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    found = {}
    for start, end in kinds(text):
        line = max(n for n, first in enumerate(starts) if first <= start)
        before = text[starts[line] : start].encode()
        groups = lines[line][len(before) : len(before) + len(text[start:end].encode())]
        names = {GROUPS.get(group, group) for group in groups}
        found[start, end] = names.pop() if len(names) == 1 else f"several: {sorted(names)}"
    return found


@pytest.mark.skipif(VIM is None, reason="vim is missing")
@pytest.mark.may_skip_in_ci  # its runtime is large; where it is there it is asked
def test_vim_says_what_the_assembler_says(vim_says) -> None:
    for path in samples():
        text = path.read_bytes().decode("utf-8")
        if re.search(r"^\s*\.core\b", text, re.M) and "\r" not in text:
            head, *lines = vim_says[path.stem + path.parent.name]
            assert head == ["macaw # %s"], path
            assert not compared(text, vim_kinds(text, lines)), path


@pytest.mark.skipif(VIM is None, reason="vim is missing")
@pytest.mark.may_skip_in_ci  # as above
def test_vim_on_what_is_hard_and_on_what_is_not_ours(vim_says) -> None:
    (extra,) = [lines for name, lines in vim_says.items() if name.startswith("extra")]
    assert not compared(EXTRA, vim_kinds(EXTRA, extra[1:]))
    (foreign,) = [lines for name, lines in vim_says.items() if name.startswith("foreign")]
    assert "macaw" not in foreign[0][0]


def test_vim_files_are_where_vim_looks() -> None:
    assert {Path(name).parts[0] for name in vim.files()} == {"ftdetect", "ftplugin", "syntax"}
