"""Generates syntax colouring from the tables: TextMate grammar, Vim files, Pygments lexer."""
