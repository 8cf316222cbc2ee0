"""`NamedTuple` and `TypedDict` that do not compile the annotations of their fields.

The classes of the same names in the standard library make an object of each annotation, and compile
the annotation if it is a text. The modules that `macaw run` imports have hundreds of such fields,
which took a twentieth of a short run. In this module's classes, annotations must be texts, as `from
__future__ import annotations` makes them, and stay texts. Named tuples with equal numbers of fields
share their compiled constructor. `_make` takes two thirds of the time of a call of the class, and
does not check the number of values. Otherwise the classes are equal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
    from typing import TypedDict as TypedDict
else:
    from collections import namedtuple
    from functools import cache
    from types import FunctionType

    class _NamedTupleMeta(type):
        def __new__(meta, name, bases, namespace):
            """Return a named tuple with the annotated fields and other members of the class `name`.

            `namespace` has the annotations and members of the class; `bases` is not used.
            """
            annotations = namespace.pop("__annotations__", {})
            defaults = {}
            for field in annotations:
                if field in namespace:
                    defaults[field] = namespace.pop(field)
                elif defaults:
                    raise TypeError(f"{name}.{field} has no default, but the field before it has")
            module = namespace.pop("__module__")
            if any(field in namespace for field in ("__new__", "__init__", "__slots__")):
                raise AttributeError(f"{name} may not replace the constructor of a named tuple")
            fields, template = tuple(annotations), _template(len(annotations))
            members = dict(vars(template))
            getters = [members.pop(item) for item in template._fields]
            members |= {
                "__annotations__": annotations,
                "__doc__": f"{name}({', '.join(fields)})",
                "__match_args__": fields,
                "__module__": module,
                "__new__": _constructor(template, name, fields, defaults),
                "__replace__": _replace,
                "__repr__": _text,
                "_field_defaults": defaults,
                "_fields": fields,
                "_replace": _replace,
            }
            members |= zip(fields, getters, strict=True)
            return type(name, (tuple,), members | namespace)

    @cache
    def _template(count):
        """Return a named tuple whose members serve all with as many fields, to compile them once."""
        template = namedtuple("_Template", [f"item_{place}" for place in range(count)])
        template._make = classmethod(tuple.__new__)
        return template

    def _constructor(template, name, fields, defaults):
        """Return the method `__new__` of the class `name`: that of `template`, with its fields."""
        made = template.__new__
        code = made.__code__.replace(co_varnames=("_cls", *fields))
        method = FunctionType(code, made.__globals__, "__new__", tuple(defaults.values()))
        method.__qualname__ = f"{name}.__new__"
        return method

    def _text(self):
        values = ", ".join(
            f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True)
        )
        return f"{type(self).__name__}({values})"

    def _replace(self, /, **changed):
        made = self._make(map(changed.pop, self._fields, self))
        if changed:
            raise TypeError(f"Got unexpected field names: {list(changed)!r}")
        return made

    class _TypedDictMeta(type):
        def __call__(cls, *positional, **named):
            return dict(*positional, **named)

    NamedTuple = type.__new__(_NamedTupleMeta, "NamedTuple", (), {})
    TypedDict = _TypedDictMeta("TypedDict", (dict,), {})
