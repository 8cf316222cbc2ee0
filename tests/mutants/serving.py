"""A pytest plugin that collects all tests once, and runs each mutant's tests in a child process.

The child puts the changed code into the functions of the loaded modules, so that a mutant costs no
start and no collection. The answer is `AFRESH` if code cannot be changed in this way.
"""

from __future__ import annotations

import ast
import gc
import json
import os
import shutil
import signal
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType

import pytest

from tests.mutants.copies import SECONDS, WALL, limit, written

JOBS = "MACAW_MUTANTS_JOBS"  # the variable that names the file of jobs; answers are appended to it
AFRESH = "afresh"
TIME = "time"


def pytest_configure(config: pytest.Config) -> None:
    """Replace pytest's own loop over tests."""
    config.pluginmanager.register(Server(), "mutants-server")


class Server:
    """Runs the tests of each job."""

    def __init__(self) -> None:
        self.failed = ""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        file = Path(os.environ[JOBS])
        jobs = json.loads(file.read_text("utf-8"))
        gc.freeze()
        with file.with_suffix(".answers").open("w", encoding="utf-8") as answers:
            for job in jobs:
                chosen = [items[name] for name in job["tests"] if name in items]
                with written(session.config.rootpath, job["path"], job["text"]):
                    said = self.in_child(session, job, chosen)
                answers.write(json.dumps([job["number"], said]) + "\n")
                answers.flush()
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed = self.failed or report.nodeid

    def in_child(
        self, session: pytest.Session, job: dict[str, str], items: list[pytest.Item]
    ) -> str:
        """Run a job in a child; return the test that fails, an empty text, `TIME` or `AFRESH`."""
        folder = tempfile.mkdtemp(prefix="mutant-")
        reading, writing = os.pipe()
        with warnings.catch_warnings():  # of threads: a child that hangs ends by its time
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if not child:
            os.environ["PYTEST_DEBUG_TEMPROOT"] = folder
            said = "the child ended by an exception"
            try:
                os.setpgid(0, 0)
                limit(SECONDS)
                said = self.run(session, job, items)
            finally:
                os.write(writing, said.encode()[:4000])
                os._exit(0)
        os.close(writing)
        ended = _wait(child)
        said = os.read(reading, 4096).decode(errors="replace") if ended else TIME
        os.close(reading)
        shutil.rmtree(folder, ignore_errors=True)
        return said

    def run(self, session: pytest.Session, job: dict[str, str], items: list[pytest.Item]) -> str:
        file = session.config.rootpath / job["path"]
        if not _patch(str(file), job["original"], job["text"], int(job["line"])):
            return AFRESH
        for item, following in zip(items, [*items[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.failed:
                return self.failed
        return ""


def _wait(child: int) -> bool:
    """Wait for a child; return False if it took too long and was killed."""
    until = time.monotonic() + WALL * SECONDS
    while time.monotonic() < until:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.WIFEXITED(status)
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


def _patch(file: str, original: str, text: str, line: int) -> bool:
    """Put the changed code into the functions at or around `line`; False if that is impossible."""
    before = {
        _key(code): code for code in _codes(compile(original, file, "exec", dont_inherit=True))
    }
    after = {_key(code): code for code in _codes(compile(text, file, "exec", dont_inherit=True))}
    changed = {
        key: after[key]
        for key, code in before.items()
        if key in after and code.co_firstlineno <= line and code != after[key]
    }
    gc.unfreeze()
    for function in [each for each in gc.get_objects() if isinstance(each, FunctionType)]:
        code = function.__code__
        if code.co_filename == file and _key(code) in changed:
            try:
                function.__code__ = changed[_key(code)]
            except ValueError:  # other free variables
                return False
    return _patch_defaults(file, original, text) or bool(changed)


def _patch_defaults(file: str, original: str, text: str) -> bool:
    """Give functions their changed default values; False if these are no constants."""
    before, after = defaults(original), defaults(text)
    changed = {line for line, values in after.items() if values != before.get(line)}
    for function in [each for each in gc.get_objects() if isinstance(each, FunctionType)]:
        line = function.__code__.co_firstlineno
        if line not in changed or function.__code__.co_filename != file:
            continue
        positional, by_name = after[line]
        if len(positional) != len(function.__defaults__ or ()):
            continue  # a lambda of the same line
        if positional:
            pairs = zip(positional, function.__defaults__ or (), strict=True)
            function.__defaults__ = tuple(new if new is not None else old for new, old in pairs)
        function.__kwdefaults__ = {**(function.__kwdefaults__ or {}), **by_name} or None
    return bool(changed)


def defaults(text: str) -> dict[int, tuple[list[int | None], dict[str, int]]]:
    """The numeric or boolean default values of each function, by its first line."""
    found = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            line = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            by_name = zip(node.args.kwonlyargs, map(_number, node.args.kw_defaults), strict=True)
            found[line] = (
                [_number(each) for each in node.args.defaults],
                {each.arg: value for each, value in by_name if value is not None},
            )
    return found


def _number(node: ast.expr | None) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _number(node.operand)
        return None if value is None else -value
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    return None


def _key(code: CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno
