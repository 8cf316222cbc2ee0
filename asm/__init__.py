"""Text to object file and back: grammar, expressions, data, layout, ELF, disassembler."""
