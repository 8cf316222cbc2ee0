"""Measures Macaw's speed and that of comparable programs in one run: `make bench`."""

from os import environ

# Waiting threads of BLAS would count as CPU time, for Macaw and for NumPy.
environ.setdefault("OPENBLAS_NUM_THREADS", "1")
