"""What the machine is: formats, fields, registers and instructions as data. No behaviour."""
