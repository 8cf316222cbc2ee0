"""A `dataclass` decorator that compiles each method of a class when it is first called.

The decorator of the standard library compiles up to six methods when a class is defined. That took
a third of the time of `macaw asm` for a short source, and most of the methods are never called. The
modules of `isa`, `asm`, `emu`, `lowering` and `networks` use this decorator. Its options have the
same meaning as those of the standard library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    import dataclasses
    from functools import cache
    from threading import RLock
    from types import FunctionType

    _NONE = {"init": False, "repr": False, "eq": False}
    _OPTION = {"__repr__": "repr", "__eq__": "eq"}
    _PARAMETERS, _FIELDS = "__dataclass_params__", "__dataclass_fields__"
    _DECLARED = "__declared_fields__"  # defaults and annotations of a class before its analysis
    _LOCK = RLock()

    def dataclass(cls=None, /, *, frozen=False, eq=True, slots=False):
        """Return the class with the methods of a dataclass.

        The options `frozen`, `eq` and `slots` have the same meaning as in `dataclasses`. Fields of
        the types `InitVar` and `KW_ONLY` are not supported. Annotations must be texts, as `from
        __future__ import annotations` makes them.
        """
        if cls is None:
            return lambda item: dataclass(item, frozen=frozen, eq=eq, slots=slots)
        written = dict(vars(cls))
        own = _own_fields(cls, written)
        bases = [base for base in cls.__mro__[1:] if _PARAMETERS in vars(base)]
        if own is None or any(_DECLARED not in vars(base) for base in bases):
            made = _analysed(cls, bases, frozen=frozen, slots=slots)
        else:
            made = _declared(cls, bases, own, frozen=frozen, slots=slots)
        parameters = getattr(made, _PARAMETERS)
        parameters.init = parameters.repr = True
        parameters.eq, parameters.frozen = eq, frozen
        names = ["__init__", "__repr__", *(["__eq__"] if eq else [])]
        for name in names:
            if name not in written:
                setattr(made, name, _Stub(made, name, frozen))
        if eq and written.get("__hash__") is None:
            made.__hash__ = _Stub(made, "__hash__", frozen) if frozen else None
        if frozen:
            _guard(made)
            if slots:
                made.__getstate__, made.__setstate__ = _state, _set_state
        return made

    def _own_fields(cls, written):
        """Return the default, or `MISSING`, of each field that a class itself declares, by name.

        The result is None if the standard library has to analyse the class at once: to raise its
        errors, or to make a docstring for a class that has none. `written` has the attributes that
        the class body set.
        """
        if not cls.__doc__:
            return None
        own = {}
        for name, annotation in cls.__annotations__.items():
            if not isinstance(annotation, str):
                return None
            if annotation.startswith(("ClassVar", "typing.ClassVar")):
                continue
            default = own[name] = written.get(name, dataclasses.MISSING)
            if isinstance(default, dataclasses.Field):
                default = default.default
            if type(default).__hash__ is None:
                return None  # the standard library refuses mutable defaults
        return own

    def _analysed(cls, bases, *, frozen, slots):
        """Let the standard library analyse the fields of a class; return the class.

        The class gets no methods yet. `bases` are the dataclasses that it extends; `frozen` and
        `slots` are the options of `dataclass`.
        """
        # `dataclasses` requires `frozen` only if a base is frozen. Else `_guard` freezes the class.
        at_once = frozen and any(getattr(base, _PARAMETERS).frozen for base in bases)
        return dataclasses.dataclass(cls, **_NONE, slots=slots, frozen=at_once)

    def _declared(cls, bases, own, *, frozen, slots):
        """Return a class without methods; its fields are analysed when they are first needed.

        `bases` are the dataclasses that the class extends. Raises `TypeError` if one of them is
        frozen and the class is not, or the reverse. `own` has the default of each field that the
        class itself declares. `frozen` and `slots` are the options of `dataclass`.
        """
        for base in bases:
            if getattr(base, _PARAMETERS).frozen != frozen:
                kinds = ("non-frozen", "frozen") if not frozen else ("frozen", "non-frozen")
                message = "cannot inherit {} dataclass from a {} one"
                raise TypeError(message.format(*kinds))
        fields, annotations = {}, {}
        for base in reversed(bases):
            fields |= vars(base)[_DECLARED][0]
            annotations |= vars(base)[_DECLARED][1]
        fields |= own
        annotations |= {name: cls.__annotations__[name] for name in own}
        if slots:
            cls = _with_slots(cls, own)
        else:
            for name, default in own.items():
                if isinstance(default, dataclasses.Field):
                    if default.default is dataclasses.MISSING:
                        delattr(cls, name)
                    else:
                        setattr(cls, name, default.default)
        setattr(cls, _DECLARED, (fields, annotations))
        setattr(cls, _PARAMETERS, _Options(slots))
        setattr(cls, _FIELDS, _Fields(cls))
        cls.__match_args__ = tuple(
            name
            for name, default in fields.items()
            if not isinstance(default, dataclasses.Field)
            or (default.init and default.kw_only is not True)
        )
        return cls

    def _with_slots(cls, own):
        """Return a copy of a class with a slot for each field in `own` that no base has a slot for."""
        above = {name for base in cls.__mro__[1:] for name in vars(base).get("__slots__", ())}
        left_out = {*own, "__dict__", "__weakref__"}
        members = {name: value for name, value in vars(cls).items() if name not in left_out}
        members["__slots__"] = tuple(name for name in own if name not in above)
        made = type(cls)(cls.__name__, cls.__bases__, members)
        made.__qualname__ = cls.__qualname__
        return made

    class _Options:
        """The attribute `__dataclass_params__` of a class. Dask reads its `__slots__`."""

        __slots__ = (
            *("init", "repr", "eq", "frozen", "slots"),
            *("order", "unsafe_hash", "match_args", "kw_only", "weakref_slot"),
        )

        def __init__(self, slots):
            self.slots, self.match_args = slots, True
            self.order = self.unsafe_hash = self.kw_only = self.weakref_slot = False

    class _Fields:
        """The attribute `__dataclass_fields__` of a class, analysed when it is first read."""

        def __init__(self, cls):
            self._cls = cls

        def __get__(self, item, owner):
            with _LOCK:
                if vars(self._cls)[_FIELDS] is self:
                    model = _model(self._cls, *_declaration(self._cls))
                    dataclasses.dataclass(model, **_NONE)
                    setattr(self._cls, _FIELDS, getattr(model, _FIELDS))
            return vars(self._cls)[_FIELDS]

    def _model(cls, defaults, annotations):
        """Return a class that has the fields of `cls` and no other members.

        The standard library analyses this class. `defaults` and `annotations` have the default and
        the type of each field, by name.
        """
        members = {
            name: default
            for name, default in defaults.items()
            if default is not dataclasses.MISSING
        }
        members["__annotations__"] = annotations
        members["__module__"], members["__doc__"] = cls.__module__, "a class of the same fields"
        model = type(cls.__name__, (), members)
        model.__qualname__ = cls.__qualname__
        return model

    class _Stub:
        """An attribute that, when first read, replaces itself by the compiled method `name`.

        `frozen` is the option of `dataclass`.
        """

        def __init__(self, cls, name, frozen):
            self._cls, self._name, self._frozen = cls, name, frozen

        def __get__(self, item, owner=None):
            with _LOCK:
                if vars(self._cls)[self._name] is self:
                    setattr(self._cls, self._name, _method(self._cls, self._name, self._frozen))
            return vars(self._cls)[self._name].__get__(item, owner)

    def _method(cls, name, frozen):
        """Return the compiled method `name` of a class.

        `dataclasses` makes `__repr__` and `__eq__`. `frozen` is the option of `dataclass`.
        """
        if name == "__init__":
            return _init(cls, frozen)
        if name == "__hash__":
            return _hash(cls)
        model = _model(cls, *_declaration(cls))
        dataclasses.dataclass(model, **{**_NONE, _OPTION[name]: True})
        return vars(model)[name]

    def _hash(cls):
        """Return the method `__hash__` of a class."""
        names = {}
        for place, (name, field) in enumerate(_parameters(cls)):
            if field.compare if field.hash is None else field.hash:
                names[f"_item_{place}"] = name
        values = "".join(f"self.{item}, " for item in names)
        return _function(cls, f"def __hash__(self):\n  return hash(({values}))", names, {})

    class _Factory:
        """The default of a parameter whose field has a `default_factory`, for `help`."""

        def __repr__(self):
            return "<factory>"

    def _init(cls, frozen):
        """Return the method `__init__` of a class; `frozen` is the option of `dataclass`.

        Raises `TypeError` if a field without default follows one with a default.
        """
        known = {"_set": object.__setattr__, "_MADE": _Factory()}
        order = sorted(_parameters(cls), key=lambda field: field[1].kw_only is True)
        names, parameters, lines = {}, ["self"], []
        defaults, keyword_defaults = [], {}
        for place, (name, field) in enumerate(order):
            item, given = f"_item_{place}", f"_given_{place}"
            names[item], value, default = name, item, field.default
            if field.default_factory is not dataclasses.MISSING:
                known[given], default = field.default_factory, known["_MADE"]
                value = f"{given}() if {item} is _MADE else {item}" if field.init else f"{given}()"
            elif not field.init:
                if default is dataclasses.MISSING:
                    continue  # `__post_init__` sets it
                known[given], value = default, given
            if field.init:
                parameters += ["*"] if field.kw_only is True and "*" not in parameters else []
                parameters.append(item)
                if field.kw_only is True:
                    keyword_defaults[name] = default
                elif default is not dataclasses.MISSING:
                    defaults.append(default)
                elif defaults:
                    raise TypeError(f"non-default argument {name!r} follows default argument")
            lines.append(f"_set(self, {item!r}, {value})" if frozen else f"self.{item} = {value}")
        lines.append("self.__post_init__()" if hasattr(cls, "__post_init__") else "pass")
        text = f"def __init__({', '.join(parameters)}):\n  " + "\n  ".join(lines)
        method = _function(cls, text, names, known)
        method.__defaults__ = tuple(defaults)
        method.__kwdefaults__ = {
            name: default
            for name, default in keyword_defaults.items()
            if default is not dataclasses.MISSING
        }
        return method

    def _function(cls, text, names, known):
        """Return the method of a class that `text` defines.

        The text calls the fields by their places, so classes with equal numbers of fields share it
        and its code. `names` gives the names of the fields; `known` has the globals of the method.
        """
        code = _compiled(text)
        variables, attributes, constants = (
            tuple(names.get(item, item) for item in items)
            for items in (code.co_varnames, code.co_names, code.co_consts)
        )
        renamed = {"co_varnames": variables, "co_names": attributes, "co_consts": constants}
        method = FunctionType(code.replace(**renamed), known)
        method.__qualname__ = f"{cls.__qualname__}.{method.__name__}"
        method.__module__ = cls.__module__
        return method

    @cache
    def _compiled(text):
        """Return the code of the function that `text` defines."""
        made = {}
        exec(text, {}, made)
        (function,) = made.values()
        return function.__code__

    def _declaration(cls):
        """Return the default and the type of each field of a class, by name.

        The standard library has not analysed the class before, unless it had to do so at once.
        """
        if _DECLARED in vars(cls):
            return vars(cls)[_DECLARED]
        fields = dataclasses.fields(cls)
        return {field.name: field for field in fields}, {field.name: field.type for field in fields}

    def _parameters(cls):
        """Return (name, `Field`) for each field of a class, without analysing the class."""
        return [
            (name, default if isinstance(default, dataclasses.Field) else _with_default(default))
            for name, default in _declaration(cls)[0].items()
        ]

    _REQUIRED = dataclasses.field()

    def _with_default(default):
        return _REQUIRED if default is dataclasses.MISSING else dataclasses.field(default=default)

    def _guard(cls):
        """Make assignments to attributes of a class's objects an error (a frozen dataclass)."""
        names = frozenset(_declaration(cls)[0])

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
