"""Writes the chains of a model as instructions of nnp, with time loops and repeated rows.

A chain is a sequence of instructions that nnp executes as one: it reads vectors, applies functions
to them, and writes the results.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from macaw.isa.config import Configuration
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.nnp import RESET
from macaw.isa.nnp_layouts import MOST_INCREMENT
from macaw.lowering.errors import LowerError
from macaw.lowering.listing import Listing
from macaw.lowering.nnp import operations as ops
from macaw.lowering.nnp.chains import EDGES, REVERSED, Chain, ChainPhase
from macaw.lowering.nnp.memory import FILES, Load, Memory
from macaw.lowering.nnp.operations import Model, Place, Tensor, Window
from macaw.lowering.onnx.model_file import message_name

START = (0, 0)  # the first chain; its loads are among the constants
NO_WINDOW = Window(
    (RESET["height"], RESET["width"]), (RESET["kernel_y"], RESET["kernel"]),
    (RESET["stride_y"], RESET["stride"]), (RESET["pad_y"], RESET["pad"]),
    (RESET["dilation_y"], RESET["dilation"]), RESET["depth"],
)  # fmt: skip
_FUNCTIONS = {
    ops.SIGMOID: "v_sigm", ops.TANH: "v_tanh", ops.RELU: "v_relu", ops.SOFTMAX: "v_softmax",
}  # fmt: skip
_OPERATIONS = {
    ops.ADD: "vv_add", ops.SUBTRACT: "vv_a_sub_b", REVERSED: "vv_b_sub_a", ops.MAXIMUM: "vv_max",
}  # fmt: skip
Settings = dict[str, Any]


@dataclass
class ChainWriter:
    """Writes the source of a model's chains.

    `settings` are the present values of the registers that s_wr sets. `words` is the number of
    instructions so far. `names` has the symbol of each tensor, or matrix, in each memory.
    """

    model: Model
    phases: Sequence[ChainPhase]
    memory: Memory
    config: Configuration
    out: Listing  # the source so far
    settings: Settings
    names: Mapping[tuple[str, str], str]
    words: int = 0

    @property
    def native(self) -> int:
        """The native dimension N."""
        return int(self.config["nnp.native"])

    # --- settings ---

    def set(self, wanted: Settings) -> None:
        """Write instructions that set those registers whose values differ from `wanted`."""
        new = {key: value for key, value in wanted.items() if self.settings.get(key) != value}
        if "rows" in new and "cols" in new:
            self.put(f"SetRowsCols({new['rows']}, {new['cols']})", 2)
        elif "rows" in new:
            self.put(f"SetRows({new['rows']})")
        elif "cols" in new:
            self.put(f"SetCols({new['cols']})")
        if "iterations" in new:
            self.put(f"SetIterations({new['iterations']})")
        if "valid" in new:
            self.put(f"SetValid({new['valid']})")
        if "unit" in new:
            self.put(f"SetIncrementUnit({new['unit']})")
        if "window" in new:
            self.window(new["window"])
        self.settings.update(new)

    def window(self, new: Window) -> None:
        """Write instructions that set the registers for the windows `new`."""
        (height, width), (_, kernel) = new.size, new.kernel
        (_, stride), (_, pad) = new.strides, new.pads
        self.put(f"Set2dWindows({width}, {height}, {kernel}, {stride}, {pad}, {new.depth})", 6)
        for name, (y, x) in (("Kernel", new.kernel), ("Stride", new.strides), ("Pad", new.pads)):
            if y != x:
                self.put(f"Set{name}Y({y})")
        if new.dilations != NO_WINDOW.dilations:
            y, x = new.dilations
            self.put(f"SetDilation({x})")
            if y != x:
                self.put(f"SetDilationY({y})")

    def put(self, statement: str, words: int = 1, comment: str = "") -> None:
        """Append a statement, which becomes `words` instructions, and a comment."""
        self.words += words
        self.out.put(statement, comment)

    def settings_for(self, chain: Chain) -> Settings:
        """Return the values of the registers that a chain depends on.

        Raises `LowerError` for a chain with windows whose increments do not fit in an instruction.
        """
        if chain.matrix:
            matrix = self.model.matrices[chain.matrix]
            return {"rows": matrix.rows, "cols": matrix.columns, "iterations": 1}
        wanted: Settings = {"cols": chain.source.vectors}
        if chain.product:
            matrix = self.model.matrices[chain.product]
            wanted |= {"rows": matrix.rows, "cols": matrix.columns}
        unit = self.unit(chain)
        wanted["iterations"] = chain.writes[0].count if unit else 1
        wanted["unit"] = unit or RESET["unit"]
        for function in chain.functions:
            if function.kind == ops.SOFTMAX:
                wanted["valid"] = function.valid
        # `reads` affects no register
        wanted["window"] = replace(chain.window or NO_WINDOW, reads=True)
        return wanted

    def unit(self, chain: Chain) -> int:
        """Return the number of native vectors of which a chain's increments are multiples.

        An increment is the distance between the rows that an instruction accesses in successive
        iterations. The result is 1 if all increments fit in an instruction, else their greatest
        common divisor. It is 0 if some increment does not fit even then. In this case, the source
        has separate instructions for each row. A chain with windows cannot be written so: it raises
        `LowerError`.
        """
        operands = [item.operand for item in chain.functions if item.operand is not None]
        places = [*operands, *chain.writes]
        if chain.window is None or not chain.window.reads:
            places.append(chain.source)
        queues = (ops.NET_IN, ops.NET_OUT)
        strides = [
            place.stride
            for place in places
            if place.count > 1 and self.model.tensors[place.tensor].memory not in queues
        ]
        most, unit = max(strides, default=0), math.gcd(*strides)
        if most <= MOST_INCREMENT:
            return 1
        if most <= MOST_INCREMENT * unit:
            return unit
        if chain.window is not None:
            raise LowerError(
                f"layer {message_name(chain.layer)} needs increments of {most} and {min(strides)}"
                f" native vectors; an instruction has at most {MOST_INCREMENT} times a common"
                " divisor",
                "fewer channels, or a greater nnp.native",
            )
        return 0

    # --- chains ---

    def phase(self, number: int) -> None:
        """Write phase number `number`: its chains once, or in a loop of time steps."""
        phase = self.phases[number]
        if not phase.chains:
            return
        if phase.steps == 1:
            heading: tuple[str, ...] = ()
            for at, chain in enumerate(phase.chains):
                if chain.layers != heading:
                    heading = chain.layers
                    self.heading(heading, 1)
                self.loads(number, at)
                self.set(self.settings_for(chain))
                self.chain(chain, stepped=False)
            return
        layers = tuple(dict.fromkeys(name for chain in phase.chains for name in chain.layers))
        self.heading(layers, phase.steps)
        self.loads(number, 0)
        self.set(self.settings_for(phase.chains[0]))
        first = dict(self.settings)  # at the start of each step
        before = self.words
        self.out.put(".set STEP, 0")
        self.out.put(f".rept {phase.steps}")
        for chain in phase.chains:
            self.set(self.settings_for(chain))
            self.chain(chain, stepped=True)
        self.set(first)
        self.out.put(".set STEP, STEP + 1")
        self.out.put(".endr")
        self.words += (self.words - before) * (phase.steps - 1)

    def heading(self, layers: Sequence[str], steps: int) -> None:
        """Write a heading with the names `layers` of nodes and the number of time steps."""
        names = [name for name in layers if name not in EDGES] or list(layers)
        text = ", ".join(message_name(name) for name in names)
        self.out.title(text + (f": {steps} steps" if steps > 1 else ""))
        for name in names:
            layer = self.model.layers.get(name)
            if layer:
                shapes = " and ".join(" × ".join(map(str, shape)) for shape in layer.shapes)
                self.out.comment(f"{message_name(name)}: {layer.operator}, {shapes}")

    def loads(self, number: int, at: int) -> None:
        """Write the loads of matrices before chain number `at` of phase number `number`.

        Before the first chain of the program it writes none: the program's start has these loads.
        """
        if (number, at) != START:
            for item in self.memory.loads.get((number, at), ()):
                self.load(item)

    def load(self, item: Load) -> None:
        """Write the instructions that copy the tiles of `item` from Dram to MatrixRf."""
        self.set({"rows": item.tiles, "cols": 1, "iterations": 1})
        self.put(f"m_rd Dram, {item.source}", 1, f"{item.tiles} tiles of matrices")
        self.put(f"m_wr MatrixRf, {item.target}")

    def chain(self, chain: Chain, *, stepped: bool) -> None:
        """Write a chain. `stepped` says whether the chain is in a time loop."""
        if chain.matrix:
            tiles = self.memory.dram[chain.source.tensor] // self.native
            self.put(f"m_rd Dram, {self.names[chain.source.tensor, ops.DRAM]} / {self.native}")
            assert tiles * self.native == self.memory.dram[chain.source.tensor]
            self.put(f"m_wr MatrixRf, {self.matrix(chain.matrix)}")
            return
        rows = self.unit(chain) == 0
        count = chain.writes[0].count
        before = self.words
        if rows:
            self.out.put(".set ROW, 0")
            self.out.put(f".rept {count}")
        for statement, comment in self.statements(chain, rows, stepped):
            self.put(statement, 1, comment)
        if rows:
            self.out.put(".set ROW, ROW + 1")
            self.out.put(".endr")
            self.words += (self.words - before) * (count - 1)

    def statements(self, chain: Chain, rows: bool, stepped: bool) -> Iterator[tuple[str, str]]:
        """Yield the instructions of a chain of vectors, each with its comment.

        `rows` says whether the chain's rows are written one by one, `stepped` whether the chain is
        in a time loop.
        """
        reads = chain.window is not None and chain.window.reads
        source = self.operand(chain.source, None, rows, stepped)
        yield (f"v_rd {source[0]}" if reads else f"v_rd{source[1]} {source[2]}"), ""
        for item in chain.functions:
            if item.kind == ops.PRODUCT:
                yield f"mv_mul {self.matrix(item.matrix)}", ""
            elif item.kind in _FUNCTIONS:
                yield _FUNCTIONS[item.kind], ""
            elif item.kind == ops.MULTIPLY:
                assert item.operand is not None
                _, inc, text = self.operand(item.operand, "MulVrf", rows, stepped)
                yield f"vv_mul{inc} {text.removeprefix('MulVrf, ')}", ""
            else:
                assert item.operand is not None
                file = f"AddSubVrf{item.unit - 1}"
                _, inc, text = self.operand(item.operand, file, rows, stepped)
                yield f"{_OPERATIONS[item.kind]}{inc} {text}", ""
        for place in chain.writes:
            for file in self.targets(place.tensor):
                _, inc, text = self.operand(place, file, rows, stepped)
                yield f"v_wr{inc} {text}", ""

    def targets(self, tensor: str) -> list[str]:
        """Return the memories to which chains write a tensor."""
        memory = self.model.tensors[tensor].memory
        if memory:
            return [memory]
        return [file for file in FILES if file in self.memory.files.get(tensor, {})] or [ops.DRAM]

    def operand(
        self, place: Place, file: str | None, rows: bool, stepped: bool
    ) -> tuple[str, str, str]:
        """Return the texts for an operand: (memory and address, mnemonic's ending, all operands).

        Examples are ("InitialVrf, x", "", "InitialVrf, x") and ("Dram, x", "_inc", "Dram, x, 2");
        for a queue the first text is its name. The ending is "_inc" if the address advances from
        row to row; the last operand then says by how much. `file` is the register file, or None for
        the operand of `v_rd`. `rows` says whether the chain's rows are written one by one,
        `stepped` whether the chain is in a time loop.
        """
        tensor = self.model.tensors[place.tensor]
        if tensor.memory in (ops.NET_IN, ops.NET_OUT):
            return tensor.memory, "", tensor.memory
        memory = file or (tensor.memory or self.memory.source_file(place))
        address = self.address(tensor, place, memory, rows, stepped)
        plain = f"{memory}, {address}"
        if place.count == 1 or rows:
            return plain, "", plain
        if not place.stride:
            return plain, "_inc" if file is None else "", plain + (", 0" if file is None else "")
        return plain, "_inc", f"{plain}, {place.stride // self.settings['unit']}"

    def address(self, tensor: Tensor, place: Place, memory: str, rows: bool, stepped: bool) -> str:
        """Return the address of a place in a memory as an expression of the symbols STEP and ROW.

        `tensor` is the tensor of the place. ROW, the number of the row, occurs only if the chain's
        rows are written one by one (`rows`). STEP, the number of the time step, occurs only if the
        chain is in a time loop (`stepped`).
        """
        terms = [self.names[tensor.name, memory]]
        if tensor.slots > 1:
            if stepped:
                step = f"(STEP + {place.slot})" if place.slot else "STEP"
                terms.append(_times(f"{step} % 2", tensor.vectors))
            elif place.slot:
                terms.append(str(tensor.vectors))
        if place.first:
            terms.append(str(place.first))
        text = " + ".join(terms)
        if place.step and stepped:
            text += f" {'+' if place.step > 0 else '-'} {_times('STEP', abs(place.step))}"
        if rows and place.stride:
            text += f" + {_times('ROW', place.stride)}"
        return text

    def matrix(self, name: str) -> str:
        """Return the symbol of a matrix in MatrixRf."""
        return self.names[name, "MatrixRf"]


def _times(term: str, factor: int) -> str:
    """Return the text of the product of `term` and `factor`; only `term` if the factor is 1."""
    return term if factor == 1 else f"{term} * {factor}"
