"""Timing rules that the emulator follows and the lowering predicts with.

Functions and frozen records over numbers that the caller holds: nothing here has state, knows a
core or a device, or imports anything but `macaw.isa`.
"""
