"""The machine as data: formats, fields, registers and instructions, without behaviour."""
