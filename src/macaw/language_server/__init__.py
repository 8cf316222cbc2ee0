"""The language server of `macaw lsp`: protocol, open files, conversion of positions, answers."""
