"""Compares the result of a version of the program with that of NumPy: python check.py PROGRAM."""

import sys

import numpy as np

import macaw

run = macaw.run(sys.argv[1], x=np.load("x.npy"))
wrong = np.count_nonzero(run.outputs["y"] != np.load("golden.npy"))
print(f"{wrong} of {run.outputs['y'].size} elements of y are wrong")
sys.exit(bool(wrong))
