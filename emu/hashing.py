"""The hash function of states. The first hash imports `hashlib`, which loads OpenSSL."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hashlib import blake2b as Hash  # noqa: N812 (a class)

    from _typeshed import ReadableBuffer


def blake2b(size: int, data: ReadableBuffer = b"") -> Hash:
    """Return a hash object of BLAKE2b for `data` and later updates; its digest has `size` bytes."""
    from hashlib import blake2b

    return blake2b(data, digest_size=size)
