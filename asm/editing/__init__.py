"""The services for editors: they answer questions about a program, for any editor and protocol."""
