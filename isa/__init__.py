"""The machine as data: formats, fields, registers and instructions. No behaviour."""
