"""`macaw sweep` and `macaw.sweep`: programs, lowered operations and networks on many devices."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import macaw
from macaw.errors import InputError
from macaw.isa import config
from macaw.sweeps import measuring, sweeping
from macaw.sweeps.points import Outcome, Point
from macaw.sweeps.subjects import Subject
from macaw.sweeps.tables import json_text
from tests.lowering.net.models import ModelBuilder
from tests.lowering.onnx.models import NODE
from tests.lowering.onnx.models import model as onnx_model
from tests.macaw.conftest import ROOT, Macaw
from tests.macaw.sweeps import slow_points

LAYER = ROOT / "programs" / "layer"
SETTINGS = {"dma.width": [16, 32], "pe.load_queue_1": [2, 8]}


@pytest.fixture
def layer(tmp_path: Path) -> Path:
    for name in ("layer.s", "weights.npy", "x.npy"):
        shutil.copy(LAYER / name, tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def _all_metrics_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each metric that a point has is one that the subject can have (`check_metrics`)."""

    def measured(subject: Subject, point: Point) -> Outcome:
        outcome = measuring.measure(subject, point)
        measuring.check_metrics(subject, outcome.metrics, [point])
        return outcome

    monkeypatch.setattr(sweeping, "measure", measured)


def sweep_layer(place: Path, **more: Any) -> macaw.Sweep:
    inputs = {"x": place / "x.npy"}
    return macaw.sweep(place / "layer.s", settings=SETTINGS, inputs=inputs, **more)


def test_each_point_is_a_run_on_its_device(layer: Path) -> None:
    """Each point has the cycles and counters of `macaw.run` on a device with its settings."""
    found = sweep_layer(layer)
    assert len(found.outcomes) == 4
    for outcome in found.outcomes:
        device = config.load("tiny").changed(dict(outcome.point.settings))
        run = macaw.run(
            macaw.assemble(layer / "layer.s", device=device), x=np.load(layer / "x.npy")
        )
        assert outcome.metrics["cycles"] == run.cycles
        assert outcome.metrics["pe[0].macs"] == run.counters["pe[0]"]["macs"]
        assert outcome.metrics["macs"] == sum(x.get("macs", 0) for x in run.counters.values())
    columns = found.to_dict()
    assert columns["dma.width"] == [16, 16, 32, 32]
    assert len({len(column) for column in columns.values()}) == 1


def test_switches_and_arrays_of_values(layer: Path) -> None:
    """True and False stay what they are; NumPy's numbers become Python's."""
    settings: dict[str, Any] = {
        "trace.recording": [True, False, 1],
        "dma.width": np.array([16, 32]),
    }
    found = macaw.sweep(layer / "layer.s", settings=settings, inputs={"x": layer / "x.npy"})
    assert found.column("trace.recording") == [True, True, False, False]
    assert found.column("dma.width") == [16, 32] * 2
    refused = [outcome for outcome in found.outcomes if outcome.refused]
    assert [outcome.refused for outcome in refused] == [
        "trace.recording: 1 is not true or false; true or false"
    ] * 2
    narrow: dict[str, Any] = {"dma.width": [np.float32(8)]}
    width = macaw.sweep(layer / "layer.s", settings=narrow, inputs={"x": layer / "x.npy"})
    assert "8.0 is not a whole number" in width.outcomes[0].refused
    assert json.loads(json_text(width))["points"][0]["settings"] == {"dma.width": 8.0}


@pytest.mark.once
def test_an_operation_is_lowered_for_each_device(tmp_path: Path) -> None:
    weights = np.random.default_rng(0).integers(-5, 6, (8, 16)).astype(np.int8)
    np.save(tmp_path / "w.npy", weights)
    lower = {"operation": "spmm", "weights": tmp_path / "w.npy", "rows": 2}
    found = macaw.sweep(settings={"dma.width": [16, 64]}, lower=lower)
    assert repr(found) == f"<sweep of {found.subject}: 2 points>"
    for outcome in found.outcomes:
        device = config.load("base").changed(dict(outcome.point.settings))
        lowering = macaw.lower("spmm", weights, rows=2, device=device)
        assert outcome.metrics["cycles"] == lowering.measure().cycles
        assert outcome.metrics["predicted"] == lowering.cost.cycles


