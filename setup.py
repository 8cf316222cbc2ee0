"""Where the packages are: links in src/macaw lead to the rooms at the top of the repository.

Where links are not kept (Windows, some archives) the rooms are mapped to their packages instead;
both ways make the same wheel. Everything else is in pyproject.toml.
"""

from pathlib import Path

from setuptools import find_namespace_packages, setup

ROOMS = ("isa", "asm", "emu", "debugger")
packages, places = find_namespace_packages("src", include=["macaw*"]), {"": "src"}
for room in ROOMS:
    if not Path("src", "macaw", room).is_dir():
        places[f"macaw.{room}"] = room
        inside = (f"{room}.{name}" for name in find_namespace_packages(room))
        packages += [f"macaw.{name}" for name in (room, *inside)]
setup(packages=packages, package_dir=places)
