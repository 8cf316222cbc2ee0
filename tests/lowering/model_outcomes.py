"""What lowering says about random models and graphs: messages, tables, predictions, sources.

    python -m tests.lowering.model_outcomes network 17

prints the outcome of a kind and seed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from pprint import pformat
from random import Random
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

import macaw
from macaw import api
from macaw.asm.source import Source
from macaw.isa.config import ConfigError, Configuration, load
from macaw.lowering import protect
from macaw.lowering.concord.arithmetic import TARGETS
from macaw.lowering.errors import LowerError
from macaw.lowering.fim import explain
from macaw.lowering.fim.onnx_graph import read
from macaw.lowering.fim.options import options
from macaw.lowering.fim.plan import GraphPlan, Option
from macaw.lowering.fim.schedule import schedule
from macaw.lowering.nnp.cycles import Streams, predict
from macaw.lowering.onnx.layers import layers
from macaw.lowering.onnx.model_file import parse
from macaw.lowering.onnx.pipeline import fused_graph
from macaw.lowering.onnx.read import Wishes
from macaw.lowering.onnx.values import Room
from tests.fuzz import onnx_models
from tests.lowering.concord import programs
from tests.lowering.fim import random_graphs, schedules
from tests.lowering.fim.random_models import random_model as island_model
from tests.lowering.net.random_networks import random_device, random_model
from tests.lowering.nnp.random_models import random_model as nnp_model
from tests.recorded import summary

# After these words, a message has a text of another package.
OF_OTHERS = ("ONNX's reference cannot compute it", "is no ONNX model", "ONNX's rules refuse it")
REFUSALS = (macaw.InputError, LowerError, ConfigError)


def refusal(error: Exception) -> str:
    """The text and hint of an error, without what other packages say: it depends on their versions."""
    hint = getattr(error, "hint", "")
    text = str(error)
    for mark in OF_OTHERS:
        text = text[: text.index(mark) + len(mark)] if mark in text else text
        hint = "" if text.endswith(mark) else hint
    return f"refused: {text}{f' ({hint})' if hint else ''}"


def digest(lines: Iterable[str], shown: int = 0) -> str:
    return summary("\n".join(lines), shown)


def changed(
    chance: Random, base: Configuration, table: dict[str, Sequence[Any]], share: float
) -> Configuration:
    """The device with a share of the settings of a table changed to one of their values."""
    changes = {
        name: chance.choice(values) for name, values in table.items() if chance.random() < share
    }
    return base.changed(changes)


def settings(config: Configuration, base: str = "tiny") -> str:
    """The settings that differ from those of a preset."""
    usual = load(base)
    return " ".join(f"{name}={value}" for name, value in config.items() if value != usual[name])


# --- ONNX ---


def operators(seed: int) -> str:
    """The layers of a graph of a few operators, a third of the graphs damaged, or the refusal."""
    chance, made = Random(f"operators {seed}"), None
    while made is None:  # until protobuf can read it
        example = onnx_models.make(chance)
        try:
            made = parse(example.data, Path("a.onnx"))
        except LowerError as error:
            if "is no ONNX model" not in str(error):
                return refusal(error)
    nodes = " ".join(node.op_type for node in made.graph.node)[:150]
    lines = [ascii(nodes)]
    try:
        wishes = Wishes(dims=onnx_models.sizes_by_name(made), room=Room(onnx_models.ROOM, 4))
        found = layers(fused_graph(made, wishes))
        lines.append("layers: " + " ".join(type(layer).__name__ for layer in found.layers))
        lines.append(digest(pformat(found, width=120).splitlines()))
    except REFUSALS as error:
        lines.append(refusal(error))
    try:
        graph = read(made, 1, onnx_models.sizes_by_name(made), onnx_models.ROOM).graph
        lines.append("tasks: " + digest(map(explain.describe, graph.tasks), 3))
    except REFUSALS as error:
        lines.append(refusal(error))
    return "\n".join(lines)


def float_model(
    numbers: np.random.Generator,
) -> tuple[onnx.ModelProto, dict[str, NDArray[np.float32]]]:
    """A model with a layer that can be quantised, and samples of its inputs."""
    made = None
    while made is None or not any(node.op_type in ("Conv", "Gemm") for node in made.graph.node):
        made = nnp_model(numbers) if numbers.integers(2) else island_model(numbers)
    data = {}
    for row in made.graph.input:
        shape = [dim.dim_value for dim in row.type.tensor_type.shape.dim]
        data[row.name] = numbers.normal(size=(3, *shape)).astype(np.float32)
    return made, data


def quantised(seed: int) -> str:
    """The table of losses of a quantised model, with whole decibels, and the model's digest."""
    chance = Random(f"quantised {seed}")
    numbers = np.random.default_rng(seed)
    made, data = float_model(numbers)
    words: dict[str, Any] = {
        "method": chance.choice(("mse", "minmax")),
        "scales": chance.choice(("power-of-two", "real")),
        "per_channel": chance.random() < 0.4,
        "element_type": chance.choice(("int8", "int8", "int16")),
    }
    if chance.random() < 0.3:
        words["keep_float"] = [chance.choice([node.op_type for node in made.graph.node])]
    lines = [" ".join(node.op_type for node in made.graph.node), str(words)]
    try:
        found = macaw.quantise(made, data, **words)
    except REFUSALS as error:
        return "\n".join([*lines, refusal(error)])
    lines += [
        f"{row.name} {row.operator} {row.input}>{row.output} {row.scale or 0:.4g} {_whole(row.own)} {_whole(row.whole)}"
        for row in found.losses
    ]
    lines.append("floats: " + " ".join(found.floats))
    return "\n".join([*lines, digest(_nodes(found.model))])


