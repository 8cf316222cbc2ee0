"""The fast engine of a row: it plans macs, combines beats, and simulates equal clusters
together.
"""
