"""The emulator: it simulates the cores, the memory and the clock of a device, cycle by cycle."""
