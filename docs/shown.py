"""Write what pages show: their commands, run now in a copy of their programs.

The pages are the README, some of docs, and the READMEs of the samples that `macaw new` copies.

A command is an indented line that begins with `$ `, and the next lines while it ends with a
backslash; what it prints is below it, up to the next command or the end of the block. After
`$ macaw debug ...` lines that begin with `(macaw) ` are lines of that session, up to the next
`$ `, also those of later blocks. A block after "Save this as `NAME`:" is a file, which the commands
after it find.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INDENT, PROMPT, ASKED = "    ", "$ ", "(macaw) "
BLOCK = re.compile(r"(?:^    .*\n(?:\n+(?=    ))?)+", re.M)
FILE = re.compile(r"\b[Ss]ave\s(?:it|this)\sas\s`([\w.]+)`:\s*\Z")  # before the block
VARIABLES = {"COLUMNS": "80", "NO_COLOR": "1"}
_DEBUG, _MARK = "macaw debug ", "- - - 8< - - -"


def _profiled(place: Path) -> None:
    """The programs of docs/profile.md: with a flaw or mended, profiled, six_cores, two samples."""
    for file in (ROOT / "tests/macaw/profile/pairs").iterdir():
        shutil.copy(file, place)
    for folder in ("profiled", "six_cores"):
        for file in (ROOT / "programs" / folder).iterdir():
            if file.suffix in (".s", ".npy") and not (folder == "six_cores" and file.stem == "x"):
                shutil.copy(file, place)
    shutil.copy(ROOT / "programs" / "six_cores" / "x.npy", place / "items.npy")
    followed = ROOT / "tests/macaw/profile/followed"
    shutil.copy(followed / "kept.s", place)
    for sample in ("fim_mlp", "nnp_lstm"):
        shutil.copytree(ROOT / "programs" / sample, place / sample)
    for name in ("joined.s", "halves.npy"):
        shutil.copy(followed / name, place / "fim_mlp")


def _wrong_shift(place: Path) -> None:
    for file in (ROOT / "programs" / "wrong_shift").iterdir():
        if file.suffix in (".s", ".npy") or file.stem == "check":
            shutil.copy(file, place)


def _c_layer(place: Path) -> None:
    for file in (ROOT / "programs" / "c_layer").iterdir():
        if file.suffix in (".s", ".c", ".npy"):
            shutil.copy(file, place)


def _layer(place: Path) -> None:
    for name in ("layer.s", "weights.npy", "x.npy"):
        shutil.copy(ROOT / "programs" / "layer" / name, place)


def _nnp_guide(place: Path) -> None:
    """The sample of nnp; its program with more activations, and in another format."""
    _sample("nnp", place)
    text = (place / "dense.s").read_text("utf-8")
    relu = "        v_relu\n"
    (place / "twice.s").write_text(text.replace(relu, f"{relu}        v_sigm\n"), "utf-8")
    (place / "bad.s").write_text(
        text.replace(relu, f"{relu}        v_tanh\n        v_relu\n"), "utf-8"
    )
    mx = '.setting nnp.quantise, "mx"\n        .setting nnp.matrix_element, "e2m1"\n'
    device = "        .device tiny\n"
    (place / "mx.s").write_text(text.replace(device, f"{device}        {mx}"), "utf-8")


def _fim_guide(place: Path) -> None:
    """The sample of islands, the exercise on banks, its solution, and a product with weights."""
    import numpy as np
    import onnx
    from onnx import TensorProto, helper

    _sample("fim", place)
    for name, file in (
        ("one.s", SAMPLES / "exercises/in-memory/product.s"),
        ("four.s", ROOT / "tests/exercises/in-memory.s"),
    ):
        shutil.copy(file, place / name)
    for name in "abc":
        shutil.copy(SAMPLES / f"exercises/in-memory/{name}.npy", place / f"{name}128.npy")
    weights = np.random.default_rng(4).normal(size=(256, 256)).astype(np.float16)
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"], "product")]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT16, [1, 256]) for name in "xy")
    graph = helper.make_graph(nodes, "g", [x], [y], [onnx.numpy_helper.from_array(weights, "w")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
    model.ir_version = 10
    onnx.save(model, place / "product.onnx")


def _options(place: Path) -> None:
    """Small files of all kinds: sources, an executable's input, models, weights, a golden test."""
    import numpy as np
    import onnx
    from onnx import TensorProto, helper

    _layer(place)
    _networks(place)
    _sample("nnp", place / "nnp")
    dense = (place / "nnp" / "dense.s").read_text("utf-8")
    dense = dense.replace("        SetRowsCols", "main:   SetRowsCols", 1)
    (place / "nnp" / "main.s").write_text(dense, "utf-8")
    shutil.copy(ROOT / "programs" / "network" / "digits_int8.onnx", place)
    source = (place / "layer.s").read_text("utf-8")
    sources = {
        "other.s": source.replace("spu   nonsf", "spu   nonsf "),
        "wrong.s": "        .core cp\n        frob\n        nop 1\n",
        "unused.s": "        .core cp\nunused: nop\n",
        "gnu.s": "        .text\n        .globl _start\n_start: ret\n",
        "messy.s": "  .core cp\n nop\n",
        "script": "continue\n",
    }
    for name, text in sources.items():
        (place / name).write_text(text, "utf-8")
    golden = place / "golden"
    golden.mkdir()
    _layer(golden)
    (golden / "golden.toml").write_text('source = "layer.s"\n[inputs]\nx = "x.npy"\n', "utf-8")
    random = np.random.default_rng(6)
    np.save(place / "items.npy", np.stack([np.load(place / "x.npy")] * 2))
    np.save(place / "kernels.npy", random.integers(-9, 10, (4, 3, 3, 2)).astype(np.int8))
    np.save(place / "filters.npy", random.integers(-9, 10, (4, 3, 3)).astype(np.int8))
    np.save(place / "bias.npy", random.integers(-99, 100, 8).astype(np.int32))
    weights = onnx.numpy_helper.from_array(random.normal(size=(16, 16)).astype(np.float32), "w")
    nodes = [
        helper.make_node("Mul", ["x", "scale"], ["s"], "scaled"),
        helper.make_node("MatMul", ["s", "w"], ["y"], "product"),
    ]
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, ["N", 16]) for n in "xy")
    scale = helper.make_tensor_value_info("scale", TensorProto.FLOAT, [1])
    graph = helper.make_graph(nodes, "named", [x, scale], [y], [weights])
    np.save(place / "named.npy", random.normal(size=(8, 16)).astype(np.float32))
    np.savez(place / "nnp" / "data.npz", x=np.load(place / "nnp" / "x.npy"))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
    model.ir_version = 10
    onnx.save(model, place / "named.onnx")


