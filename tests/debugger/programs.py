"""Sessions of the repository's programs."""

from __future__ import annotations

import tomllib
from functools import cache
from typing import Any

import numpy as np

from macaw import api
from macaw.asm.program import Program
from macaw.asm.source import Source
from macaw.debugger.session import Session
from macaw.execution import configuration_of
from macaw.isa.config import Configuration
from tests.macaw.conftest import ROOT

PROGRAMS = ROOT / "programs"


@cache
def loaded(folder: str) -> tuple[Program, dict[str, Any]]:
    """The program of a golden folder, and the first item of its inputs."""
    place = PROGRAMS / folder
    golden = tomllib.loads((place / "golden.toml").read_text("utf-8"))
    program = api.load(str(place / golden["source"]))
    inputs = {}
    for tensor in program.inputs:
        array = np.load(place / golden["inputs"][tensor.name])
        inputs[tensor.name] = array.reshape(-1, *tensor.shape)[0]
    return program, inputs


@cache
def _configuration(folder: str) -> Configuration:
    return configuration_of(loaded(folder)[0])


@cache
def _assembled(text: str) -> tuple[Program, Configuration]:
    program = api.assemble(Source(text, "test.s"), device="tiny")
    return program, configuration_of(program)


def session(folder: str, engine: str = "fast", **more: Any) -> Session:
    """A session of the program in a golden folder."""
    program, inputs = loaded(folder)
    return Session(program, _configuration(folder), inputs, engine, **more)


def of_source(text: str, engine: str = "fast", **more: Any) -> Session:
    """A session of a source given as text."""
    program, configuration = _assembled(text)
    return Session(program, configuration, {}, engine, **more)
