"""Programs that call one operation of vc: its inputs, the call, its result."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import macaw
from macaw.isa.config import Configuration, load
from macaw.layer_lowering import write_sources
from macaw.lowering.net.vector.operations import VectorOperation
from macaw.lowering.net.vector.source import VectorLinkage, vector_subroutine

_MAIN = """
        .device "device.toml"
        {tensors}
        .core   cp
_start: la      t0, before
        {before}
        dma.wait zero
        csrr    s0, cycle
        call    layer
        csrr    s1, cycle
        sub     s1, s1, s0
        la      t0, cycles
        sw      s1, (t0)
        la      t0, after
        dma.copy zero, t0
        dma.wait zero
        li      a0, 0
        li      a7, 93
        ecall
        .section .data.cp
        .balign 4
before: .word   {move}, 1, 0, 0
after:  .word   guarded, guard, 64, 1, 0, 0
"""


def run(
    operation: VectorOperation,
    *inputs: NDArray[Any],
    engine: str = "fast",
    config: Configuration | None = None,
    in_place: bool = False,
) -> tuple[NDArray[Any], int]:
    """Run an operation on the device; return its result and the cycles of its subroutine.

    Bytes after the result, from the next multiple of 64 on, must not change. With `in_place` the
    result overwrites a copy of the first input.
    """
    config = config or load("tiny")
    shapes = {f"in{number}": shape for number, shape in enumerate(operation.inputs)}
    names = ["out", *list(shapes)[1:]] if in_place else list(shapes)
    tensors = [
        f".input {name}, {dtype}, {_text(shape)}"
        for (name, shape), dtype in zip(shapes.items(), operation.input_dtypes, strict=True)
    ]
    tensors.append(f".output out, {operation.result_dtype}, {_text(operation.result)}")
    tensors += [".input guard, int8, 64", ".output guarded, int8, 64"]
    tensors += [f".global {', '.join([*shapes, 'out'])}", ".output cycles, int32, 1"]
    main = _MAIN.format(
        tensors="\n".join(tensors),
        before="dma.copy zero, t0" if in_place else "",
        move=f"out, in0, {inputs[0].nbytes}",
    )
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "device.toml").write_text(config.to_toml())
        (place / "main.s").write_text(main)
        linkage = VectorLinkage("layer", tuple(names), "out")
        write_sources(vector_subroutine(operation, "layer", linkage, limits=()), place / "layer.s")
        program = macaw.assemble(place / "main.s", place / "layer.s")
    assert not program.warnings
    guard = np.arange(64, dtype=np.int8)
    result = macaw.run(
        program, dict(zip(shapes, inputs, strict=True)) | {"guard": guard}, engine=engine
    )
    np.testing.assert_array_equal(result.outputs["guarded"], guard)
    return result.outputs["out"], int(result.outputs["cycles"][0])


def random_inputs(operation: VectorOperation, seed: int) -> list[NDArray[Any]]:
    """Random inputs of an operation, with extremes more often than other numbers."""
    rng = np.random.default_rng(seed)
    pairs = zip(operation.input_dtypes, operation.inputs, strict=True)
    return [_random(rng, dtype, shape) for dtype, shape in pairs]


def _random(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> NDArray[Any]:
    if dtype == "float32":
        numbers = rng.normal(size=shape) * 10.0 ** rng.integers(-3, 4, shape)
        extremes = [0, 1, -1, 0.5, np.inf, -np.inf, np.nan]
    else:
        info = np.iinfo(dtype)
        numbers = rng.integers(info.min, info.max, shape, endpoint=True)
        extremes = [info.min, info.max, 0, 1, -1]
    return np.where(rng.random(shape) < 0.2, rng.choice(extremes, shape), numbers).astype(dtype)


def _text(shape: tuple[int, ...]) -> str:
    return ", ".join(map(str, shape))
