"""The modules of the disassembler: names of addresses, lines of instructions, lines of data.

These modules import neither lark nor numpy.
"""
