"""The assembler and its inverse: source text to object file, object file to source text.

Grammar, expressions, data, layout, ELF, disassembler, formatter, editor services.
"""