def _whole(ratio: float) -> str:
    return f"{ratio:.0f} dB" if abs(ratio) < 200 else "exact"


def _nodes(made: onnx.ModelProto) -> Iterable[str]:
    for node in made.graph.node:
        yield f"{node.op_type} {node.name} {list(node.input)} {list(node.output)}"
    for row in made.graph.initializer:
        yield f"{row.name} {row.data_type} {list(row.dims)}"


ARRAYS: dict[str, Sequence[Any]] = {
    "pe.rows": (1, 3), "pe.clusters": (1, 3), "pe.weight_queue": (16, 64), "pe.input_buffer": (32, 256),
    "mem.unit_half_bytes": (2048, 8192), "dist.bus_bytes": (4,), "dma.divider": (2,), "pe.design": ("5a",),
    "mem.external_width": (4, 64), "vc.divider": (2,), "cp.divider": (2,),
}  # fmt: skip


def network(seed: int) -> str:
    """The report of each layer of a quantised network, and the sources."""
    chance, number = Random(f"network {seed}"), 100 * seed
    while len(random_model(number).graph.node) > 45:
        number += 1
    made = random_model(number)
    device = changed(chance, random_device(number), ARRAYS, 0.2 if seed % 2 else 0)
    return "\n".join([settings(device), *compiled(made, device, chance, 0.1)])


def compiled(
    made: onnx.ModelProto, device: Configuration, chance: Random, on_islands: float
) -> list[str]:
    """The report of each layer of a network on a device, and the outlines of the sources."""
    words: dict[str, Any] = {}
    if chance.random() < on_islands:
        products = [node.name for node in made.graph.node if node.op_type == "MatMul"]
        words["islands"] = [chance.choice([*products, "MatMul", "Conv"])]
    lines = [str(words)]
    try:
        found = macaw.compile(made, device=device, **words)
    except REFUSALS as error:
        return [*lines, refusal(error)]
    for layer in found.layers:
        lines.append(" ".join(_short(value) for value in asdict(layer).values()))
    for name, source in found.sources.items():
        if source is not None:
            files = " ".join(sorted((*source.files, *source.texts)))
            lines.append(f"{name}: {summary(source.source)} {files}"[:160])
    return lines


def converted(seed: int) -> str:
    """The same for a model that is quantised first; some of its layers stay floating-point."""
    chance, numbers = Random(f"converted {seed}"), np.random.default_rng(seed)
    made, data = float_model(numbers)
    words: dict[str, Any] = {"scales": chance.choice(("power-of-two", "real"))}
    if chance.random() < 0.3:
        words["keep_float"] = [chance.choice([node.op_type for node in made.graph.node])]
    lines = [" ".join(node.op_type for node in made.graph.node), str(words)]
    try:
        found = macaw.quantise(made, data, method="minmax", **words).model
        device = changed(chance, load("tiny"), ARRAYS, 0.1)
    except REFUSALS as error:
        return "\n".join([*lines, refusal(error)])
    return "\n".join([*lines, settings(device), *compiled(found, device, chance, 0.4)])


