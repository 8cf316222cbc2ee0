"""The modules of the disassembler: names of addresses, lines of instructions, lines of data.

They import neither lark nor numpy.
"""