def _networks(place: Path) -> None:
    """The model of programs/network, 64 images for its scales, and one to run."""
    for name in ("digits.onnx", "images.npy", "image.npy"):
        shutil.copy(ROOT / "programs" / "network" / name, place)
    _attention(place)


def _attention(place: Path) -> None:
    """A model of an attention over 32 tokens of 16 numbers, and 8 samples of its input."""
    import numpy as np
    import onnx
    from onnx import TensorProto, helper

    random = np.random.default_rng(8)
    matrices = "WQ", "WK", "WV", "WO"
    weights = [
        onnx.numpy_helper.from_array(random.normal(size=(16, 16)).astype(np.float32) / 4, name)
        for name in matrices
    ]
    nodes = [
        helper.make_node("MatMul", ["x", "WQ"], ["q"], "query"),
        helper.make_node("MatMul", ["x", "WK"], ["k"], "key"),
        helper.make_node("MatMul", ["x", "WV"], ["v"], "value"),
        helper.make_node("Transpose", ["k"], ["kt"], "turn", perm=[0, 2, 1]),
        helper.make_node("MatMul", ["q", "kt"], ["s"], "scores"),
        helper.make_node("Softmax", ["s"], ["p"], "shares", axis=-1),
        helper.make_node("MatMul", ["p", "v"], ["m"], "mixed"),
        helper.make_node("MatMul", ["m", "WO"], ["y"], "out"),
    ]
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 32, 16]) for n in "xy")
    graph = helper.make_graph(nodes, "attention", [x], [y], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
    model.ir_version = 10
    onnx.save(model, place / "attention.onnx")
    tokens = random.normal(size=(8, 1, 32, 16)).astype(np.float32)
    np.save(place / "tokens.npy", tokens)
    np.save(place / "sample.npy", tokens[0])


Run = Callable[[str, Path, str], str]  # a line of shell, its folder, its input; what it prints
SAMPLES = ROOT / "src" / "macaw" / "samples"
TUTORIAL = ROOT / "docs" / "tutorial"


def _empty(_place: Path) -> None:
    """Nothing: a lesson begins in an empty folder, and its page has the text of all its files."""


def _sample(core: str, place: Path) -> None:
    shutil.copytree(SAMPLES / core, place, dirs_exist_ok=True)


def _nnp_models(place: Path) -> None:
    """A model with an LSTM of 20 steps and a classifier, and an input for it."""
    import numpy as np
    import onnx
    from onnx import TensorProto, helper

    random = np.random.default_rng(3)

    def weights(*shape: int) -> onnx.TensorProto:
        array = random.normal(size=shape) / shape[-1] ** 0.5
        return onnx.numpy_helper.from_array(array.astype(np.float32))

    constants = {
        "W": weights(1, 128, 16), "R": weights(1, 128, 32), "B": weights(1, 256),
        "V": weights(5, 32),
        "one": onnx.numpy_helper.from_array(np.array([1])),
        "last": onnx.numpy_helper.from_array(np.array(-1)),
    }  # fmt: skip
    for name, tensor in constants.items():
        tensor.name = name
    nodes = [
        helper.make_node("LSTM", ["x", "W", "R", "B"], ["h"], "lstm", hidden_size=32),
        helper.make_node("Squeeze", ["h", "one"], ["s"], "squeeze"),
        helper.make_node("Gather", ["s", "last"], ["g"], "last", axis=0),
        helper.make_node("Gemm", ["g", "V"], ["c"], "classes", transB=1),
        helper.make_node("Softmax", ["c"], ["y"], "shares", axis=-1),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [20, 1, 16])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 5])
    graph = helper.make_graph(nodes, "gesture", [x], [y], list(constants.values()))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
    model.ir_version = 10
    onnx.save(model, place / "gesture.onnx")
    np.save(place / "x.npy", 2 * random.normal(size=(20, 1, 16)).astype(np.float32))


