"""The parts of the disassembler: names of addresses, instructions, data. Neither lark nor numpy."""
