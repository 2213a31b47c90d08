"""Compiles the JSON Schemas of suites: a misspelt keyword or format, which JSON Schema ignores, is an error here."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from evalgate.evaluators.core.field_problems import FieldProblemError
from evalgate.measures.values.json_values import Schema, SchemaError, show

if TYPE_CHECKING:
    from collections.abc import Iterator


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


BY_NAME = _words("$defs definitions dependentSchemas patternProperties properties")
"""Keywords that hold schemas by names of the user's own."""
LISTED = _words("allOf anyOf oneOf prefixItems items")
SINGLE = _words("""
    additionalItems additionalProperties contains contentSchema else if items not propertyNames then unevaluatedItems
    unevaluatedProperties
""")
OTHERS = _words("""
    $anchor $comment $dynamicAnchor $dynamicRef $id $recursiveAnchor $recursiveRef $ref $schema $vocabulary
    const contentEncoding contentMediaType default dependencies dependentRequired deprecated description enum examples
    exclusiveMaximum exclusiveMinimum format id maxContains maxItems maxLength maxProperties maximum minContains
    minItems minLength minProperties minimum multipleOf pattern readOnly required title type uniqueItems writeOnly
    discriminator enumDescriptions enumNames example externalDocs markdownDescription nullable xml
""")
"""The other keywords of JSON Schema 2020-12 and of drafts before it, and those of OpenAPI and of editors."""
KEYWORDS = BY_NAME | LISTED | SINGLE | OTHERS
OWN = "x-"
"""How a keyword of the user's own begins."""
MEANT = {"min": "minimum", "max": "maximum", "regex": "pattern", "values": "enum", "fields": "properties"}
"""Keywords of other languages of schemas."""
KEYWORDS_OF = {
    "number": _words("maximum minimum exclusiveMaximum exclusiveMinimum multipleOf"),
    "string": _words("maxLength minLength pattern"),
    "array": _words("""
        additionalItems contains items maxContains maxItems minContains minItems prefixItems unevaluatedItems
        uniqueItems
    """),
    "object": _words("""
        additionalProperties dependencies dependentRequired dependentSchemas maxProperties minProperties
        patternProperties properties propertyNames required unevaluatedProperties
    """),
}
"""Keywords that let every value of another type through."""
OF_ALL_VALUES = _words("allOf anyOf items prefixItems then else additionalProperties properties patternProperties")
"""Keywords whose schemas a value has to fit."""
DEFINITIONS = _words("$defs definitions")
LOOSENING = _words("contains if not oneOf")
"""Keywords under which a stricter schema may let more through, also where it refers to a definition."""
FORMATS = _words("""
    date date-time duration email hostname idn-email idn-hostname ipv4 ipv6 iri iri-reference json-pointer regex
    relative-json-pointer time uri uri-reference uri-template uuid
""")
MIN_SIMILARITY = 0.75
MAX_DEPTH, MAX_LENGTH = 64, 200


def compile_schema(value: Any, field: str, shown: str = "", *, is_strict: bool = False) -> Schema:
    """Compiles the schema that a suite has in a field; `shown` ends the message about one that is no JSON Schema.

    A strict one judges formats, and a keyword of one type no other type fits, which JSON Schema lets through.

    Raises FieldProblemError. A keyword that resembles none of JSON Schema is one of the user's own.
    """
    try:
        schema = Schema(_limit_types(value, _list_limited(value)) if is_strict else value, judges_formats=is_strict)
    except SchemaError as error:
        raise FieldProblemError(field, f"{error}{shown}") from None
    for keyword in iter_unknown_keywords(value):
        if (meant := _find_meant(keyword)) is not None:
            message = f"JSON Schema has no keyword {show(keyword, 60)}, which would check nothing"
            raise FieldProblemError(field, message, f"did you mean `{meant}`?")
    for name in {each["format"] for each in _iter_schemas(value) if "format" in each} - FORMATS:
        if found := get_close_matches(name[:MAX_LENGTH].lower(), sorted(FORMATS), 1, MIN_SIMILARITY):
            message = f"JSON Schema has no format {show(name, 60)}, which would check nothing"
            raise FieldProblemError(field, message, f"did you mean `{found[0]}`?")
    return schema


def _list_limited(schema: Any) -> frozenset[str]:
    is_loose = any(not LOOSENING.isdisjoint(each) for each in _iter_schemas(schema))
    return OF_ALL_VALUES if is_loose else OF_ALL_VALUES | DEFINITIONS


def _limit_types(schema: Any, limited: frozenset[str], depth: int = 0) -> Any:
    """The schema with a type wherever its keywords are about a type and none is given; null fits below the top.

    So are the schemas under the `limited` keywords.

    >>> _limit_types({"properties": {"a": {"maximum": 9}}}, OF_ALL_VALUES)
    {'properties': {'a': {'maximum': 9, 'type': ['number', 'null']}}, 'type': ['object']}
    """
    if isinstance(schema, list):
        return [_limit_types(each, limited, depth) for each in schema]
    if not isinstance(schema, dict) or depth > MAX_DEPTH:
        return schema
    found = dict(schema)
    for keyword in limited & found.keys():
        value = found[keyword]
        is_named = keyword in BY_NAME and isinstance(value, dict)
        found[keyword] = (
            {name: _limit_types(each, limited, depth + 1) for name, each in value.items()}
            if is_named
            else _limit_types(value, limited, depth + 1)
        )
    types = [kind for kind, keywords in KEYWORDS_OF.items() if not keywords.isdisjoint(found)]
    if found.get("format") in FORMATS and "string" not in types:
        types.append("string")
    return {**found, "type": [*types, *(["null"] if depth else [])]} if types and "type" not in found else found


def _find_meant(keyword: str) -> str | None:
    by_form = {_normalize(each): each for each in sorted(KEYWORDS)}
    found = get_close_matches(_normalize(keyword), by_form, 1, MIN_SIMILARITY)
    return MEANT.get(keyword, by_form[found[0]] if found else None)


def _normalize(keyword: str) -> str:
    return keyword[:MAX_LENGTH].lower().replace("_", "")


def iter_unknown_keywords(schema: Any) -> Iterator[str]:
    """Yields the keywords of a schema and those inside that JSON Schema does not have.

    >>> list(iter_unknown_keywords({"properties": {"require": {"maxmum": 1}}, "x-note": ""}))
    ['maxmum']
    """
    for each in _iter_schemas(schema):
        yield from (keyword for keyword in each if keyword not in KEYWORDS and not keyword.startswith(OWN))


def _iter_schemas(schema: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Yields a schema and those inside."""
    if isinstance(schema, dict) and depth <= MAX_DEPTH:
        yield schema
        for keyword, value in schema.items():
            for inner in _list_inner(keyword, value):
                yield from _iter_schemas(inner, depth + 1)


def _list_inner(keyword: str, value: Any) -> list[Any]:
    """The schemas that the value of a keyword is or holds."""
    if keyword in BY_NAME and isinstance(value, dict):
        return [*value.values()]
    if isinstance(value, list):
        return value if keyword in LISTED else []
    return [value] if keyword in SINGLE else []
