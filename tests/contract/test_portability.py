"""The product does not depend on POSIX, a shell, the case of file names, or a default encoding."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TypeVar

import pytest

from docs.trees import tree_of
from tests.contract.imports import modules

pytestmark = pytest.mark.once
ROOT = Path(__file__).parents[2]
Node = TypeVar("Node", bound=ast.AST)
# Modules and functions that Windows does not have.
POSIX_MODULES = {"fcntl", "grp", "pty", "pwd", "resource", "termios", "tty", "posix"}
POSIX_CALLS = {
    *("os.fork", "os.forkpty", "os.getuid", "os.geteuid", "os.getpgid", "os.setsid", "os.mkfifo"),
    *("os.killpg", "os.wait", "os.waitpid", "os.chown", "os.symlink", "os.openpty", "os.nice"),
    *("signal.alarm", "signal.SIGALRM", "signal.SIGKILL", "signal.SIGHUP", "signal.SIGPIPE"),
    *("signal.SIGUSR1", "signal.SIGUSR2", "signal.pause", "signal.sigwait"),
}
# Code that uses one of these asks first whether it exists.
GUARDED = {"macaw.debugger.commands.general": {"os.killpg", "signal.SIGKILL"}}
# The debugger's command `shell` is a shell, and needs --allow-shell.
SHELLS = {"macaw.debugger.commands.general"}


@cache
def all_nodes() -> list[tuple[str, ast.AST]]:
    trees = [(name, tree_of(path)) for name, path in modules().items()]
    return [(name, node) for name, tree in trees for node in ast.walk(tree)]


def nodes(kind: type[Node]) -> Iterator[tuple[str, Node]]:
    return ((name, node) for name, node in all_nodes() if isinstance(node, kind))


@cache
def calls() -> list[tuple[str, ast.Call, str]]:
    """Each call in the product: its module, its node, and the text of the called expression."""
    return [(name, node, ast.unparse(node.func)) for name, node in nodes(ast.Call)]


def keywords(call: ast.Call) -> dict[str | None, str]:
    return {item.arg: ast.unparse(item.value) for item in call.keywords}


def test_no_module_of_posix_is_imported() -> None:
    for name, node in nodes(ast.AST):
        origins = [x.name for x in node.names] if isinstance(node, ast.Import) else []
        origins += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
        assert not {x.partition(".")[0] for x in origins} & POSIX_MODULES, name


def test_no_function_of_posix_is_used_unless_it_is_there() -> None:
    used: dict[str, set[str]] = {}
    for name, node in nodes(ast.Attribute):
        text = ast.unparse(node)
        if text in POSIX_CALLS:
            used.setdefault(name, set()).add(text)
    assert used == GUARDED
    for name in GUARDED:
        assert 'hasattr(os, "killpg")' in modules()[name].read_text("utf-8")


def test_processes_are_spawned() -> None:
    """Processes are spawned: a fork would copy locks of threads, and Windows has no fork."""
    contexts = [text for _, node, text in calls() if text.endswith("get_context")]
    assert contexts
    for name, node, text in calls():
        if text.endswith("get_context"):
            assert [ast.unparse(x) for x in node.args] == ["'spawn'"], name
        short = text.rpartition(".")[2]
        if short == "ProcessPoolExecutor":
            assert "spawn" in [ast.unparse(x) for x in node.args], name
        assert not (text.startswith("multiprocessing.") and short in ("Process", "Pool", "Queue"))
        assert "preexec_fn" not in keywords(node), name


def test_no_shell_is_needed() -> None:
    for name, node, text in calls():
        shell = keywords(node).get("shell") == "True" or text in ("os.system", "os.popen")
        assert not shell or name in SHELLS, name


def is_binary(call: ast.Call, at: int) -> bool:
    """Whether a call of `open` has a mode with `b`; `at` is the position of the mode."""
    mode = keywords(call).get("mode") or (ast.unparse(call.args[at]) if len(call.args) > at else "")
    return "b" in mode


def test_text_has_an_encoding_and_what_is_written_has_line_ends() -> None:
    seen = 0
    for name, node, text in calls():
        method, given = text.rpartition(".")[2], keywords(node)
        where = f"{name}:{node.lineno}: {text}"
        if method in ("read_text", "write_text") and not text.startswith(
            ("self.", "context.", "files.")
        ):
            seen += 1
            assert "encoding" in given or "'utf-8'" in map(ast.unparse, node.args), where
            assert method == "read_text" or "newline" in given, where
        if text in ("open", "io.open", "os.fdopen") and not is_binary(node, 1):
            assert "encoding" in given, where
        if method == "TextIOWrapper" and isinstance(node.func, ast.Attribute):
            assert "encoding" in given, where
    assert seen > 5


def test_no_place_of_a_system_is_written_down() -> None:
    for name, node in nodes(ast.Constant):
        if isinstance(node.value, str):
            assert not re.match(r"(/tmp|/usr|/etc|/home|/var|[A-Z]:\\)", node.value), name


def tracked() -> list[str]:
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:  # an unpacked archive, or a copy of the tree
        done_paths = (x for x in ROOT.rglob("*") if x.is_file() and ".venv" not in x.parts)
        return [path.relative_to(ROOT).as_posix() for path in done_paths]
    return done.stdout.splitlines()


def test_names_of_files_work_on_any_system() -> None:
    names = tracked()
    assert len(names) > 1000
    assert len({name.lower() for name in names}) == len(names), "two names differ in case alone"
    for name in names:
        for part in name.split("/"):
            device = re.fullmatch(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", part, re.I)
            assert not device, name
            assert not re.search(r'[<>:"|?*\\\x00-\x1f]|[. ]$', part), name


@pytest.mark.parametrize("name", ["README.md", "src/macaw/samples/pe/layer.s", "isa/cp.py"])
def test_files_have_line_feeds(name: str) -> None:
    assert b"\r" not in (ROOT / name).read_bytes()
