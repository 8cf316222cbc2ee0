"""Colours for editors, made from the tables: a TextMate grammar, Vim files, a Pygments lexer."""
