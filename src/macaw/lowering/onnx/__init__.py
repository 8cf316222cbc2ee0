"""Reads ONNX models as frozen graphs; fuses, quantises and evaluates them."""