def _short(value: Any) -> str:
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return text if len(text) < 60 else summary(text)


# --- nnp ---

NNP: dict[str, Sequence[Any]] = {
    "nnp.native": (4, 8, 16), "nnp.lanes": (1, 2, 4), "nnp.engines": (1, 2, 3), "nnp.mapping": ("rows", "columns"),
    "nnp.initial_vrf": (4, 6, 20, 64), "nnp.mul_vrf": (4, 6, 32), "nnp.add_sub_vrf0": (4, 8, 32),
    "nnp.add_sub_vrf1": (5, 8, 32), "nnp.matrix_rf": (8, 16, 64), "nnp.net_in": (2, 16), "nnp.net_out": (2, 16),
    "nnp.instructions": (16, 64, 300), "nnp.host_format": ("fp32",), "nnp.quantise": ("int", "float", "mx", "log"),
    "nnp.multiplier_depth": (1, 60), "nnp.issue_cycles": (3,), "nnp.divider": (2,), "nnp.vector_lanes": (1, 4),
    "nnp.matrix_channels": (2,), "nnp.vector_channels": (2,), "mem.external_width": (4, 64),
}  # fmt: skip


def on_nnp(seed: int) -> str:
    """The layers of a model on nnp with the predicted cycles, what it uses, and the source."""
    chance = Random(f"nnp {seed}")
    try:
        device = changed(chance, load("tiny"), NNP, chance.choice((0.05, 0.15, 0.4)))
    except ConfigError as error:
        return refusal(error)
    made = nnp_model(np.random.default_rng(1000 + seed))
    lines = [" ".join(node.op_type for node in made.graph.node), settings(device)]
    try:
        found = macaw.compile(made, device=device, core="nnp")
    except REFUSALS as error:
        return "\n".join([*lines, refusal(error)])
    lines += [" ".join(_short(value) for value in asdict(layer).values()) for layer in found.layers]
    lines.append(" ".join(f"{name} {of[0]}/{of[1]}" for name, of in found.lowered.used.items()))
    lines.append(f"{found.lowered.instructions} instructions; {summary(found.source)}")
    for _ in range(2):
        first, interval, drain, later = (chance.choice((1, 5, 40, 300)) for _ in range(4))
        streams = Streams(first, interval, drain, (chance.choice((1, 2, 9)), 3), later)
        try:
            lines.append(f"{streams}: {predict(found.operations, found.config, streams)}")
        except LowerError as error:
            lines.append(f"{streams}: {refusal(error)}")
    return "\n".join(lines)


def concord(seed: int) -> str:
    """The tensors, software and pictures of a random program of nnp."""
    numbers = np.random.default_rng(seed)
    config = programs.device(numbers)
    chains, repeats = programs.lengths(numbers)
    text = programs.program(numbers, config, chains, repeats)
    made = api.assemble(Source(text, "random.s"), device=config)
    lines = [f"{chains} chains, {repeats} times; {settings(config)}"[:200]]
    for target in TARGETS:
        try:
            found = macaw.concord(made, target)
        except REFUSALS as error:
            lines.append(f"{target}: {refusal(error)}")
            continue
        if target == TARGETS[0]:
            lines += [
                f"{name} {tensor}" for name, tensor in (found.inputs | found.outputs).items()
            ][:6]
            lines += [f"{kind}: {summary(found.picture(kind))}" for kind in ("dot", "svg")]
        lines.append(f"{target}: {summary(found.text)}")
    return "\n".join(lines)


# --- protection ---


