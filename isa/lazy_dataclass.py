"""A `dataclass` that compiles each method when it is first called, since most are never called.

The standard library's decorator writes and compiles up to six methods when a class is defined. That
took a third of the time of `macaw asm` for a short source. Here the standard library analyses the
class and makes its slots at once. The modules of `isa` and `asm` use this decorator. Its options
mean the same as in the standard library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    import dataclasses
    from threading import RLock

    _NONE = {"init": False, "repr": False, "eq": False}
    _OPTION = {"__repr__": "repr", "__eq__": "eq", "__hash__": "unsafe_hash"}
    _PARAMETERS = "__dataclass_params__"
    _LOCK = RLock()

    def dataclass(cls=None, /, *, frozen=False, eq=True, slots=False):
        """Return the class with the methods of a dataclass; the options are those of dataclasses.

        Fields are not of the types `InitVar` and `KW_ONLY`.
        """
        if cls is None:
            return lambda item: dataclass(item, frozen=frozen, eq=eq, slots=slots)
        written = dict(vars(cls))
        # Only a class that extends a frozen one must be frozen at once.
        bases = [getattr(base, _PARAMETERS, None) for base in cls.__mro__[1:]]
        at_once = frozen and any(base is not None and base.frozen for base in bases)
        made = dataclasses.dataclass(cls, **_NONE, slots=slots, frozen=at_once)
        parameters = getattr(made, _PARAMETERS)
        parameters.init = parameters.repr = True
        parameters.eq, parameters.frozen = eq, frozen
        names = ["__init__", "__repr__", *(["__eq__"] if eq else [])]
        for name in names:
            if name not in written:
                setattr(made, name, _stub(made, name, frozen))
        if eq and written.get("__hash__") is None:
            made.__hash__ = _stub(made, "__hash__", frozen) if frozen else None
        if frozen:
            _guard(made)
            if slots:
                made.__getstate__, made.__setstate__ = _state, _set_state
        return made

    def _stub(cls, name, frozen):
        """Return a method that replaces itself in the class, and then does what is asked."""

        def method(self, *positional, **named):
            with _LOCK:
                if vars(cls)[name] is method:
                    setattr(cls, name, _method(cls, name, frozen))
            return getattr(cls, name)(self, *positional, **named)

        method.__name__, method.__qualname__ = name, f"{cls.__qualname__}.{name}"
        return method

    def _method(cls, name, frozen):
        """Return a method of a class: `__init__` of our own, others as dataclasses makes them."""
        if name == "__init__":
            return _init(cls, frozen)
        fields = dataclasses.fields(cls)
        members = {field.name: field for field in fields}
        members["__annotations__"] = {field.name: field.type for field in fields}
        members["__module__"], members["__doc__"] = cls.__module__, "a class of the same fields"
        model = type(cls.__name__, (), members)
        model.__qualname__ = cls.__qualname__
        wanted = {**_NONE, _OPTION[name]: True}
        wanted["eq"] |= name == "__hash__"
        dataclasses.dataclass(model, **wanted)
        return vars(model)[name]

    def _init(cls, frozen):
        """Return the method `__init__` of a class."""
        known = {"_set": object.__setattr__, "_MADE": object()}
        order = sorted(dataclasses.fields(cls), key=lambda field: field.kw_only)
        parameters, lines = ["self"], []
        for place, field in enumerate(order):
            name, value, default = field.name, field.name, f"_default_{place}"
            if field.init:
                parameters += ["*"] if field.kw_only and "*" not in parameters else []
                parameters.append(name)
            if field.default_factory is not dataclasses.MISSING:
                known[default] = field.default_factory
                value = (
                    f"{default}() if {name} is _MADE else {name}" if field.init else f"{default}()"
                )
                parameters[-1] += "=_MADE" if field.init else ""
            elif field.default is not dataclasses.MISSING:
                known[default] = field.default
                parameters[-1] += f"={default}" if field.init else ""
                value = value if field.init else default
            elif not field.init:
                continue  # `__post_init__` gives it
            lines.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
        lines.append("self.__post_init__()" if hasattr(cls, "__post_init__") else "pass")
        text = f"def __init__({', '.join(parameters)}):\n  " + "\n  ".join(lines)
        made = {}
        exec(text, known, made)
        method = made["__init__"]
        method.__qualname__, method.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
        return method

    def _guard(cls):
        """Make the objects of a class refuse new values of fields, and new attributes."""
        names = frozenset(cls.__dataclass_fields__)

        def __setattr__(self, name, value):  # noqa: N807 (a method of the class)
            if type(self) is cls or name in names:
                raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
            super(cls, self).__setattr__(name, value)

        def __delattr__(self, name):  # noqa: N807 (a method of the class)
            if type(self) is cls or name in names:
                raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
            super(cls, self).__delattr__(name)

        cls.__setattr__, cls.__delattr__ = __setattr__, __delattr__

    def _state(self):
        return [getattr(self, field.name) for field in dataclasses.fields(self)]

    def _set_state(self, state):
        for field, value in zip(dataclasses.fields(self), state, strict=True):
            object.__setattr__(self, field.name, value)
