"""Notebooks: shows runs, programs, profiles, devices and sessions as HTML; adds the cell magic."""
