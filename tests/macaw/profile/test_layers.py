"""Profiles of compiled networks show layers in the report, the page, JSON and Perfetto."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import macaw
from macaw.profiling import html, perfetto
from macaw.profiling.model import FORMAT, from_json, to_json
from tests.macaw.command_runs import run_here
from tests.macaw.profile.programs import small_network


@pytest.fixture(scope="module")
def network() -> macaw.CompiledNetwork:
    return small_network()


@pytest.fixture(scope="module")
def folder(network, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("networks")
    network.write(path / "net")
    np.save(path / "x.npy", np.ones((1, 2, 4, 4), np.float32))
    return path


@pytest.fixture(scope="module")
def profile(network, folder) -> macaw.Profile:
    return macaw.profile(network.program, network.device_inputs({"x": np.load(folder / "x.npy")}))


@pytest.mark.once
def test_the_cycles_of_layers_are_those_of_run(network, folder, profile):
    run = network.run(x=np.load(folder / "x.npy"))
    assert [(x.name, x.cycles) for x in profile.layers] == [
        (x.report.name, x.cycles) for x in run.layers
    ]
    first, last = profile.layers
    assert first.end == last.begin
    assert first.busy["pe"] > 0 == last.busy["pe"]
    assert last.busy["vc"] > 0 == first.busy["vc"]
    (vector,) = (row for row in profile.rows if row.row == "vc")
    assert sum(x.busy["vc"] for x in profile.layers) == vector.busy_cycles


def test_slices_and_findings_name_their_layer(profile):
    layers = set()
    for track in profile.tracks:
        for item in track.slices:
            inside = [x.name for x in profile.layers if x.begin <= item.begin < x.end]
            assert item.layer == (inside[0] if inside else "")
            assert item.where.endswith(f"(layer {item.layer})") or not inside
            layers.add(item.layer)
    assert layers == {"", "/stem/Conv", "/sum/Add"}


def test_layers_in_json_the_page_and_perfetto(profile):
    data = to_json(profile)
    assert data["format"] == FORMAT
    assert from_json(json.loads(json.dumps(data))).layers == profile.layers
    page = html.page(profile)
    start = page.index('id="data">') + len('id="data">')
    layers = json.loads(page[start : page.index("</script>", start)])["layers"]
    assert [row[:5] for row in layers["table"]] == [
        [x.name, x.operator, x.core, x.begin, x.end] for x in profile.layers
    ]
    assert b"/stem/Conv" in perfetto.encode(profile)


def test_a_program_without_layers_has_none():
    source = macaw.Source(".core cp\n_start: li a7, 93\n li a0, 0\n ecall\n", "a.s")
    profile = macaw.profile(macaw.assemble(source, device="tiny"))
    assert profile.layers == ()
    assert '"layers":null' in html.page(profile)


def test_the_command(folder, profile):
    done = run_here(("profile", "net", "-i", "x=x.npy", "--layers"), folder)
    assert done.returncode == 0
    assert done.stdout.startswith("net on tiny: ")
    rows = [line.split() for line in done.stdout.splitlines()]
    for item in profile.layers:
        assert any(item.name in row and f"{item.cycles:,}" in row for row in rows)
    (folder / "a.s").write_text(".core cp\n_start: li a7, 93\n li a0, 0\n ecall\n")
    done = run_here(("profile", "a.s", "--layers"), folder)
    assert done.returncode == 2
    assert "--layers is for the folder of a compiled network" in done.stderr
