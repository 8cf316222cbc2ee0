"""The assembler, which turns source text into an object file, and the disassembler, its inverse.

The folder also has the formatter, the writers of ELF and C headers, and the services for editors.
"""
