"""Timing rules that the emulator follows and that the lowering uses for its predictions.

The rules are functions and frozen records, which get all numbers from the caller. The modules here
have no state, know no core or device, and import only `macaw.isa`.
"""
