"""`NamedTuple` and `TypedDict` that do not compile the annotations of their fields.

The classes of the same names in the standard library make an object of each annotation, and compile
the annotation if it is a text. The modules that `macaw run` imports have hundreds of such fields,
which took a twentieth of a short run. In this module's classes, annotations must be texts, as `from
__future__ import annotations` makes them, and stay texts. Otherwise the classes are equal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
    from typing import TypedDict as TypedDict
else:
    from collections import namedtuple

    class _NamedTupleMeta(type):
        def __new__(meta, name, bases, namespace):
            """Return a named tuple with the annotated fields and other members of the class `name`.

            `namespace` has the annotations and members of the class; `bases` is not used.
            """
            annotations = namespace.pop("__annotations__", {})
            defaults = []
            for field in annotations:
                if field in namespace:
                    defaults.append(namespace.pop(field))
                elif defaults:
                    raise TypeError(f"{name}.{field} has no default, but the field before it has")
            module = namespace.pop("__module__")
            if any(field in namespace for field in ("__new__", "__init__", "__slots__")):
                raise AttributeError(f"{name} may not replace the constructor of a named tuple")
            made = namedtuple(name, annotations, defaults=defaults, module=module)
            made.__annotations__ = annotations
            for member, value in namespace.items():
                setattr(made, member, value)
            return made

    class _TypedDictMeta(type):
        def __call__(cls, *positional, **named):
            return dict(*positional, **named)

    NamedTuple = type.__new__(_NamedTupleMeta, "NamedTuple", (), {})
    TypedDict = _TypedDictMeta("TypedDict", (dict,), {})
