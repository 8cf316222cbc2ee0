"""Timing rules that the emulator follows and that the lowering uses for its predictions.

The rules are functions and frozen records, which get all numbers from the caller. Nothing here has
state, knows a core or a device, or imports anything but `macaw.isa`.
"""
