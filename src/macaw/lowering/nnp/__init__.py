"""Lowers ONNX models to programs of nnp, the matrix-vector processor (seed 003)."""
