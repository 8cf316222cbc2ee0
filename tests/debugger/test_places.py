"""Places of units: numbers, ranges, `*` and lists; printed in short form and read again."""

from __future__ import annotations

import random

import pytest

from macaw.debugger.places import Place, PlaceError, compact, places
from macaw.emu.device import Device
from macaw.isa.config import load


@pytest.fixture(scope="module")
def device():
    return Device(load("base"))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("pe[1..2]", "pe[1] pe[2]"),
        ("pe[0,1..3]", "pe[0,1] pe[0,2] pe[0,3]"),
        ("pe[3,0].14..15", "pe[3,0].14 pe[3,0].15"),
        ("cp, pe[0,2].3,vc", "cp pe[0,2].3 vc"),
        ("pe[1], pe[0..1]", "pe[1] pe[0]"),
        ("fim[*]", "fim[0] fim[1] fim[2] fim[3]"),
    ],
)
def test_several(device, text, wanted):
    assert [str(place) for place in places(device, text)] == wanted.split()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pe[2..1]", r"'2..1' in pe\[2..1\] ends before it begins"),
        ("pe[1..4]", r"there is no pe\[4\], pes are 0 to 3"),
        ("pe[0,3..4]", r"pe\[0\] has no cluster 4, clusters are 0 to 3"),
        ("pe[1..]", r"'1..' in pe\[1..\] is neither a number nor \*"),
        ("pe[0], ", "'' is no place"),
        ("pe[0],,cp", "'' is no place"),
        ("pe[0], rp", "no core is called 'rp'"),
    ],
)
def test_mistakes(device, text, message):
    with pytest.raises(PlaceError, match=message.replace("..", r"\.\.")):
        places(device, text)


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("pe[0], pe[1], pe[2]", "pe[0..2]"),
        ("pe[0..3,0..3].0..15", "pe[*,*].*"),
        ("pe[*,0].3, pe[*,1].3, cp", "pe[*,0..1].3, cp"),
        ("pe[0,*], pe[1,0], pe[1,2..3]", "pe[0,*], pe[1,0], pe[1,2..3]"),
        ("vc", "vc"),
        ("nnp, fim[1..2], dma, fim[3]", "nnp, fim[1..3], dma"),
    ],
)
def test_few_words_by_hand(device, text, short):
    assert compact(device, places(device, text)) == short


def test_few_words_mean_the_same_places(device):
    pick = random.Random(5)
    every = [Place(f"pe[{row}]", (c, pe)) for row in range(4) for c in range(4) for pe in range(16)]
    for share in (0.02, 0.3, 0.9, 1.0):
        for _ in range(5):
            some = [place for place in every if pick.random() <= share] or every[:1]
            again = places(device, compact(device, some))
            assert len(again) == len(some)
            assert set(again) == set(some)
