"""Writes the concordant software of a program: a Python file for one of the targets."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import wrap

from macaw.isa.config import Configuration
from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.concord import arithmetic
from macaw.lowering.concord.graph import Graph, Output, Tensor
from macaw.lowering.concord.layer import Layer
from macaw.lowering.concord.line_layout import WIDTH
from macaw.lowering.concord.loops import roll_loops
from macaw.lowering.concord.writer import LayerWriter

_WHAT = {
    "numpy": "NumPy",
    "torch": "PyTorch",
    "tensorflow": "TensorFlow (eagerly, as it stands)",
    "onnx": "an ONNX model: running the file writes it beside the file",
}


@dataclass
class Software:
    """A generated file, and the names of the inputs and outputs in it."""

    text: str  # the text of the file
    inputs: dict[str, Tensor]  # by name of the parameter
    outputs: dict[str, Output]  # by name in the file
    layer: Layer  # the nodes from which the file is made


def software(graph: Graph, config: Configuration, target: str, title: str) -> Software:
    """Return the file generated from a graph for `target`, such as "numpy".

    `title` is the program's name in the file's docstring. Raises `LowerError` if the file's
    arithmetic cannot compute the sums of the program's products exactly.
    """
    live = graph.live(output.node for output in graph.outputs)
    layer = roll_loops(graph)
    writer = LayerWriter(graph, layer, config, target)
    body = writer.layer()
    columns = max((node.inputs[1].blocks for node in live if node.operation == "mv_mul"), default=1)
    columns *= int(config["nnp.native"])
    roots_of = set(writer.names_used)
    if target != "onnx" and any(tensor.kind == "matrix" for tensor in writer.inputs.values()):
        roots_of |= {"tiles_of", "from_tiles"}
    imports, numbers, functions = arithmetic.requirements(target, config, columns, roots_of)
    sections = [
        _docstring(config, target, title),
        arithmetic.import_text(imports),
        "\n".join(piece.text for piece in numbers),
        _shapes(writer),
    ]
    if target == "onnx":
        steps = steps_of(writer.inputs, graph, layer)
        rows = "".join(f'    "{name}": {count},\n' for name, count in steps.items())
        sections[-1] += f"\nSTEPS = {{\n{rows}}}" if rows else "\nSTEPS = {}"
    before = [piece for piece in functions if "__main__" not in piece.names]
    after = [piece for piece in functions if "__main__" in piece.names]
    last = {"model", "Layer"}  # these follow the function `layer`
    model = [piece for piece in before if last.intersection(piece.names)]
    before = [piece for piece in before if piece not in model]
    text = "\n\n".join(sections)
    plain = True
    for piece in before:
        text += ("\n" if plain and not piece.block else "\n\n\n") + piece.text
        plain = not piece.block
    for block in ("\n".join(body), *(piece.text for piece in (*model, *after))):
        text += "\n\n\n" + block
    return Software(text + "\n", writer.inputs, writer.outputs, layer)


def steps_of(inputs: Mapping[str, Tensor], graph: Graph, layer: Layer) -> dict[str, int]:
    """Return the number of time steps of those inputs that have separate rows for each step.

    The keys are the names of these inputs. Only inputs of several vectors in the queue NetInQ can
    have steps. In a layer with loops, a step is a round, and each round takes the next rows of such
    an input. If the loops have different numbers of rounds, the result is empty. A layer without
    loops computes each row independently, so each row is a step.
    """
    vectors = {
        name: tensor
        for name, tensor in inputs.items()
        if tensor.memory == "NetInQ" and tensor.kind != "matrix" and len(tensor.shape) > 1
    }
    if not layer.loops:
        return {name: tensor.shape[0] for name, tensor in vectors.items()}
    counts = {loop.count for loop in layer.loops.values()}
    if len(counts) != 1:
        return {}
    (count,) = counts
    sources: set[int] = set()
    todo = [source for loop in layer.loops.values() for source in loop.sources]
    while todo:
        node = todo.pop()
        if node.number not in sources:
            sources.add(node.number)
            todo += node.inputs
    nodes = {tensor.name: node for tensor, node in graph.inputs}
    return {
        name: count
        for name, tensor in vectors.items()
        if nodes[tensor.name].number in sources and tensor.shape[0] % count == 0
    }


def _docstring(config: Configuration, target: str, title: str) -> str:
    """Return the docstring of the generated file."""
    kind = str(config["nnp.quantise"])
    bits = f"{config['nnp.vector_bits']} and {config['nnp.matrix_bits']} bits"
    if kind == "float":
        bits = f"{config['nnp.float_exponent_bits']} and {config['nnp.float_mantissa_bits']} bits"
    if kind == "mx":
        bits = f"{config['nnp.vector_element']} and {config['nnp.matrix_element']}"
    switches = [name for name in ("mvm_out", "mfu_in") if config[f"nnp.quantise_{name}"]]
    more = f", quantised too: {' and '.join(switches)}" if switches else ""
    block = config["nnp.native"]
    if kind == "mx":
        block = min(block, config["nnp.mx_block"])
    lines = [
        f"{title or 'A layer'} for {_WHAT[target]}.",
        "",
        "Written by macaw concord. `layer` gives, bit for bit, what the matrix-vector"
        " processor gives for the same tensors.",
        "",
        f"Vectors and matrices are quantised for products ({kind}, {bits}) in blocks of"
        f" {block}; sums are exact or as the processor rounds them; every other"
        f" operation is rounded once to {config['nnp.host_format']}{more}.",
    ]
    text = "\n".join("\n".join(wrap(line, WIDTH)) for line in lines)
    return f'"""{text}\n"""'


def _shapes(writer: LayerWriter) -> str:
    """Return the source text that lists the shapes of inputs and outputs."""
    groups = []
    for title, group in (
        ("INPUTS", {name: tensor.shape for name, tensor in writer.inputs.items()}),
        ("OUTPUTS", {name: output.tensor.shape for name, output in writer.outputs.items()}),
    ):
        rows = [f'    "{name}": {shape},' for name, shape in group.items()]
        groups.append("\n".join([f"{title} = {{", *rows, "}"]))
    return "\n".join(groups)
