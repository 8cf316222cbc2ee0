"""Generates concordant software: Python that computes the same bits as an nnp program (seed 003).

`chains` decodes the program, `trace` makes the graph of its operations, `loops` finds loops in the
graph, and `software` writes the file. `arithmetic` selects functions from the texts in
`templates/`.
"""
