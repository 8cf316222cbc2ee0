"""Concordant software: an nnp program as software for another processor, bit for bit (seed 003).

`chains` decodes the program, `trace` makes the graph of its operations, `loops` finds loops in it,
and `software` writes the file. `arithmetic` selects functions from the texts in `templates/`.
"""