def protection(seed: int) -> str:
    """The orders of random weights, and how many there are; or the refusal."""
    chance, numbers = Random(f"protect {seed}"), np.random.default_rng(seed)
    dtype = chance.choice(("int8", "int8", "int16", "int32", "float32", "float64"))
    weights = [
        numbers.integers(
            -3,
            4,
            (
                chance.choice((1, 3, 8)),
                *(chance.choice((1, 3, 8, 17)) for _ in range(chance.choice((1, 1, 2)))),
            ),
        ).astype(dtype)
        for _ in range(chance.choice((1, 1, 2, 3)))
    ]
    scope = chance.choice(("net", "layer", "node", "group:2", "group:3", "group:0", "nodes"))
    lanes = chance.choice((None, None, 4, 8, 16, 5))
    lines = [f"{dtype} {[array.shape for array in weights]} {scope} {lanes}"]
    try:
        plan = protect.layout(weights, scope, lanes)
        orders = protect.draw(plan, seed)
        stored = protect.shuffle(weights, orders, plan)
    except LowerError as error:
        return "\n".join([*lines, refusal(error)])
    back = protect.restore(stored, protect.check(orders, plan), plan)
    assert all(np.array_equal(*pair) for pair in zip(back, weights, strict=True))
    lines.append(
        f"orders {plan.shape}, 2^{protect.log2_orders(plan):.2f}, 2^{protect.log2_distinct(weights, plan):.2f} distinct"
    )
    shapes = [array.shape for array in weights]
    damaged = orders.copy()
    damaged.flat[chance.randrange(damaged.size)] += chance.choice((1, 1, 50))
    attempts: dict[str, Callable[[], object]] = {
        "damaged": lambda: protect.check(damaged, plan),
        "wide": lambda: protect.check(orders.astype(np.int16), plan),
        "cut": lambda: protect.check(orders[..., :-1], plan),
        "stored": lambda: protect.stored_layout(stored, scope, orders, shapes).shape,
        "other shapes": lambda: (
            protect.stored_layout(
                stored, scope, orders, [(2, *shape[1:]) for shape in shapes]
            ).shape
        ),
        "other orders": lambda: len(protect.restore(stored, orders[:, :, ::-1], plan)),
    }
    for name, attempt in attempts.items():
        try:
            found = attempt()
            lines.append(f"{name}: {found if isinstance(found, tuple | int) else 'accepted'}")
        except LowerError as error:
            lines.append(f"{name}: {refusal(error)}")
    return "\n".join(
        [*lines, digest(map(str, (orders.tolist(), *(array.tolist() for array in stored))))]
    )


# --- islands ---

FIM: dict[str, Sequence[Any]] = {
    "fim.islands": (1, 3, 4), "fim.rows": (4, 8, 16, 512), "fim.bank_groups": (1, 4), "fim.group_banks": (1, 4),
    "fim.island.0.arrangements": ("elementwise", "dot outer", "tensor"),
    "fim.island.0.functions": ("add mul", "add sub mul relu", ""), "fim.island.0.rz_slices": (2, 4),
    "fim.island.0.formats": ("fp16", "fp32", "bf16"), "fim.island.1.lanes": (4, 16), "fim.island.1.divider": (1, 4),
    "fim.island.1.arrangements": ("elementwise dot outer tensor transposed",), "dma.divider": (3,), "dma.queue": (1, 2, 64),
    "dma.setup": (0, 30), "mem.external_width": (4, 64), "cp.divider": (3,), "mem.external_latency": (1, 200),
}  # fmt: skip


def island_device(chance: Random) -> Configuration:
    """A device with one to four islands, half of them as those of the device tiny."""
    base = load(chance.choice(("tiny", "tiny", "base")))
    return changed(chance, base, FIM, chance.choice((0.0, 0.1, 0.3)))


def lowered(graph: Any, chance: Random) -> list[str]:
    """The plan of a graph or model on a random device, with its figures and its source."""
    try:
        device = island_device(chance)
    except ConfigError as error:
        return [refusal(error)]
    words: dict[str, Any] = {}
    if chance.random() < 0.3:
        words["resident"] = chance.choice((0, 64, 0.1, 1.0))
    if chance.random() < 0.3:
        words |= chance.choice(({"dynamic": True}, {"together": False}))
    lines = [f"{device.name} {settings(device, device.name)} {words}"]
    try:
        found = macaw.lower_graph(graph, device=device, **words)
    except REFUSALS as error:
        return [*lines, refusal(error)]
    lines.append(
        f"{found.cycles} cycles, at least {found.least_cycles}; dma {found.dma}, {found.resident_bytes} bytes resident"
    )
    return [
        *lines, *(line.rstrip() for line in found.steps()[:6]), f"steps: {digest(found.steps())}",
        f"reasons: {digest(found.reasons(), 4)}", f"timeline: {digest(found.timeline(60))}",
        f"source: {summary(found.source)}",
    ]  # fmt: skip


