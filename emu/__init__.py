"""The emulator: state, time, memory and what instructions do."""
