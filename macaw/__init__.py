"""Macaw: assembler, disassembler and emulator of one neural-network device."""
