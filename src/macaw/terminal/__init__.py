"""Prints on the terminal: messages, diagnostics, coloured sources, a progress bar."""