@pytest.mark.once
def test_a_network_is_compiled_for_each_device(tmp_path: Path) -> None:
    builder = ModelBuilder(3, (1, 2, 4, 4))
    builder.conv("image", 4, 3)
    builder.flatten()
    builder.gemm("classes", 3)
    net = tmp_path / "net"
    macaw.compile(builder.model(), device="tiny").write(net)
    image = np.random.default_rng(9).normal(size=(1, 2, 4, 4)).astype(np.float32)
    np.save(tmp_path / "image.npy", image)
    found = macaw.sweep(net, settings={"dma.width": [8, 16]}, inputs={"x": tmp_path / "image.npy"})
    assert [outcome.refused for outcome in found.outcomes] == ["", ""]
    network = macaw.load_network(net)
    device = network.config.changed({"dma.width": 16})
    again = macaw.compile(net / "model.onnx", device=device).run(x=image)
    assert (
        found.outcomes[1].metrics["cycles"] == again.cycles != found.outcomes[0].metrics["cycles"]
    )
    assert found.outcomes[1].metrics["pe.busy"] == again.busy["pe"]


def test_islands_compute_their_layers_on_each_device(tmp_path: Path) -> None:
    """Layers of a network that islands compute stay on islands in a sweep."""
    nodes = [NODE("Transpose", ["x"], ["t"], "turn", perm=[0, 2, 1])]
    nodes.append(NODE("MatMul", ["x", "t"], ["y"], "scores"))
    made = onnx_model(nodes, {"x": (1, 8, 8)}, {"y": ((1, 8, 8), 1)})
    network = macaw.compile(made, device="tiny", islands=["scores"])
    network.write(tmp_path / "net")
    x = np.random.default_rng(4).normal(size=(1, 8, 8)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    settings = {"fim.islands": [network.config["fim.islands"]]}
    found = macaw.sweep(tmp_path / "net", settings=settings, inputs={"x": tmp_path / "x.npy"})
    assert found.outcomes[0].metrics["cycles"] == network.run(x=x).cycles
    assert found.outcomes[0].metrics["fim.busy"] > 0


def test_what_a_device_cannot_do_is_listed(layer: Path) -> None:
    settings = {"dma.width": [16, 0], "pe.load_queue_1": [2, 4]}
    found = macaw.sweep(layer / "layer.s", settings=settings, inputs={"x": layer / "x.npy"})
    refused = [row for row in found.outcomes if row.refused]
    assert {dict(row.point.settings)["dma.width"] for row in refused} == {0}
    assert all("dma.width" in row.refused for row in refused)
    assert len(found.measured) + len(refused) == 4


def test_a_refused_device_has_all_its_contradictions(layer: Path) -> None:
    point = {"nnp.native": [1024], "nnp.matrix_rf": [65536], "fim.ranks": [8]}
    point |= {"fim.bank_groups": [16], "fim.group_banks": [16]}
    with pytest.raises(config.ConfigError) as error:
        config.load("tiny").changed({name: values[0] for name, values in point.items()})
    assert len(error.value.mistakes) == 2
    found = macaw.sweep(layer / "layer.s", settings=point, inputs={"x": layer / "x.npy"})
    assert found.outcomes[0].refused == "; ".join(error.value.mistakes)


def test_a_sweep_replaces_a_setting_of_the_source_and_keeps_the_others(tmp_path: Path) -> None:
    source = tmp_path / "own.s"
    source.write_text(
        "        .device tiny\n        .setting dma.width, 32\n        .setting dma.setup, 9\n"
        "        .core cp\n        li a7, 93\n        li a0, 0\n        ecall\n"
    )
    subject = sweeping.source_subject([str(source)], {}, None, None)
    assert (subject.config["dma.width"], subject.config["dma.setup"]) == (32, 9)
    found = macaw.sweep(source, settings={"dma.width": [16, 32]})
    assert [row.refused for row in found.outcomes] == ["", ""]


def test_a_program_that_fails_at_each_point(macaw: Macaw, tmp_path: Path) -> None:
    (tmp_path / "one.s").write_text(
        "        .core cp\n        li a7, 93\n        li a0, 1\n        ecall\n"
    )
    done = macaw("sweep", "one.s", "--set", "dma.width=16,32")
    assert done.returncode == 1
    assert "dma.width=16: the program exited with code 1" in done.stdout


# --- going on after an interruption ---


def count_runs(monkeypatch: pytest.MonkeyPatch) -> list[Point]:
    ran: list[Point] = []
    real = measuring.measure

    def measure(subject: Any, point: Point) -> Outcome:
        ran.append(point)
        return real(subject, point)

    monkeypatch.setattr(sweeping, "measure", measure)
    return ran


def test_a_second_sweep_runs_what_is_missing(
    layer: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = count_runs(monkeypatch)

    def interrupt(done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep_layer(layer, folder=tmp_path / "kept", watch=interrupt)
    assert len(ran) == 3
    found = sweep_layer(layer, folder=tmp_path / "kept")
    assert len(ran) == 4
    assert [row.reused for row in found.outcomes] == [True, True, True, False]
    assert [row.metrics for row in found.outcomes] == [
        row.metrics for row in sweep_layer(layer).outcomes
    ]


@pytest.mark.parametrize("name", ["layer.s", "weights.npy", "x.npy"])
def test_a_changed_file_runs_again(
    layer: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    sweep_layer(layer, folder=tmp_path / "kept")
    ran = count_runs(monkeypatch)
    sweep_layer(layer, folder=tmp_path / "kept")
    assert ran == []
    if name == "layer.s":
        (layer / name).write_text((layer / name).read_text() + "# another line\n")
    else:
        np.save(layer / name, np.load(layer / name)[::-1].copy())
    sweep_layer(layer, folder=tmp_path / "kept")
    assert len(ran) == 4


def test_a_damaged_point_file_runs_again(
    layer: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep_layer(layer, folder=tmp_path / "kept")
    damaged = sorted((tmp_path / "kept" / "points").iterdir())
    damaged[0].write_text("{")
    damaged[1].write_text('{"metrics": []}')
    ran = count_runs(monkeypatch)
    sweep_layer(layer, folder=tmp_path / "kept")
    assert len(ran) == 2


# --- processes and clusters ---


@pytest.mark.once
def test_processes_give_the_same_and_write_the_files(layer: Path, tmp_path: Path) -> None:
    one = sweep_layer(layer)
    two = sweep_layer(layer, jobs=2, folder=tmp_path / "kept")
    assert one == two
    assert len(list((tmp_path / "kept" / "points").iterdir())) == 4


@pytest.mark.once
def test_a_cluster_of_which_a_worker_is_killed(
    layer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cluster gives each point once, although one of two workers is killed during the sweep."""
    distributed = pytest.importorskip("distributed")
    expected = sweep_layer(layer, repeat=2, jitter=1)
    monkeypatch.setattr(sweeping, "_run", slow_points.run)
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        protocol="tcp",
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        silence_logs=50,
    ) as cluster:
        killed: list[int] = []

        def kill_one(done: int, total: int) -> None:
            if done == 2:
                worker = cluster.workers[0]
                killed.append(worker.pid)
                worker.process.process._process.kill()

        found = sweep_layer(
            layer, repeat=2, jitter=1, scheduler=cluster.scheduler_address, watch=kill_one
        )
    assert len(killed) == 1
    assert found == expected


def test_no_cluster(layer: Path) -> None:
    pytest.importorskip("distributed")
    with pytest.raises(InputError, match="no Dask scheduler answers at nonsense"):
        sweep_layer(layer, scheduler="nonsense")


# --- the command ---


def test_the_command_prints_a_table(macaw: Macaw, layer: Path) -> None:
    done = macaw(
        "sweep", "layer.s", "-i", "x=x.npy", "--set", "dma.width=16,32",
        "--set", "pe.load_queue_1=2,8", "--pareto", "cycles,pe.load_queue_1",
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["dma.width", "pe.load_queue_1", "cycles", "macs"]
    assert len(lines) == 7
    assert lines[-1] == "4 points of layer.s"
    assert any(line.endswith("*") for line in lines[1:5])


def test_csv_and_json_have_all(macaw: Macaw, layer: Path) -> None:
    words = ["sweep", "layer.s", "-i", "x=x.npy", "--set", "dma.width=16,0"]
    rows = list(csv.DictReader(io.StringIO(macaw(*words, "--csv", "-").stdout)))
    record = json.loads(macaw(*words, "--json", "-").stdout)
    assert [row["dma.width"] for row in rows] == ["16", "0"]
    for row, point in zip(rows, record["points"], strict=True):
        assert row["refused"] == (point["refused"] or "")
        for name, value in point["metrics"].items():
            assert float(row[name]) == value
    assert rows[1]["refused"]
    assert rows[1]["cycles"] == ""


def test_lower_takes_the_words_of_macaw_lower(macaw: Macaw, tmp_path: Path) -> None:
    np.save(tmp_path / "w.npy", np.ones((8, 16), np.int8))
    done = macaw("sweep", "--lower", "spmm -w w.npy --rows 2", "--set", "dma.width=16,32")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0].split() == [
        "dma.width", "cycles", "predicted", "external_bytes",
    ]  # fmt: skip


def saved_graph(path: Path) -> None:
    """Write an ONNX file of the product of 20 rows and a matrix."""
    weights = np.random.default_rng(7).integers(-3, 4, (16, 8)).astype(np.float32)
    info, real = helper.make_tensor_value_info, TensorProto.FLOAT
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "W"], ["y"])],
        "product",
        [info("x", real, ["n", 16])],
        [info("y", real, ["n", 8])],
        [numpy_helper.from_array(weights, "W")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]), path)


def test_a_graph_is_lowered_to_islands_for_each_device(tmp_path: Path) -> None:
    saved_graph(tmp_path / "m.onnx")
    lower = {"graph": tmp_path / "m.onnx", "dims": {"n": 20}}
    found = macaw.sweep(settings={"fim.islands": [1, 2]}, lower=lower, device="tiny")
    for outcome in found.outcomes:
        device = config.load("tiny").changed(dict(outcome.point.settings))
        lowering = macaw.lower_graph(tmp_path / "m.onnx", dims={"n": 20}, device=device)
        measurement = lowering.measure()
        assert outcome.metrics == {
            "cycles": measurement.cycles,
            "predicted": lowering.cycles,
            "dma.busy": measurement.dma,
            "resident_bytes": lowering.resident_bytes,
            "error": measurement.error,
        }
    assert len({outcome.metrics["cycles"] for outcome in found.outcomes}) == 2


def test_the_command_lowers_to_islands(macaw: Macaw, tmp_path: Path) -> None:
    saved_graph(tmp_path / "m.onnx")
    words = "m.onnx --target fim --dim n=20 --format fp32 --device tiny"
    done = macaw("sweep", "--lower", words, "--set", "fim.islands=1,2", "--metric", "cycles")
    assert (done.returncode, done.stderr) == (0, "")
    assert [len(line.split()) for line in done.stdout.splitlines()] == [2, 2, 2, 4]


def test_a_network_on_nnp_is_compiled_for_each_device(tmp_path: Path) -> None:
    saved_graph(tmp_path / "m.onnx")
    network = macaw.compile(tmp_path / "m.onnx", core="nnp", device="tiny", dims={"n": 20})
    network.write(tmp_path / "net")
    x = np.random.default_rng(8).normal(size=(20, 16)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    settings = {"nnp.lanes": [1, 2]}
    found = macaw.sweep(tmp_path / "net", settings=settings, inputs={"x": tmp_path / "x.npy"})
    for outcome in found.outcomes:
        device = config.load("tiny").changed(dict(outcome.point.settings))
        again = macaw.compile(tmp_path / "m.onnx", core="nnp", device=device, dims={"n": 20})
        run = again.run(x=x)
        assert outcome.metrics["cycles"] == run.cycles
        assert outcome.metrics["nnp.instructions"] == run.counters["instructions"]


def test_each_point_has_its_energy(layer: Path, tmp_path: Path) -> None:
    """The energy of each point equals that of a profile on the same device."""
    found = sweep_layer(layer, energy="")
    for outcome in found.outcomes:
        device = config.load("tiny").changed(dict(outcome.point.settings))
        energy = macaw.profile(
            macaw.assemble(layer / "layer.s", device=device),
            x=np.load(layer / "x.npy"),
            options=macaw.ProfileOptions(energy="", findings=False),
        ).energy
        assert energy is not None
        assert outcome.metrics["picojoules"] == pytest.approx(energy.total)
        for core in energy.cores:
            assert outcome.metrics[f"{core.core}.picojoules"] == pytest.approx(core.energy)
    (tmp_path / "half.toml").write_text("scale = 0.5\n")
    half = sweep_layer(layer, energy=tmp_path / "half.toml")
    for one, other in zip(found.outcomes, half.outcomes, strict=True):
        assert other.metrics["picojoules"] == pytest.approx(one.metrics["picojoules"] / 2)
    assert str(tmp_path / "half.toml") in half.outcomes[0].files


def test_the_energy_of_a_batch_is_the_sum_of_its_items(layer: Path, tmp_path: Path) -> None:
    x = np.load(layer / "x.npy")
    np.save(tmp_path / "two.npy", np.stack([x, x]))
    energies = [
        macaw.sweep(layer / "layer.s", settings={"dma.width": [16]}, inputs={"x": path}, energy="")
        .outcomes[0]
        .metrics["picojoules"]
        for path in (layer / "x.npy", tmp_path / "two.npy")
    ]
    assert energies[1] == pytest.approx(2 * energies[0])


def test_a_limit_of_cycles_is_for_what_is_lowered_too(tmp_path: Path) -> None:
    saved_graph(tmp_path / "m.onnx")
    np.save(tmp_path / "w.npy", np.ones((8, 16), np.int8))
    for lower in (
        {"operation": "spmm", "weights": tmp_path / "w.npy", "rows": 2},
        {"graph": tmp_path / "m.onnx", "dims": {"n": 20}, "device": "tiny"},
    ):
        (found,) = macaw.sweep(settings={"dma.width": [32]}, lower=lower, max_cycles=5).outcomes
        assert found.refused.startswith("cycle limit: 5 cycles are over")


@pytest.mark.once
def test_energies_of_lowered_operations(tmp_path: Path) -> None:
    saved_graph(tmp_path / "m.onnx")
    np.save(tmp_path / "w.npy", np.ones((8, 16), np.int8))
    for lower, core in (
        ({"operation": "spmm", "weights": tmp_path / "w.npy", "rows": 2}, "pe[0]"),
        ({"graph": tmp_path / "m.onnx", "dims": {"n": 20}, "device": "tiny"}, "fim[0]"),
    ):
        (outcome,) = macaw.sweep(settings={"dma.width": [32]}, lower=lower, energy="").outcomes
        parts = [value for name, value in outcome.metrics.items() if name.endswith(".picojoules")]
        assert outcome.metrics[f"{core}.picojoules"] > 0
        assert sum(parts) == pytest.approx(outcome.metrics["picojoules"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--set", "dma.width=16"], "name either FILEs or --lower OPERATION"),
        (["layer.s"], "--set says what differs, for example --set dist.bus_bytes=16,32,64"),
        (
            ["layer.s", "--set", "dma.width=16", "--set", "dma.width=32"],
            "--set dma.width occurs twice: one has all its values",
        ),
        (
            ["layer.s", "--set", "dma.width=16", "--jobs", "2", "--scheduler", "x"],
            "--jobs is for processes here, --scheduler for a cluster",
        ),
        (["layer.s", "--set", "dma.width=16"], "1 input not given: x (int8, 64)"),
        (
            ["--lower", "spmm -w 'x", "--set", "dma.width=16"],
            "--lower: No closing quotation",
        ),
        (["--lower", "m.onnx --target fim", "--set", "dma.width=16"], "cannot read m.onnx"),
        (
            ["--lower", "m.onnx --target fim --rows 4", "--set", "dma.width=16"],
            "--rows is of --target pe",
        ),
        (
            ["layer.s", "-i", "x=x.npy", "--set", "dma.width=16", "--energy", "no.toml"],
            "cannot read no.toml",
        ),
        (
            ["layer.s", "-i", "x=x.npy", "--set", "dma.width=16", "--energy="],
            "'--energy': the name is empty",
        ),
        (
            ["--lower", "spmm -w x.npy --explain", "--set", "dma.width=16"],
            "--explain of `macaw lower` has no meaning in a sweep",
        ),
        (["--lower", "spmm", "--set", "dma.width=16"], "an operation to lower needs 'weights'"),
        (
            ["layer.s", "-i", "x=x.npy", "--set", "dma.width=16", "--metric", "cycle"],
            "no point has a metric 'cycle'",
        ),
    ],
)
def test_what_the_command_refuses(
    macaw: Macaw, layer: Path, words: list[str], message: str
) -> None:
    done = macaw("sweep", *words)
    assert done.returncode == 2
    assert re.search(re.escape(message), done.stderr), done.stderr


@pytest.mark.parametrize(
    "metric", ["cycle", "dma.cycles", "pe[0].picojoules", "resident_bytes", "pe[9].macs", "pe.macs"]
)
def test_an_unknown_metric_is_refused_before_the_first_run(
    layer: Path, metric: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeping, "measure", lambda subject, point: pytest.fail("a point runs"))
    with pytest.raises(InputError, match=re.escape(f"no point has a metric '{metric}'")):
        sweep_layer(layer, metrics=["macs", metric])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--pareto", "cycles,mac"], "no point has a metric 'mac'\nhint: did you mean 'macs'?"),
        (["--metric", "dma.width"], "dma.width is a setting"),
        (["--pareto", ""], "no point has a metric ''"),
        (["--pareto", "pe.element"], "the values of pe.element are no numbers"),
    ],
)
def test_columns_are_checked_before_the_first_run(
    macaw: Macaw, layer: Path, words: list[str], message: str
) -> None:
    axes = ("--set", "dma.width=16", "--set", "pe.element=int8")
    done = macaw("sweep", "layer.s", "-i", "x=x.npy", *axes, "-o", "kept", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert not list(layer.glob("kept/points/*"))


def test_subjects_that_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is nothing to run"):
        macaw.sweep(settings={"dma.width": [16]})
    with pytest.raises(InputError, match="has no sources and no inputs"):
        macaw.sweep("a.s", settings={"dma.width": [16]}, lower={"operation": "spmm"})
    with pytest.raises(InputError, match="a graph to lower is the path of an ONNX file"):
        macaw.sweep(settings={"dma.width": [16]}, lower={"graph": 5})
    found = macaw.sweep(settings={"fim.islands": [1]}, lower={"graph": ROOT / "README.md"})
    assert "README.md" in found.outcomes[0].refused
    with pytest.raises(InputError, match=r"dma\.width has no values"):
        macaw.sweep("a.s", settings={"dma.width": []})


def test_two_outputs_are_not_one_file(macaw: Macaw, layer: Path) -> None:
    words = ("layer.s", "-i", "x=x.npy", "--set", "dma.width=16")
    done = macaw("sweep", *words, "--json", "a", "--html", "./a")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "macaw: error: a and ./a are one file: it cannot hold both\n"
    assert not (layer / "a").exists()


def test_one_output_goes_to_standard_output(macaw: Macaw, layer: Path) -> None:
    words = ("sweep", "layer.s", "-i", "x=x.npy", "--set", "dma.width=16")
    for option in ("--csv", "--json", "--html"):
        done = macaw(*words, option, "-")
        assert (done.returncode, done.stderr) == (0, "")
        assert macaw(*words, option, "a").returncode == 0
        assert done.stdout == (layer / "a").read_text("utf-8")
    done = macaw(*words, "--csv", "-", "--json", "-")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "macaw: error: two outputs cannot both go to -\n"
    assert not (layer / "-").exists()


def test_outputs_that_cannot_all_be_written(macaw: Macaw, layer: Path) -> None:
    words = ("layer.s", "-i", "x=x.npy", "--set", "dma.width=16")
    done = macaw("sweep", *words, "--csv", "a", "--html", "missing/b")
    assert done.returncode == 2
    assert "cannot write missing/b: No such file or directory" in done.stderr
    assert not (layer / "a").exists()


@pytest.mark.parametrize(
    ("words", "output"),
    [
        (["--lower", "m.onnx --target fim --dim n=20"], "m.onnx"),
        (["--lower", "spmv -w w.npy"], "w.npy"),
        (["layer.s", "-i", "x=x.npy", "--energy", "table.toml"], "table.toml"),
        (["layer.s", "-i", "x=x.npy"], "weights.npy"),
    ],
)
def test_what_a_sweep_reads_is_not_overwritten(
    macaw: Macaw, layer: Path, words: list[str], output: str
) -> None:
    """A sweep overwrites none of its inputs, even a file that only the source names."""
    saved_graph(layer / "m.onnx")
    np.save(layer / "w.npy", np.eye(16, dtype=np.int8))
    (layer / "table.toml").write_text("")
    before = (layer / output).read_bytes()
    done = macaw("sweep", *words, "--set", "dma.width=16", "--csv", output)
    assert done.returncode == 2
    assert f"{output} is an input: it is not overwritten" in done.stderr
    assert (layer / output).read_bytes() == before
