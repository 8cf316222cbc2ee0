"""A model of nnp without time: it executes lists of instructions, iteration after iteration.

It uses the arithmetic of `macaw.emu.nnp.numbers`, which has its own witnesses. It has its own
addresses, windows, queues, chains and files.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from macaw.emu.nnp import numbers
from macaw.emu.nnp.numbers import Quantised
from macaw.isa import nnp
from macaw.isa.nnp_layouts import BY_CODE
from tests.emu.nnp.random_programs import Case

Vector = np.ndarray[Any, Any]  # in the type of the host
HOST = {"fp16": np.float16, "fp32": np.float32}
TWO = {
    "vv_add": numbers.add,
    "vv_a_sub_b": numbers.subtract,
    "vv_b_sub_a": lambda x, y: numbers.subtract(y, x),
    "vv_max": numbers.maximum,
}
ONE = {"v_sigm": numbers.sigmoid, "v_tanh": numbers.tanh, "v_relu": numbers.relu}


class Model:
    """The memories and queues, with their contents after a program."""

    def __init__(self, case: Case) -> None:
        values = case.configuration
        self.native = values["nnp.native"]
        self.kind = HOST[values["nnp.host_format"]]
        self.quantisers = numbers.quantisers(values)
        self.out, self.into = values["nnp.quantise_mvm_out"], values["nnp.quantise_mfu_in"]
        self.dram = np.frombuffer(case.dram, self.kind).reshape(-1, self.native).copy()
        self.queue = list(np.frombuffer(case.fed, self.kind).reshape(-1, self.native))
        zeros = np.zeros(self.native, self.kind)
        self.files: dict[str, dict[int, Any]] = {
            name: dict.fromkeys(range(24), zeros) for name in ("MulVrf", "AddSubVrf0", "AddSubVrf1")
        }
        nothing = numbers.quantise(zeros, self.quantisers[0])
        self.initial: dict[int, Quantised] = dict.fromkeys(range(24), nothing)
        tile = numbers.quantise(np.zeros((self.native,) * 2, self.kind), self.quantisers[1])
        self.tiles: dict[int, Quantised] = dict.fromkeys(range(16), tile)
        self.sent: list[Vector] = []
        self.scalars = dict(nnp.RESET)

    def run(self, case: Case) -> None:
        """Execute the whole program.

        May raise `NotANumber` and `OutOfRange`.
        """
        codes = {scalar.code: scalar.name for scalar in nnp.SCALARS}
        chain: list[tuple[str, dict[str, int]]] = []
        for name, values in [*case.lines, ("end_chain", {})]:
            if chain and name.startswith(("s_wr", "end_chain", "trace", "v_rd", "m_rd")):
                for iteration in range(self.scalars["iterations"]):
                    self.chain(chain, iteration)
                chain = []
            if name == "s_wr":
                register = codes[values["reg"]]
                self.scalars[register] = values["value"]
                if register in ("kernel", "stride", "pad", "dilation"):  # for both directions
                    self.scalars[f"{register}_y"] = values["value"]
                if register == "kernel":
                    self.scalars["dilation"] = self.scalars["dilation_y"] = 1
            elif not name.startswith(("end_chain", "trace")):
                chain.append((name, values))

    # Addresses

    @property
    def slides(self) -> bool:
        return any(self.scalars[name] != nnp.RESET[name] for name in nnp.WINDOW)

    @property
    def across(self) -> int:
        """The number of windows side by side."""
        s = self.scalars
        fits = range(0, s["width"] + 2 * s["pad"] - (s["kernel"] - 1) * s["dilation"], s["stride"])
        return len(fits)

    def begin(self, name: str, values: dict[str, int], iteration: int, reads: bool) -> int:
        """The first address that an instruction uses in an iteration."""
        s = self.scalars
        base, inc = values.get("a", values.get("m", 0)), values.get("inc", 0) * s["unit"]
        if name.endswith("_inc") and reads and self.slides:
            y, x = divmod(iteration, self.across)
            return base + inc * (y * s["stride_y"] * s["width"] + x * s["stride"])
        return base + inc * iteration

    def window(self, iteration: int) -> list[int | None]:
        """The addresses that v_rd reads, relative to the volume's begin; None is padding."""
        s, found = self.scalars, []
        y, x = divmod(iteration, self.across)
        for ky in range(s["kernel_y"]):
            for kx in range(s["kernel"]):
                row = y * s["stride_y"] + ky * s["dilation_y"] - s["pad_y"]
                column = x * s["stride"] + kx * s["dilation"] - s["pad"]
                inside = 0 <= row < s["height"] and 0 <= column < s["width"]
                for d in range(s["depth"]):
                    found.append((row * s["width"] + column) * s["depth"] + d if inside else None)
        return found

    # Chains

    def chain(self, lines: list[tuple[str, dict[str, int]]], iteration: int) -> None:
        name, values = lines[0]
        memory = BY_CODE[values["mem"]].name
        if name == "m_rd":
            self.move(memory, values["a"], lines[1][1])
            return
        x: list[Vector]
        quantised = None
        if memory == "NetInQ":
            x = [self.queue.pop(0) for _ in range(self.scalars["cols"])]
        else:
            begin = self.begin(name, values, iteration, True)
            places: list[int | None] = [begin + k for k in range(self.scalars["cols"])]
            if name == "v_rd" and self.slides:
                places = [None if k is None else begin + k for k in self.window(iteration)]
            zeros = np.zeros(self.native, self.kind)
            if memory == "InitialVrf":
                nothing = numbers.quantise(zeros, self.quantisers[0])
                quantised = [nothing if k is None else self.initial[k] for k in places]
                x = [numbers.to_host(numbers.dequantise(q, self.quantisers[0]), self.kind)
                     for q in quantised]  # fmt: skip
            else:
                held = self.dram if memory == "Dram" else self.files[memory]
                x = [zeros if k is None else held[k].copy() for k in places]
        inside_mfu = False
        writes = []
        for name, values in lines[1:]:
            if name.startswith("v_wr"):
                writes.append((name, values))
            elif name.startswith("mv_mul"):
                x = self.product(self.begin(name, values, iteration, False), x, quantised)
            else:
                if self.into and not inside_mfu:
                    x = [numbers.requantise(v, self.quantisers[0]) for v in x]
                inside_mfu = True
                x = self.function(name, values, iteration, x)
        if any(BY_CODE[values["mem"]].name == "InitialVrf" for _, values in writes):
            for vector in x:
                numbers.quantise(vector, self.quantisers[0])  # before anything is written
        for name, values in writes:
            self.write(name, values, iteration, x)

    def function(
        self, name: str, values: dict[str, int], iteration: int, x: list[Vector]
    ) -> list[Vector]:
        does = name.removesuffix("_inc")
        if does == "v_softmax":
            flat = numbers.softmax(np.concatenate(x), self.scalars["valid"])
            return list(flat.reshape(-1, self.native))
        if does == "v_quantise":
            return [numbers.requantise(v, self.quantisers[0]) for v in x]
        if does in ONE:
            return [ONE[does](v) for v in x]
        file = "MulVrf" if does == "vv_mul" else BY_CODE[values["mem"]].name
        begin = self.begin(name, values, iteration, True)
        operands = [self.files[file][begin + k] for k in range(len(x))]
        if self.into:
            operands = [numbers.requantise(v, self.quantisers[0]) for v in operands]
        what = numbers.multiply if does == "vv_mul" else TWO[does]
        return [what(a, b) for a, b in zip(x, operands, strict=True)]

    def product(self, first: int, x: list[Vector], held: list[Quantised] | None) -> list[Vector]:
        rows, cols = self.scalars["rows"], self.scalars["cols"]
        if held is None:
            held = [numbers.quantise(v, self.quantisers[0]) for v in x]
        vectors = Quantised(
            np.stack([q.codes for q in held])[None], np.stack([q.exponents for q in held])[None]
        )
        tiles = [self.tiles[first + k] for k in range(rows * cols)]
        shape = rows, cols, self.native
        matrix = Quantised(
            np.stack([q.codes for q in tiles]).reshape(*shape, self.native),
            np.stack([q.exponents for q in tiles]).reshape(*shape, *tiles[0].exponents.shape[1:]),
        )
        vector, weights = self.quantisers
        y = list(numbers.Tiles(matrix, weights, vector).times(vectors, self.kind)[0])
        return [numbers.requantise(v, vector) for v in y] if self.out else y

    def write(self, name: str, values: dict[str, int], iteration: int, x: list[Vector]) -> None:
        memory = BY_CODE[values["mem"]].name
        if memory == "NetOutQ":
            self.sent += x
            return
        begin = self.begin(name, values, iteration, False)
        for k, vector in enumerate(x):
            if memory == "InitialVrf":
                self.initial[begin + k] = numbers.quantise(vector, self.quantisers[0])
            elif memory == "Dram":
                self.dram[begin + k] = vector
            else:
                self.files[memory][begin + k] = vector

    def move(self, source: str, first: int, target: dict[str, int]) -> None:
        """Execute m_rd and m_wr."""
        n = self.native
        done: list[tuple[int, Any]] = []  # an iteration has all of its effects or none
        for k in range(self.scalars["rows"] * self.scalars["cols"]):
            tile: Any
            if source == "NetInQ":
                tile = np.stack([self.queue.pop(0) for _ in range(n)])
            elif source == "Dram":
                tile = self.dram[(first + k) * n : (first + k + 1) * n].copy()
            else:
                held = numbers.dequantise(self.tiles[first + k], self.quantisers[1])
                tile = numbers.to_host(held, self.kind)
            if BY_CODE[target["mem"]].name == "MatrixRf":
                tile = numbers.quantise(tile, self.quantisers[1])
            done.append((target["a"] + k, tile))
        for place, tile in done:
            if isinstance(tile, Quantised):
                self.tiles[place] = tile
            else:
                self.dram[place * n : (place + 1) * n] = tile
