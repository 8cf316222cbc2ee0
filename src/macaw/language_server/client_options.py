"""The options that the editor passes when it starts the language server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lsprotocol import types

from macaw.asm.editing import inlays
from macaw.language_server.positions import choose_encoding
from macaw.language_server.uris import path_of

_NOTES = {"values": inlays.VALUE, "addresses": inlays.ADDRESS, "cycles": inlays.CYCLES}


@dataclass(frozen=True)
class ClientOptions:
    """The options that an editor has chosen for its session with the language server.

    `include_dirs`, `defines` and `gnu` have the values of `-I`, `-D` and `--gnu`. A relative folder
    is resolved from the first of `folders`, the folders that are open in the editor. `notes` are
    the kinds of notes to show inside of lines. `encoding` is the unit in which columns are counted.
    """

    include_dirs: tuple[str, ...] = ()
    defines: Mapping[str, str | int] = field(default_factory=dict)
    notes: frozenset[str] = frozenset(_NOTES.values())
    folders: tuple[Path, ...] = ()
    encoding: types.PositionEncodingKind = types.PositionEncodingKind.Utf16
    gnu: bool = False


def read_options(params: types.InitializeParams) -> ClientOptions:
    """Return the options in the parameters of `initialize`.

    Options of a wrong type are ignored.
    """
    options = params.initialization_options
    options = options if isinstance(options, dict) else {}
    included, defines = options.get("includeDirs"), options.get("defines")
    notes = options.get("inlayHints")
    folders = _folders(params)
    paths = [x for x in included if _is_path(x)] if isinstance(included, list) else []
    if folders:
        paths = [str(folders[0] / path) for path in paths]
    symbols = defines if isinstance(defines, dict) else {}
    shown = notes if isinstance(notes, dict) else {}
    return ClientOptions(
        tuple(paths),
        {name: value for name, value in symbols.items() if isinstance(value, str | int)},
        frozenset(kind for name, kind in _NOTES.items() if shown.get(name) is not False),
        folders,
        choose_encoding(params),
        options.get("gnu") is True,
    )


def _is_path(value: object) -> bool:
    return isinstance(value, str) and "\0" not in value


def _folders(params: types.InitializeParams) -> tuple[Path, ...]:
    uris = [folder.uri for folder in params.workspace_folders or ()]
    paths = [path_of(uri) for uri in uris or ([params.root_uri] if params.root_uri else [])]
    return tuple(Path(path) for path in paths if path is not None)
