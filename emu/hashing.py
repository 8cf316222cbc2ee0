"""The hash function of states. The first hash imports `hashlib`, which loads OpenSSL."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import hashlib

    from _typeshed import ReadableBuffer


def blake2b(size: int, data: ReadableBuffer = b"") -> hashlib.blake2b:
    """Return a hash object of BLAKE2b for `data` and later updates; its digest has `size` bytes."""
    from hashlib import blake2b

    return blake2b(data, digest_size=size)
