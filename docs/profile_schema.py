"""Makes the JSON Schema of profiles from their dataclasses: types, docstrings, comments of fields.

`make docs` writes it to src/macaw/profiling/profile.schema.json.
"""

from __future__ import annotations

import ast
import inspect
import io
import json
import tokenize
from collections.abc import Mapping
from dataclasses import is_dataclass
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

PLAIN = {int: "integer", float: "number", str: "string", bool: "boolean"}


def text() -> str:
    """Return the schema as the text of a file."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"


def schema() -> dict[str, Any]:
    """Return the schema of a profile; its classes are definitions."""
    from macaw.profiling.model import FORMAT, KIND, Profile

    definitions: dict[str, dict[str, Any]] = {}
    _define(Profile, definitions)
    profile = definitions.pop(Profile.__name__)
    profile["properties"] = {
        "kind": {"const": KIND},
        "format": {"const": FORMAT, "description": "version of the JSON format"},
        **profile["properties"],
    }
    profile["required"] = list(profile["properties"])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "profile of Macaw",
        **profile,
        "$defs": dict(sorted(definitions.items())),
    }


def _define(kind: type, definitions: dict[str, dict[str, Any]]) -> None:
    """Add the definitions of a dataclass and of the classes of its fields."""
    definitions[kind.__name__] = {}  # a class may contain itself
    comments, hints = _comments(kind), get_type_hints(kind)
    properties = {}
    for name, hint in hints.items():
        properties[name] = _of_type(hint, definitions)
        if name in comments:
            properties[name] = {**properties[name], "description": comments[name]}
    definitions[kind.__name__] |= {
        "description": " ".join((inspect.getdoc(kind) or "").split()),
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _of_type(hint: Any, definitions: dict[str, dict[str, Any]]) -> dict[str, Any]:
    origin, parts = get_origin(hint), get_args(hint)
    if isinstance(hint, UnionType):
        (kind,) = (part for part in parts if part is not NoneType)
        return {"anyOf": [_of_type(kind, definitions), {"type": "null"}]}
    if origin is tuple and parts[-1] is Ellipsis:
        return {"type": "array", "items": _of_type(parts[0], definitions)}
    if origin is tuple:
        items = [_of_type(part, definitions) for part in parts]
        return {"type": "array", "prefixItems": items, "items": False, "minItems": len(items)}
    if origin is Mapping:
        return {"type": "object", "additionalProperties": _of_type(parts[1], definitions)}
    if isinstance(hint, type) and is_dataclass(hint):
        if hint.__name__ not in definitions:
            _define(hint, definitions)
        return {"$ref": f"#/$defs/{hint.__name__}"}
    return {"type": PLAIN[hint]}


def _comments(kind: type) -> dict[str, str]:
    """Return the comments of a dataclass's fields, at the end of the field or above it."""
    source = inspect.getsource(kind)
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    at_line = {
        token.start[0]: (token.string.lstrip("# "), not token.line[: token.start[1]].strip())
        for token in tokens
        if token.type == tokenize.COMMENT
    }
    (class_,) = ast.parse(source).body
    assert isinstance(class_, ast.ClassDef)
    comments = {}
    for field in class_.body:
        if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
            continue
        words, _ = at_line.get(field.end_lineno or field.lineno, ("", False))
        above, is_alone = at_line.get(field.lineno - 1, ("", False))
        if words or is_alone:
            comments[field.target.id] = words or above
    return comments
