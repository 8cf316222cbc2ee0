"""Golden folders as pytest tests."""
