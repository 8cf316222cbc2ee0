"""Compiled networks: makes them from models, stores them, runs them, reports on each layer."""
