"""Classes for the subject of a sweep: a program, a lowered operation or graph, or a network.

A run of the subject has at most `max_cycles` cycles; None means no limit. The field `energy` of
each class is the file of the table with which the energy is estimated. An empty text means the
default table; None means no estimate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from macaw.isa.config import Configuration


@dataclass(frozen=True)
class ProgramSubject:
    """A program. Sources are assembled again for each device; an ELF file is used as it is.

    `sources` are the paths of the sources, or the path of the one ELF file. `inputs` has the path
    of the .npy file of each input, by name. `config` is the device before a point changes its
    settings.
    """

    sources: tuple[str, ...]
    inputs: Mapping[str, str]
    config: Configuration
    max_cycles: int | None = None
    energy: str | None = None

    @property
    def name(self) -> str:
        """The name of the subject in titles."""
        return " ".join(self.sources)


@dataclass(frozen=True)
class LoweringSubject:
    """An operation, which is lowered again for each device.

    `options` are arguments of `macaw.lower`; weights and bias are paths of .npy files. `config` is
    the device before a point changes its settings.
    """

    options: Mapping[str, Any]
    config: Configuration
    max_cycles: int | None = None
    energy: str | None = None

    @property
    def name(self) -> str:
        """The name of the subject in titles."""
        return str(self.options["operation"])


@dataclass(frozen=True)
class GraphSubject:
    """A graph, which is lowered to a program for the islands again for each device.

    `options` are arguments of `macaw.lower_graph`; the graph is the path of an ONNX file. `config`
    is the device before a point changes its settings.
    """

    options: Mapping[str, Any]
    config: Configuration
    max_cycles: int | None = None
    energy: str | None = None

    @property
    def name(self) -> str:
        """The name of the subject in titles."""
        return str(self.options["graph"])


@dataclass(frozen=True)
class NetworkSubject:
    """A network, whose model in `folder` is compiled again for each device.

    `inputs` has the path of the .npy file of each input of the model, by name. `config` is the
    device before a point changes its settings. `dims` has sizes of the model's named dimensions. If
    `core` is not None, this core computes the whole network. `islands` has the names of layers and
    operators that islands compute.
    """

    folder: str
    inputs: Mapping[str, str]
    config: Configuration
    dims: Mapping[str, int]
    max_cycles: int | None = None
    core: str | None = None
    energy: str | None = None
    islands: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the subject in titles."""
        return self.folder


Subject = ProgramSubject | LoweringSubject | GraphSubject | NetworkSubject
