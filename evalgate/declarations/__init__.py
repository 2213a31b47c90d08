"""Models of files, declared in pydantic's syntax and validated without loading pydantic.

Loading pydantic and its models would take a quarter of a run's start, only to find that a suite is valid. So
`checking` reads the declarations and accepts what is certainly valid; anything uncertain, and every error,
goes to the pydantic model that `full` makes of the same declarations. Type checkers see pydantic.

Entry points: `closed.Closed`, `marks.Field`, `full_model`, `refusal`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Self, cast

    from pydantic import (
        AfterValidator,
        BaseModel,
        BeforeValidator,
        ConfigDict,
        Discriminator,
        Field,
        Tag,
        ValidationError,
        WithJsonSchema,
    )

    class Closed(BaseModel):
        """Base of models of files: unknown keys, wrong types and non-finite numbers are errors."""

        model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

        @classmethod
        def from_defaults(cls) -> Self:
            """The model with all defaults, as for an empty file."""
            return cast("Self", cls.model_construct())  # the plugin of mypy names the base class
else:
    from evalgate.declarations.closed import Closed
    from evalgate.declarations.marks import AfterValidator, BeforeValidator, Discriminator, Field, Tag, WithJsonSchema

__all__ = [
    "AfterValidator",
    "BeforeValidator",
    "Closed",
    "Discriminator",
    "Field",
    "Tag",
    "WithJsonSchema",
    "full_model",
    "refusal",
]


def full_model(declared: type[BaseModel]) -> type[BaseModel]:
    """The pydantic model of a declared class; any other model unchanged."""
    from evalgate.declarations.full import model_of

    found: type[BaseModel] = model_of(declared)
    return found


def refusal() -> type[ValidationError]:
    """The error that `model_validate` raises; call it in the `except` clause: by then pydantic is loaded."""
    from pydantic import ValidationError

    return ValidationError
