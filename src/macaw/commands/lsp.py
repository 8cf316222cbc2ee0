"""The command `macaw lsp`: runs the language server."""

from __future__ import annotations

import click

from macaw.errors import EXIT_FAILURE, EXIT_SUCCESS, InputError


@click.command("lsp", short_help="Serve an editor: the Language Server Protocol.")
@click.option("--stdio", is_flag=True, hidden=True, help="What the server does anyway.")
def command(stdio: bool) -> int:  # some editors add --stdio to every server's command
    """Speak the Language Server Protocol on standard input and output.

    Editors start this command by themselves (docs/editors.md). It needs an extra package: pip
    install 'macaw-npu[lsp]'. Exit status 0 after `shutdown`, else 1.
    """
    try:
        from macaw.language_server.server import LanguageServer
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("lsprotocol", "attrs", "cattrs"):
            raise
        raise InputError(
            "the language server needs lsprotocol", "pip install 'macaw-npu[lsp]' brings it"
        ) from None
    from macaw.terminal import console

    with console.message_streams() as (stream, write):
        left_well = LanguageServer(write).serve(stream)
    return EXIT_SUCCESS if left_well else EXIT_FAILURE
