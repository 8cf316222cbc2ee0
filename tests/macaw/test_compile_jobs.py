"""`macaw compile --jobs`: several processes write the program that one process writes."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import macaw as api
from macaw.isa.config import load
from macaw.lowering.errors import LowerError
from macaw.lowering.mapping import MAPPINGS
from macaw.lowering.net.layer_plan import LayerPlan
from macaw.lowering.net.layer_plans import plan_layers
from macaw.lowering.operation import Product
from tests.lowering.net.networks import chain, random_convolution
from tests.macaw.conftest import Macaw
from tests.macaw.sparse_networks import images, sparse_model

pytestmark = pytest.mark.once


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.few(1)  # with samples, the processes do all that they do without them
@pytest.mark.parametrize("has_samples", [True, False])
def test_two_processes_write_the_bytes_of_one(has_samples: bool, tmp_path: Path) -> None:
    data = images(3) if has_samples else None
    for jobs in (1, 2):
        network = api.compile(sparse_model(), device="tiny", data=data, name="net", jobs=jobs)
        network.write(tmp_path / str(jobs))
    one, two = (files(tmp_path / str(jobs)) for jobs in (1, 2))
    assert len(one) > 5
    assert one == two


def copied(function: Any, items: Iterable[Any]) -> list[Any]:
    """Apply a function to copies, and copy the results, as a process would."""
    return [pickle.loads(pickle.dumps(function(pickle.loads(pickle.dumps(x))))) for x in items]


def texts(plans: Iterable[LayerPlan]) -> list[tuple[str, str]]:
    found = []
    for item in plans:
        assert item.choice is not None
        plan = item.choice.selection.plan
        found.append((item.choice.prediction(), f"{plan.mapping.name} {plan.partition}"))
    return found


def test_layers_of_equal_and_of_other_shapes_get_the_same_plans() -> None:
    rng = np.random.default_rng(3)
    products: list[Product] = [
        random_convolution(rng, (6, 6, 4), 4, 3, padding=1),
        random_convolution(rng, (6, 6, 4), 4, 3, padding=1),
        random_convolution(rng, (6, 6, 4), 8, 1),
        random_convolution(rng, (6, 6, 8), 4, 3),
    ]
    network = chain(products)
    network = replace(network, densities=dict.fromkeys(list(network.tensors)[::2], 0.5))
    config = load("tiny").changed({"pe.rows": 1, "pe.clusters": 1})
    assert texts(plan_layers(network, config, copied)) == texts(plan_layers(network, config))


def test_the_error_of_a_layer_is_the_same() -> None:
    network = chain([random_convolution(np.random.default_rng(7), (4, 4, 9), 9, 1)])
    device = load("tiny").changed({"mem.unit_half_bytes": 1024, "pe.pes": 128})
    found = []
    for map_all in (None, copied):
        with pytest.raises(LowerError, match=r"^layer block/0: ") as caught:
            plan_layers(network, device, map_all)
        found.append((str(caught.value), caught.value.hint))
    assert found[0] == found[1]


@pytest.mark.parametrize("mapping", MAPPINGS.values(), ids=MAPPINGS)
def test_the_copy_of_a_mapping_is_the_mapping(mapping: object) -> None:
    assert pickle.loads(pickle.dumps(mapping)) is mapping


def test_the_copy_of_a_product_has_only_its_fields() -> None:
    product = random_convolution(np.random.default_rng(5), (4, 4, 2), 2, 3)
    assert product.weights_before.shape == (2, 3)
    copy = pickle.loads(pickle.dumps(product))
    assert list(vars(copy)) == [item.name for item in fields(product)]
    np.testing.assert_array_equal(copy.weights_before, product.weights_before)


def test_jobs_are_for_quantised_networks(macaw: Macaw, tmp_path: Path) -> None:
    with pytest.raises(
        api.InputError, match="one process compiles for nnp: `jobs` is for other cores"
    ):
        api.compile(sparse_model(), core="nnp", jobs=2)
    done = macaw("compile", "m.onnx", "--core", "fim", "--jobs", "2")
    assert done.returncode == 2
    assert "--jobs is not for --core fim" in done.stderr