def island_graph(seed: int) -> str:
    """The plan of a random graph of tasks on islands."""
    chance = Random(f"graph {seed}")
    graph = random_graphs.made(chance, chance.randint(1, 4), chance.choice((0, 0, 0, 1)))
    return "\n".join(lowered(graph, chance))


def on_islands(seed: int) -> str:
    """The plan of a random model on islands."""
    numbers = np.random.default_rng(2000 + seed)
    nodes = "Conv"  # plans of convolutions and recurrent layers take seconds
    while len(nodes.split()) > 12 or {"Conv", "GRU", "LSTM", "RNN"} & set(nodes.split()):
        made = island_model(numbers)
        nodes = " ".join(node.op_type for node in made.graph.node)
    return "\n".join([nodes, *lowered(made, Random(f"model {seed}"))])


def plan_lines(plan: GraphPlan) -> list[str]:
    """The actions of a plan with their times, and its end."""
    lines = [f"end {plan.makespan}, least {plan.least}, separate {plan.separate_end}"]
    lines += [f"{row.kind} {row.step} {row.begin} {row.end}" for row in plan.actions]
    return [
        *lines,
        f"{sorted(plan.holders.items())}",
        *explain.steps(plan),
        *explain.reasons(plan),
        *explain.timeline(plan, 70),
    ]


def scheduled(seed: int) -> str:
    """The schedules of graphs whose options have random cycles."""
    chance, lines = Random(f"schedule {seed}"), []
    for number in range(3):
        graph = schedules.graph(chance, chance.randint(1, 5))
        islands, host = chance.choice((1, 2, 3)), chance.random() < 0.5
        constants, together = chance.random() < 0.6, chance.random() < 0.8
        config = load("base").changed({"fim.islands": islands})
        ask = schedules.asking(10 * seed + number, islands, host, constants)
        plan = schedule(graph, config, ask, together)
        text = plan_lines(plan)
        lines += [f"{islands} islands, {host} {constants} {together}: {text[0]}", digest(text[1:])]
    return "\n".join(lines)


def tilings(seed: int) -> str:
    """The options of one product or function for each island and layout, and the refusals."""
    chance = Random(f"tilings {seed}")
    graph = random_graphs.made(chance, 2, chance.choice((0, 0, 1)))
    try:
        config = island_device(chance)
    except ConfigError as error:
        return refusal(error)
    lines = [f"{config.name} {settings(config, config.name)}"]
    for tasks in (*((task,) for task in graph.tasks), tuple(graph.tasks)):
        lines.append("; ".join(map(explain.describe, tasks)))
        try:
            found = options(tasks, config, graph.form)
        except LowerError as error:
            lines.append(f"  {refusal(error)}")
            continue
        for item in found:
            if isinstance(item, Option):
                figures = (
                    item.bring,
                    item.compute,
                    item.fetch,
                    item.reorder,
                    item.buffer,
                    item.constants,
                    item.slack,
                )
                more = (
                    item.banks,
                    item.bring_queue_wait,
                    item.fetch_queue_wait,
                    item.until_last_start,
                    item.issue_copies,
                    item.issue_start,
                    item.reopen,
                )
                lines.append(f"  {item.name}: {figures} {more}")
            else:
                lines.append(f"  not island {item.island} {item.layout}: {item.why}")
    return "\n".join(lines[:30])


KINDS: dict[str, Callable[[int], str]] = {
    "operators": operators, "quantised": quantised, "network": network, "converted": converted,
    "nnp": on_nnp, "concord": concord,
    "protection": protection, "island_graph": island_graph, "islands": on_islands, "scheduled": scheduled,
    "tilings": tilings,
}  # fmt: skip


def main() -> None:
    """Print the outcomes of a kind and seeds."""
    for seed in sys.argv[2:]:
        print(f"==== {seed}\n{KINDS[sys.argv[1]](int(seed))}")


if __name__ == "__main__":
    main()
