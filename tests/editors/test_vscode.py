"""The manifest of the VS Code extension agrees with the debugger's server, page and scripts."""

import json
import re
import shutil
import subprocess

import pytest

from macaw.debugger.dap.launch import read_launch
from tests.editors.view import ROOT

NODE = shutil.which("node")
# The extension is JavaScript. `make test` runs these tests where node is installed; `make test-extras`
# needs node for VS Code itself, and runs them always.
needs_node = pytest.mark.skipif(NODE is None, reason="node is missing")
FOLDER = ROOT / "editors" / "vscode"
CONTRIBUTES = json.loads((FOLDER / "package.json").read_text("utf-8"))["contributes"]
SCRIPTS = "".join(path.read_text("utf-8") for path in sorted((FOLDER / "src").glob("*.js")))
PAGE = (ROOT / "docs" / "vscode.md").read_text("utf-8")
(DEBUGGER,) = CONTRIBUTES["debuggers"]
ATTRIBUTES = DEBUGGER["configurationAttributes"]["launch"]["properties"]
VALUES = {
    "program": "a.s", "inputs": {"x": "x.npy"}, "device": "tiny", "engine": "fast", "item": 1,
    "cwd": "/p", "stopOnEntry": True, "stopOnExit": True,
}  # fmt: skip


def test_each_attribute_of_a_launch_configuration_is_read_and_in_the_page():
    """The server reads the attributes of the manifest, and only `noDebug` besides."""
    assert list(ATTRIBUTES) == list(VALUES)
    asked = []

    class Asked(dict):
        def get(self, key, default=None):
            asked.append(key)
            return super().get(key, default)

    launch = read_launch(Asked(VALUES))
    assert set(asked) == {*VALUES, "noDebug"}
    assert (launch.program, launch.folder, launch.item) == (("/p/a.s",), "/p", 1)
    table = re.findall(r"^\| `(\w+)` \|", PAGE, re.M)
    assert table == list(VALUES)
    in_dap = (ROOT / "docs" / "dap.md").read_text("utf-8")
    assert {*VALUES, "noDebug"} <= set(re.findall(r"^\| `(\w+)` \|", in_dap, re.M))


def test_snippets_have_attributes_that_there_are():
    bodies = [item["body"] for item in DEBUGGER["configurationSnippets"]]
    for body in (*bodies, *DEBUGGER["initialConfigurations"]):
        assert (body["type"], body["request"]) == ("macaw", "launch")
        assert set(body) <= {"type", "request", "name", *ATTRIBUTES}
        assert "program" in body
    for label in (
        item["label"].removeprefix("Macaw: ") for item in DEBUGGER["configurationSnippets"]
    ):
        assert f"*{label}*" in PAGE


def test_breakpoints_can_be_in_the_languages_of_the_debugger():
    assert [item["language"] for item in CONTRIBUTES["breakpoints"]] == DEBUGGER["languages"]
    assert DEBUGGER["languages"] == ["macaw", "c"]


def test_commands_and_views_of_the_manifest_are_registered():
    commands = {item["command"] for item in CONTRIBUTES["commands"]}
    registered = set(re.findall(r'registerCommand\("([\w.]+)"', SCRIPTS))
    assert commands <= registered
    assert registered - commands == {"macaw.showLine"}  # no command of the user
    used = {item["command"] for items in CONTRIBUTES["menus"].values() for item in items}
    assert used <= commands
    views = {item["id"] for items in CONTRIBUTES["views"].values() for item in items}
    made = re.findall(r'(?:createTreeView|registerWebviewViewProvider)\("([\w.]+)"', SCRIPTS)
    assert set(made) == views
    for items in CONTRIBUTES["views"].values():
        for item in items:
            assert f"| Macaw: {item['name']} |" in PAGE


def test_settings_of_the_scripts_are_in_the_manifest():
    given = set(re.findall(r'\.get\("([\w.]+)"\)', SCRIPTS))
    assert {f"macaw.{name}" for name in given} == set(CONTRIBUTES["configuration"]["properties"])


