"""The way back of `asm/forms`: one module a core, found by its name, that prints its directives.

They stand here and not there because a form of the assembler needs the grammar,
and disassembling must not load it.
"""
