"""The cost of the hooks of accountants in a run without accountants.

    python -m benchmarks.listening [ROUNDS]

Cores announce what they do to listeners, and accountants listen. Without listeners, each place only
tests that there are none. Three processes run the same programs in turn: two with the emulator as
it is, the third with the emulator's modules compiled without these tests. The figure is the CPU
time of the first process divided by that of the third. The time of the first process divided by
that of the second shows how exact the figure is.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from statistics import median
from types import CodeType, ModuleType
from typing import Any

ROUNDS = 9
SAMPLES = ("six_cores", "digits_mlp", "conv1d", "nnp_lstm", "fim_gru", "sparse_by_cp")
SHORTEST = 0.3  # CPU seconds of a sample in a round
PROGRAMS = Path(__file__).parents[1] / "programs"
_HOOKS = ("on_wait", "on_act")  # functions that accountants set, else None


class _Removed(ast.Constant):
    """Takes the place of a removed test: its truth is the result that the test has here."""


class WithoutTests(ast.NodeTransformer):
    """Replaces the tests for listeners and hooks by what they give if there are none."""

    def __init__(self) -> None:
        self.removed = 0

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        if node.attr != "listeners" or not isinstance(node.ctx, ast.Load):
            return node
        self.removed += 1
        return ast.copy_location(_Removed(False), node)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        if not (isinstance(node.left, ast.Attribute) and node.left.attr in _HOOKS):
            return node
        self.removed += 1
        return ast.copy_location(_Removed(isinstance(node.ops[0], ast.Is)), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not) and isinstance(node.operand, _Removed):
            return ast.copy_location(_Removed(not node.operand.value), node)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        self.generic_visit(node)
        decides = isinstance(node.op, ast.Or)  # the constant that decides the result
        values = [
            item
            for item in node.values
            if not (isinstance(item, _Removed) and item.value is not decides)
        ]
        if any(isinstance(item, _Removed) and item.value is decides for item in values):
            return ast.copy_location(_Removed(decides), node)
        node.values = values
        return node if len(values) > 1 else values[0]

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.test, _Removed):
            return node
        return node.body if node.test.value else node.orelse

    def visit_If(self, node: ast.If) -> ast.stmt | list[ast.stmt]:
        self.generic_visit(node)
        if not isinstance(node.test, _Removed):
            return node
        return (node.body if node.test.value else node.orelse) or ast.copy_location(
            ast.Pass(), node
        )


class _Loader(SourceFileLoader):
    removed = 0

    def get_code(self, fullname: str) -> CodeType:
        tree = ast.parse(self.get_data(self.path))
        transformer = WithoutTests()
        tree = ast.fix_missing_locations(transformer.visit(tree))
        _Loader.removed += transformer.removed
        code: CodeType = compile(tree, self.path, "exec")
        return code


class Finder(MetaPathFinder):
    """Finds the modules of the emulator, so that they are compiled without the tests."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith("macaw.emu."):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


def work() -> None:
    """Run the sample of each line of the standard input; print its CPU seconds and cycles."""
    from benchmarks.measure import timed

    devices = {name: _Sample(name) for name in SAMPLES}
    for line in sys.stdin:
        name, times = line.split()
        spent = 0.0
        for _ in range(int(times)):
            device = devices[name].device()
            spent += timed(device.run)
        print(spent, device.cycle, _Loader.removed, flush=True)


class _Sample:
    def __init__(self, name: str) -> None:
        import numpy as np

        import macaw
        from macaw.golden_description import read_description

        made = read_description(PROGRAMS / name)
        self.program = macaw.assemble(*made.sources)
        self.inputs = {tensor: np.load(path) for tensor, path in made.inputs.items()}

    def device(self) -> Any:
        from macaw.emu.device import Device
        from macaw.execution import configuration_of
        from macaw.profiling.recording import item_inputs

        device = Device(configuration_of(self.program, None))
        device.load(self.program)
        for name, values in item_inputs(self.program, self.inputs, 0).items():
            device.write_tensor(name, values)
        return device


class _Process:
    def __init__(self, mode: str) -> None:
        command = [sys.executable, "-m", "benchmarks.listening", mode]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)

    def seconds(self, sample: str, times: int) -> tuple[float, int, int]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{sample} {times}\n")
        self.process.stdin.flush()
        spent, cycles, removed = self.process.stdout.readline().split()
        return float(spent), int(cycles), int(removed)

    def close(self) -> None:
        """End the process, which reads to the end of its input."""
        self.process.communicate()


def main(rounds: int) -> None:
    """Print the ratios of each sample: their median, the least and the greatest."""
    present, again, without = (_Process(mode) for mode in ("present", "present", "without"))
    for sample in SAMPLES:
        first, cycles, none = present.seconds(sample, 1)
        _, other_cycles, removed = without.seconds(sample, 1)
        assert cycles == other_cycles
        assert removed > none == 0
        times = max(1, round(SHORTEST / first))
        ratios: list[float] = []
        controls: list[float] = []
        order = [present, without, again]
        for _ in range(rounds):
            spent = {process: process.seconds(sample, times)[0] for process in order}
            ratios.append(spent[present] / spent[without])
            controls.append(spent[present] / spent[again])
            order = order[1:] + order[:1]
        texts = (f"{median(x):.3f} ({min(x):.3f} to {max(x):.3f})" for x in (ratios, controls))
        print(f"{sample:14}", *texts, sep="  ", flush=True)
    for process in (present, again, without):
        process.close()


if __name__ == "__main__":
    mode = sys.argv[1] if len(sys.argv) > 1 else ""
    if mode == "without":
        sys.meta_path.insert(0, Finder())
    if mode in ("present", "without"):
        work()
    else:
        main(int(mode or ROUNDS))
