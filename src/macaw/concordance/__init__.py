"""Software that is concordant with an nnp program: it gives the same bits on another processor."""
