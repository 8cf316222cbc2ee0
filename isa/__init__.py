"""The tables of all cores as data: word formats, fields, registers, instructions; no behaviour."""
