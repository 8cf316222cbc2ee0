"""Answers an editor's questions about a program, without any editor and any protocol."""