def test_a_project_cannot_allow_the_shell():
    setting = CONTRIBUTES["configuration"]["properties"]["macaw.debug.allowShell"]
    assert (setting["default"], setting["scope"]) == (False, "machine")


def test_the_pictures_of_the_page_are_small():
    names = re.findall(r"\(vscode/(\w+)\.png\)", PAGE)
    folder = ROOT / "docs" / "vscode"
    assert sorted(names) == sorted(path.stem for path in folder.iterdir())
    script = (ROOT / "tests" / "editors" / "debugging.mjs").read_text("utf-8")
    for name in names:
        data = (folder / f"{name}.png").read_bytes()
        assert data.startswith(b"\x89PNG")
        assert len(data) < 150_000
        assert f'"{name}"' in script


def shown(file, language="macaw"):
    """What the extension gives VS Code for a file: its launch, its words under the mouse."""
    script = ROOT / "tests" / "editors" / "fake_vscode.mjs"
    done = subprocess.run([str(NODE), script, file, language], check=True, capture_output=True)
    return json.loads(done.stdout)


@needs_node
@pytest.mark.may_skip_in_ci  # CI installs no node
def test_f5_debugs_the_folder_only_for_files_of_its_golden_toml(tmp_path):
    files = {
        "golden.toml": "# source = 'other.s'\nsource = [\n  'b.s', # 'other.s'\n]\n",
        "b.s": '.core cp\n  .include "c.inc"\n',
        "c.inc": '.include "d.s"\n',
        "d.s": "_start: ebreak\n",
        "other.s": '.core cp\n_start: ebreak\n.include "i.inc"\n.input x, int8, 4\n.input z, int8, 4\n',
        "i.inc": ' .input y, int8, 4\n .include "other.s"\n',
        "x.npy": "",
        "y.npy": "",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    common = {
        "type": "macaw", "request": "launch", "cwd": str(tmp_path), "stopOnEntry": True,
        "stopOnExit": True,
    }  # fmt: skip
    for name in ("b.s", "d.s"):
        expected = {**common, "name": name, "program": str(tmp_path)}
        assert shown(tmp_path / name)["launch"] == expected
    inputs = {name: str(tmp_path / f"{name}.npy") for name in "xy"}
    other = {"program": str(tmp_path / "other.s"), "inputs": inputs}
    assert shown(tmp_path / "other.s")["launch"] == {**common, "name": "other.s", **other}
    (tmp_path / "golden.toml").write_text('source = "app.elf"\n')  # sources may be part of it
    assert shown(tmp_path / "other.s")["launch"]["program"] == str(tmp_path)


@needs_node
@pytest.mark.may_skip_in_ci  # as above
def test_f5_in_a_file_of_c_says_what_is_missing(tmp_path):
    (tmp_path / "a.c").write_text("int main(void) { return 0; }\n")
    found = shown(tmp_path / "a.c", "c")
    assert found["launch"] is None
    assert "name the program in a launch configuration" in found["messages"][0]


@needs_node
@pytest.mark.may_skip_in_ci  # as above
def test_words_under_the_mouse_are_no_parts_of_numbers(tmp_path):
    lines = {
        "b: bnez a0, 1b": ["b", "bnez", "a0"],
        "li a0, 0x10 + 0b1": ["li", "a0"],
        "addi \\x, a0, %lo(y)  # s0": ["addi", "a0", "y"],
        "lw a1, .L1(a0)": ["lw", "a1", ".L1", "a0"],
        "li a1, '#' + s0": ["li", "a1", "s0"],
        'la "a1", y[1, 4].u8': ["la", "y[1, 4].u8"],
    }
    (tmp_path / "a.s").write_text("\n".join(lines))
    rows = shown(tmp_path / "a.s")["hovers"]
    assert [list(dict.fromkeys(filter(None, row))) for row in rows] == list(lines.values())
