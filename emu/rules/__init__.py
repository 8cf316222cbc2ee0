"""Timing rules that the emulator follows and that the lowering uses for its predictions.

They are functions and frozen records over the caller's numbers. Nothing here has state, knows a
core or a device, or imports anything but `macaw.isa`.
"""
