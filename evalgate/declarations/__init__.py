"""Classes that say what a file may hold, declared as pydantic's are and read without loading it.

A run would spend a quarter of its start on pydantic and its classes, only to hear that a suite is right. So
the declarations are read by `checking`, which accepts what is surely right; whatever it is not sure of, and
every mistake, goes to the model that `full` makes of the same declarations. Type checkers are told that it is
all pydantic.
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
        """What a file may say: unknown keys, loose types and non-finite numbers are errors."""

        model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

        @classmethod
        def unsaid(cls) -> Self:
            """What it is where a file says nothing: the defaults."""
            return cast("Self", cls.model_construct())  # the plugin of mypy names the base class
else:
    from evalgate.declarations.closed import Closed
    from evalgate.declarations.marks import (
        AfterValidator,
        BeforeValidator,
        Discriminator,
        Field,
        Tag,
        WithJsonSchema,
    )

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
    """The pydantic model of a class declared here; any other model as it is."""
    from evalgate.declarations.full import model_of

    found: type[BaseModel] = model_of(declared)
    return found


def refusal() -> type[ValidationError]:
    """What `model_validate` raises; to be asked for where it is caught, for by then it is loaded."""
    from pydantic import ValidationError

    return ValidationError
