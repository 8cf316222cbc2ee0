"""Published networks on islands alone."""

import pytest

from benchmarks import island_networks
from benchmarks.island_networks import answer, model_of
from benchmarks.models import SOURCES, UnavailableError, fetched
from macaw.lowering.fim.graph import GATHER, PRODUCT


def test_a_light_network_on_islands():
    found = answer(model_of("shufflenet"))
    assert not found.refusal
    assert found.tasks[PRODUCT] > 25
    assert found.tasks[GATHER] > 10


@pytest.mark.long
@pytest.mark.parametrize("name", island_networks.NAMES)
def test_networks_on_islands(name):
    try:
        found = answer(model_of(name))
    except UnavailableError as error:
        pytest.skip(str(error))  # the package of the model was not fetched
    wanted = "the input bytes: it is of int32, no floating-point type" if name == "magika" else ""
    assert found.refusal == wanted


@pytest.mark.may_skip_in_ci  # the package is downloaded by hand
def test_a_network_in_the_cache():
    """Silero-vad is lowered; its input with the sampling rate becomes a constant."""
    try:
        fetched("silero-vad-16k", download=False)
    except UnavailableError as error:
        pytest.skip(str(error))  # the package of the model was not fetched
    assert "silero-vad-16k" in SOURCES
    assert answer(model_of("silero-vad-16k")).tasks[PRODUCT] == 15


def test_the_table(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["island_networks", "squeezenet"])
    island_networks.main()
    assert (
        capsys.readouterr()
        .out.splitlines()[2]
        .startswith("| squeezenet | 28 | 96 | 14 | 24 | islands alone |")
    )
