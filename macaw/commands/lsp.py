"""`macaw lsp`: the language server."""

from __future__ import annotations

import click

from macaw.errors import DONE, InputError


@click.command("lsp", short_help="Serve an editor: the Language Server Protocol.")
def command() -> int:
    """Speak the Language Server Protocol on standard input and output.

    Editors start it by themselves (docs/editors.md). Needs the extra: pip install 'macaw[lsp]'.
    """
    try:
        from macaw.language_server import make_server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise InputError(
            "the language server needs pygls", "pip install 'macaw[lsp]' brings it"
        ) from None
    make_server().start_io()
    return DONE
