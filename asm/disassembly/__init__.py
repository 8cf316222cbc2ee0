"""The parts of the disassembler: names of addresses, instructions, data.

They import neither lark nor numpy.
"""
