"""Read ONNX models as frozen graphs; fuse, quantise and evaluate them."""