# What fills a page's folder.
PAGES: dict[str, Callable[[Path], None]] = {
    "README": _networks,
    "profile": _profiled,
    "energy": _profiled,
    "annotate": _profiled,
    "debugging-story": _wrong_shift,
    "c": _c_layer,
    "sweeps": _layer,
    "networks": _networks,
    "nnp-guide": _nnp_guide,
    "nnp-models": _nnp_models,
    "exercises": _empty,
    "options": _options,
    "fim-guide": _fim_guide,
    **{
        f"samples/{name}": partial(_sample, name)
        for name in (
            path.parent.relative_to(SAMPLES).as_posix()
            for path in sorted(SAMPLES.rglob("README.md"))
        )
    },
    **{f"tutorial/{path.stem}": _empty for path in sorted(TUTORIAL.glob("[0-9]*.md"))},
}


def page(name: str) -> Path:
    """The file of a page: in docs, the README, or that of a sample of `macaw new`."""
    if name == "README":
        return ROOT / "README.md"
    kind, _, core = name.partition("/")
    return SAMPLES / core / "README.md" if kind == "samples" else ROOT / "docs" / f"{name}.md"


def made(text: str, name: str = "profile", run: Run | None = None) -> str:
    """The text of a page with the outputs of now; `run` runs a command in another way."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        PAGES[name](place)
        for tool, what in (("macaw", "-m macaw"), ("python", "")):
            path = place / "bin" / tool
            path.parent.mkdir(exist_ok=True)
            path.write_text(f'#!/bin/sh\nexec "{sys.executable}" {what} "$@"\n')
            path.chmod(0o755)
        outputs = _outputs(_commands(text), place, run or run_shell)
        return BLOCK.sub(partial(_block, place, outputs), text)


def _commands(text: str) -> list[str]:
    """The commands of all blocks, with their prompts, in their order."""
    blocks = "".join(block.group() for block in BLOCK.finditer(text))
    lines = [line[len(INDENT) :] for line in blocks.splitlines()]
    commands: list[str] = []
    for line in lines:
        if commands and commands[-1].endswith("\\"):
            commands[-1] += f"\n{line}"
        elif line.startswith((PROMPT, ASKED)):
            commands.append(line)
    return commands


def _outputs(commands: list[str], place: Path, run: Run) -> Iterator[str]:
    """What each command prints."""
    at = 0
    while at < len(commands):
        command, at = commands[at].removeprefix(PROMPT), at + 1
        asked = []
        while at < len(commands) and commands[at].startswith(ASKED):
            asked.append(commands[at].removeprefix(ASKED))
            at += 1
        if not asked:
            yield run(command, place, "")
            continue
        if not command.startswith(_DEBUG):
            raise ValueError(f"{asked[0]}: no session of the debugger goes on here")
        lines = "".join(f"echo {_MARK}\n{line}\n" for line in asked)
        found = run(f"{command} --batch", place, lines).split(f"{_MARK}\n")
        if len(found) != len(asked) + 1:
            raise ValueError(f"the session ended at {asked[len(found) - 2]}: {found[-1]}")
        yield from found


def _block(place: Path, outputs: Iterator[str], block: re.Match[str]) -> str:
    """A block with the outputs of its commands; one without commands as it is.

    If the block is a file, this writes it.
    """
    text = block.group()
    if file := FILE.search(block.string, max(block.start() - 100, 0), block.start()):
        if _commands(text):
            raise ValueError(f"{file[1]}: a sentence has to separate the file from the command")
        (place / file[1]).write_text(textwrap.dedent(text), "utf-8")
    commands = _commands(text)
    if not commands:
        return text
    lines = []
    for command in commands:
        lines += [INDENT + line for line in command.splitlines()]
        lines += [f"{INDENT}{line}".rstrip() for line in next(outputs).splitlines()]
    while lines[-1] == "":
        lines.pop()
    return "\n".join(lines) + "\n"


def run_shell(command: str, place: Path, given: str, packages: Path = ROOT / "src") -> str:
    """What a command prints, both streams, at 80 columns.

    `packages` is the folder in which Python finds `macaw`.
    """
    paths = os.pathsep.join((str(place / "bin"), os.environ["PATH"]))
    environment = {
        **os.environ,
        **VARIABLES,
        "PATH": paths,
        "PYTHONPATH": str(packages),
        "PYTHONIOENCODING": "utf-8",
        "LC_ALL": "C",
    }
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=place,
        env=environment,
        input=given.encode(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return done.stdout.decode()


if __name__ == "__main__":
    for name in sys.argv[1:] or PAGES:
        page(name).write_text(made(page(name).read_text("utf-8"), name), "utf-8")
        print(f"wrote {page(name).relative_to(ROOT)}")
