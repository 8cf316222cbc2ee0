"""Shortens the names of source files without making two of them equal."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import PurePath


@cache
def short_file_names(files: tuple[str, ...]) -> Mapping[str, str]:
    """Return for each file the shortest end of its path that is not the end of another path.

    The name has at least the last part of the path: `layer.s`, or `a/layer.s` if there is also
    `b/layer.s`.
    """
    paths = {file: PurePath(file).parts for file in files}
    short: dict[str, str] = {}
    for file, parts in paths.items():
        others = [other for name, other in paths.items() if name != file and other != parts]
        count = 1
        while count < len(parts) and any(other[-count:] == parts[-count:] for other in others):
            count += 1
        short[file] = PurePath(*parts[-count:]).as_posix() if parts else file
    return short
