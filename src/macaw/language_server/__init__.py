"""The language server of `macaw lsp`: the protocol, positions in files, open files, the server."""
