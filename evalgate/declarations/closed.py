"""The base class of declared models. Methods that pydantic has too have the same names."""

from __future__ import annotations

from typing import Any, NoReturn, Self

from evalgate.declarations.checking import UncertainValueError
from evalgate.declarations.declared import Declaration


class Closed(Declaration):
    """Base of models of files: unknown keys, wrong types and non-finite numbers are errors."""

    def __init__(self, **values: Any) -> None:
        vars(self).update(vars(self.model_validate(values)))

    @classmethod
    def model_validate(cls, value: Any) -> Self:
        """Validates the content of a file. Raises pydantic's ValidationError with every error."""
        try:
            return cls.read_surely(value)
        except UncertainValueError:
            from evalgate.declarations.full import validate

            found: Self = validate(cls, value)
            return found

    @classmethod
    def from_defaults(cls) -> Self:
        """The model with all defaults, as for an empty file."""
        return cls.from_content({}, set())

    @classmethod
    def model_json_schema(cls, **options: Any) -> dict[str, Any]:
        """The JSON Schema of the file."""
        from evalgate.declarations.full import schema_of

        return schema_of(cls, options)

    def model_dump(self, *, exclude_unset: bool = False) -> dict[str, Any]:
        """The content as plain mappings and lists."""
        names = [name for name in self.model_fields if not exclude_unset or name in self.model_fields_set]
        return {name: _plain(getattr(self, name), exclude_unset=exclude_unset) for name in names}

    def model_copy(self, *, update: dict[str, Any]) -> Self:
        """A copy with `update`, which is not validated."""
        content = {name: getattr(self, name) for name in self.model_fields}
        return self.from_content({**content, **update}, self.model_fields_set | update.keys())

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{name} of a {type(self).__name__} can't be changed")

    def __eq__(self, other: object) -> Any:
        return self._values() == other._values() if type(self) is type(other) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(getattr(self, name) for name in self.model_fields))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.model_fields)
        return f"{type(self).__name__}({fields})"

    def _values(self) -> tuple[Any, ...]:
        return self.model_fields_set, *(getattr(self, name) for name in self.model_fields)


def _plain(value: Any, *, exclude_unset: bool) -> Any:
    if isinstance(value, Closed):
        return value.model_dump(exclude_unset=exclude_unset)
    if isinstance(value, list):
        return [_plain(each, exclude_unset=exclude_unset) for each in value]
    if isinstance(value, dict):
        return {name: _plain(each, exclude_unset=exclude_unset) for name, each in value.items()}
    return value
