"""Runs a program, an operation or a network on many devices that differ in settings."""
