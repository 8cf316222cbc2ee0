"""Concordant software: an nnp program as software for another processor, bit for bit (seed 003).

`chains` decodes, `trace` follows what depends on what, `loops` rolls repetitions up again,
`software` writes; the arithmetic is text in `templates/`, put together by `arithmetic`.
"""
