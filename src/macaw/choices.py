"""Options whose words a table has: it is read when somebody asks for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    _Type = click.ParamType[str]
else:
    _Type = click.ParamType  # older versions of click cannot be subscripted


class LazyChoice(_Type):
    """One of the words that `find` gives; the group's `--help` does not ask for them."""

    name = "choice"

    def __init__(self, find: Callable[[], Sequence[str]]) -> None:
        self._find = find

    def _choice(self) -> click.Choice[str]:
        return click.Choice(list(self._find()))

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The word. Fails with the words that there are."""
        return str(self._choice().convert(value, param, ctx))

    def get_metavar(self, param: click.Parameter, *more: Any, **named: Any) -> str | None:
        """The words, as in a synopsis; what older versions of click do not give is passed on."""
        return self._choice().get_metavar(param, *more, **named)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[Any]:
        """The words that begin so."""
        return list(self._choice().shell_complete(ctx, param, incomplete))
