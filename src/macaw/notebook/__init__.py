"""Notebooks: HTML of runs, programs, profiles, devices and sessions, and the cell magic."""
