"""Macaw: assembler, disassembler and emulator of one neural-network device.

This is the public Python API. A public name imports its module when it is first used, so that
`import macaw` and `macaw --help` are fast:

    program = macaw.assemble("digits.s")
    run = macaw.run(program, x=image)
    run.outputs["y"], run.cycles, run.counters
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from macaw.api import assemble as assemble
    from macaw.api import assemble_object as assemble_object
    from macaw.api import c_header as c_header
    from macaw.api import configuration as configuration
    from macaw.api import disassemble as disassemble
    from macaw.api import linker_script as linker_script
    from macaw.api import load as load
    from macaw.api import save as save
    from macaw.api import save_object as save_object
    from macaw.asm.diagnostics import AssemblyError as AssemblyError
    from macaw.asm.elf import ElfError as ElfError
    from macaw.asm.program import Program as Program
    from macaw.asm.relocatable import Relocatable as Relocatable
    from macaw.asm.source import Source as Source
    from macaw.concordance.concordance import Concordance as Concordance
    from macaw.concordance.concordance import concord as concord
    from macaw.debugger.session import Session as Session
    from macaw.debugging import debug as debug
    from macaw.emu.device import Device as Device
    from macaw.errors import InputError as InputError
    from macaw.errors import RunError as RunError
    from macaw.execution import Run as Run
    from macaw.execution import run as run
    from macaw.fim_lowering import GraphLowering as GraphLowering
    from macaw.fim_lowering import lower_graph as lower_graph
    from macaw.fim_tiles import tiled as tiled
    from macaw.fim_tiles import untiled as untiled
    from macaw.isa.config import ConfigError as ConfigError
    from macaw.isa.config import Configuration as Configuration
    from macaw.isa.errors import MacawError as MacawError
    from macaw.layer_lowering import Lowering as Lowering
    from macaw.layer_lowering import lower as lower
    from macaw.networks.compiled import CompiledNetwork as CompiledNetwork
    from macaw.networks.compiled import NetworkRun as NetworkRun
    from macaw.networks.compiler import compile as compile  # noqa: A004 - a public name, never imported bare
    from macaw.networks.compiler import load_network as load_network
    from macaw.networks.estimator import Estimate as Estimate
    from macaw.networks.estimator import estimate as estimate
    from macaw.networks.nnp_network import NnpLayer as NnpLayer
    from macaw.networks.nnp_network import NnpNetwork as NnpNetwork
    from macaw.networks.nnp_network import NnpRun as NnpRun
    from macaw.nnp_tiles import from_native_tiles as from_native_tiles
    from macaw.nnp_tiles import from_native_vectors as from_native_vectors
    from macaw.nnp_tiles import native_tiles as native_tiles
    from macaw.nnp_tiles import native_vectors as native_vectors
    from macaw.number_rounding import round_bfloat16 as round_bfloat16
    from macaw.profiling.annotating import annotate as annotate
    from macaw.profiling.annotation import Annotation as Annotation
    from macaw.profiling.model import Profile as Profile
    from macaw.profiling.profiler import ProfileOptions as ProfileOptions
    from macaw.profiling.profiler import profile as profile
    from macaw.profiling.schema import profile_schema as profile_schema
    from macaw.profiling.tables import profile_tables as profile_tables
    from macaw.protection import Protection as Protection
    from macaw.protection import protect as protect
    from macaw.protection import unprotect as unprotect
    from macaw.quantisation import QuantisedModel as QuantisedModel
    from macaw.quantisation import quantise as quantise
    from macaw.sweeps.results import Sweep as Sweep
    from macaw.sweeps.sweeping import sweep as sweep

_HOMES = {
    "Annotation": "macaw.profiling.annotation",
    "AssemblyError": "macaw.asm.diagnostics",
    "CompiledNetwork": "macaw.networks.compiled",
    "Concordance": "macaw.concordance.concordance",
    "ConfigError": "macaw.isa.config",
    "Configuration": "macaw.isa.config",
    "Device": "macaw.emu.device",
    "ElfError": "macaw.asm.elf",
    "Estimate": "macaw.networks.estimator",
    "GraphLowering": "macaw.fim_lowering",
    "InputError": "macaw.errors",
    "Lowering": "macaw.layer_lowering",
    "MacawError": "macaw.isa.errors",
    "NetworkRun": "macaw.networks.compiled",
    "NnpLayer": "macaw.networks.nnp_network",
    "NnpNetwork": "macaw.networks.nnp_network",
    "NnpRun": "macaw.networks.nnp_network",
    "Profile": "macaw.profiling.model",
    "ProfileOptions": "macaw.profiling.profiler",
    "Program": "macaw.asm.program",
    "Protection": "macaw.protection",
    "QuantisedModel": "macaw.quantisation",
    "Relocatable": "macaw.asm.relocatable",
    "Run": "macaw.execution",
    "RunError": "macaw.errors",
    "Session": "macaw.debugger.session",
    "Source": "macaw.asm.source",
    "Sweep": "macaw.sweeps.results",
    "annotate": "macaw.profiling.annotating",
    "assemble": "macaw.api",
    "assemble_object": "macaw.api",
    "c_header": "macaw.api",
    "compile": "macaw.networks.compiler",
    "concord": "macaw.concordance.concordance",
    "configuration": "macaw.api",
    "debug": "macaw.debugging",
    "disassemble": "macaw.api",
    "estimate": "macaw.networks.estimator",
    "linker_script": "macaw.api",
    "from_native_tiles": "macaw.nnp_tiles",
    "from_native_vectors": "macaw.nnp_tiles",
    "load": "macaw.api",
    "load_network": "macaw.networks.compiler",
    "lower": "macaw.layer_lowering",
    "lower_graph": "macaw.fim_lowering",
    "native_tiles": "macaw.nnp_tiles",
    "native_vectors": "macaw.nnp_tiles",
    "profile": "macaw.profiling.profiler",
    "profile_schema": "macaw.profiling.schema",
    "profile_tables": "macaw.profiling.tables",
    "protect": "macaw.protection",
    "quantise": "macaw.quantisation",
    "round_bfloat16": "macaw.number_rounding",
    "run": "macaw.execution",
    "save": "macaw.api",
    "save_object": "macaw.api",
    "sweep": "macaw.sweeps.sweeping",
    "tiled": "macaw.fim_tiles",
    "unprotect": "macaw.protection",
    "untiled": "macaw.fim_tiles",
}

# Classes that notebooks show as HTML (`macaw.notebook.displays`), by module.
_DISPLAYED = {
    "macaw.asm.program": "Program",
    "macaw.debugger.session": "Session",
    "macaw.emu.device": "Device",
    "macaw.execution": "Run",
    "macaw.profiling.annotation": "Annotation",
    "macaw.profiling.model": "Profile",
    "macaw.sweeps.results": "Sweep",
}

__version__ = "0.2.0"
_NAMES = ["__version__", *sorted(_HOMES)]


def __getattr__(name: str) -> Any:
    """Import the module of a public name when the name is first used (PEP 562).

    Without the package onnx, a few names are no attributes, so that `help(macaw)` works, and not in
    `__all__`, so that `from macaw import *` works.
    """
    if name == "__all__":
        return [public for public in _NAMES if hasattr(sys.modules[__name__], public)]
    if name not in _HOMES:
        raise AttributeError(f"module 'macaw' has no attribute '{name}'")
    try:
        module = import_module(_HOMES[name])
    except ModuleNotFoundError as error:
        if error.name != "onnx":
            raise
        hint = "pip install 'macaw-npu[onnx]'"
        raise AttributeError(f"macaw.{name} needs the package onnx: {hint}") from None
    value = getattr(module, name)
    _add_html()
    return value


def __dir__() -> list[str]:
    return _NAMES


def _add_html() -> None:
    """Give `_repr_html_`, the method that notebooks call, to the classes of `_DISPLAYED`.

    Only classes whose modules are loaded get it now. Their modules cannot define the method,
    because they must not import the notebook.
    """
    for module, name in _DISPLAYED.items():
        displayed = getattr(sys.modules.get(module), name, None)
        if displayed is not None and "_repr_html_" not in vars(displayed):
            displayed._repr_html_ = _html


def _html(item: object) -> str | None:
    """Return the HTML with which a notebook shows an object; None if it shows the `repr`."""
    html: str | None = import_module("macaw.notebook.displays").html(item)
    return html


def load_ipython_extension(shell: Any) -> None:
    """Add the cell magic `%%macaw` to an IPython shell: `%load_ext macaw` calls this."""
    for module in _DISPLAYED:
        import_module(module)
    _add_html()
    import_module("macaw.notebook.cell_magic").register(shell)
