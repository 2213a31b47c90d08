"""Checks of what a run left behind: values after it, records that stayed as they were, files that changed.

A trace that does not record it is not_evaluable.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from evalgate.evaluators.core.evaluator import MANY, MAX_TOOLS, Check, Count, Evaluator, Finding, Order, wrap_in_list
from evalgate.evaluators.core.field_problems import FieldProblemError
from evalgate.evaluators.core.queries import compile_query
from evalgate.evaluators.kinds.jmespath import ITS_VALUE, MAX_EXPRESSION, QueryAssertion, judge_readings
from evalgate.measures.sequences.differences import ABSENT, PlaceChange, format_path, list_changes
from evalgate.measures.text.globs import GlobError, compile_file_glob, matches_id
from evalgate.measures.text.plain_text import compose, remove_unseen
from evalgate.measures.values.json_values import mark_name, mark_value, shorten
from evalgate.strict_model import described

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from evalgate.evaluators.core.operators import ValueCheck
    from evalgate.models.run.run import Outcome
    from evalgate.models.trace.trace import FileState, RunState, Trace

MOST_NAMED = 3
"""Changes that a reason names."""
MOST_LISTED = 20
"""Changes that the evidence lists."""
NO_STATE = "no state of the run is recorded: `evalgate record --state` records it"
NO_FILES = "no files of the run are recorded: `evalgate record --state-files` records them"
EMPTY = "the recorded state is empty before and after the run, so nothing shows that it would have changed"

_INDEX = re.compile(r"\[(\d+|\*)\]")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_DOT = "\0"  # a dot within a key
_OUTSIDE = re.compile(r"/|\.\./|[A-Za-z]:/")

Text = Annotated[str, Field(min_length=1, max_length=512)]
Texts = Annotated[
    list[Text],
    BeforeValidator(wrap_in_list, json_schema_input_type=Text | list[Text]),
    Field(max_length=MAX_TOOLS),
]


class StateAssertion(QueryAssertion):
    """What `path` finds in the state after the run compares as the operator demands.

    `path` is a JMESPath expression; in `part: files` the paths of files lead to their `text`, `sha256` and `change`.
    """

    type: Literal["state"]  # type: ignore[assignment]
    version = 3  # 2: `ne`, `not_in` and negated checks find what looks the same; 3: text that is a number
    expression: Annotated[
        str, Field(alias="path"), described("A JMESPath expression over the state after the run.", "orders.A7.status")
    ]
    part: Annotated[
        Literal["after", "before", "files"], described("Which part of the state it reads: `after` the run.", "files")
    ] = "after"

    def label(self) -> str:
        """The check in words."""
        return f"{'state' if self.part == 'after' else f'state ({self.part})'} {super().label()}"

    def _compile(self, find_problem: ValueCheck, decisive: Outcome) -> Check:
        query, part = compile_query(self.expression, "path", reads="record"), self.part
        shown = " ".join(self.expression.split())
        subject = mark_name(shown) if len(shown) <= MAX_EXPRESSION else ITS_VALUE
        getters = [_read_part(part, each.search_value) for each in query.list_readings()]
        judge = judge_readings([self._build_judge(each, subject, find_problem) for each in getters], decisive)
        missing = Finding("not_evaluable", NO_FILES if part == "files" else NO_STATE)
        return lambda trace: judge(trace) if part in _parts_of(trace) else missing

    def _finds_size(self) -> bool:
        return False


def _read_part(part: str, search: Callable[[Any], Any]) -> Callable[[Trace], Any]:
    return lambda trace: search(_parts_of(trace)[part])


def _parts_of(trace: Trace) -> Mapping[str, Any]:
    return trace.state or {}


class StateUnchanged(Evaluator):
    """The state after the run is that before it, but for what is below one of the paths in `except`.

    A path has names with dots between, as `orders.A7`; `*` matches any characters. Files are not part of it.
    """

    type: Literal["state_unchanged"]
    orders: ClassVar[dict[str, Order]] = {"except_": "excepted"}
    except_: Annotated[
        Texts,
        Field(alias="except"),
        described("What may change; `*` matches any characters.", ["orders.A7", "log.*"]),
    ] = []

    def label(self) -> str:
        """The check in words."""
        return "state unchanged" + (f" except {shorten(', '.join(self.except_), 60)}" if self.except_ else "")

    def compile(self) -> Check:
        """Returns a comparison of both states; raises FieldProblemError if every change is excepted."""
        excepted = [*map(_write_dotted, self.except_)]
        if any(not each.strip("*") for each in excepted):
            raise FieldProblemError("except", "`*` excepts every change, so that the check can't fail", "name paths")
        passed, missing = Finding("passed", self.label()), Finding("not_evaluable", NO_STATE)
        empty = Finding("not_evaluable", EMPTY)

        def check(trace: Trace) -> Finding:
            changes = list_changes(trace.state)
            if changes is None:
                return missing
            if not changes and _is_empty(trace.state):
                return empty
            excepts = _find_excepts(excepted, trace.state or {})
            found = [each for each in changes if not excepts(each.path)]
            if not found:
                return passed
            paths = [format_path(each.path) for each in found[:MOST_LISTED]]
            return Finding("failed", _join(map(_describe, found[:MOST_NAMED]), len(found)), {"changed": paths})

        return check


def _is_empty(state: RunState | None) -> bool:
    return state is not None and "after" in state and not state["after"] and not isinstance(state["after"], bool | int)


def _find_excepts(excepted: Sequence[str], state: RunState) -> Callable[[Sequence[str | int]], bool]:
    """Tells whether a path is excepted; keys with dots need no quotes where no other path is meant."""
    sides = [state.get("before"), state.get("after")]
    plain = {each for each in excepted if not any(_leads_somewhere(side, each.split(".")) for side in sides)}

    def excepts(path: Sequence[str | int]) -> bool:
        keys = [*map(str, path)]
        starts = [keys[:count] for count in range(1, len(keys) + 1)]
        marked = [".".join(key.replace(".", _DOT) for key in start) for start in starts]
        return not plain.isdisjoint(map(".".join, starts)) or any(
            matches_id(each, start) for each in excepted for start in marked
        )

    return excepts


def _leads_somewhere(value: Any, keys: Sequence[str]) -> bool:
    return not keys or (isinstance(value, dict) and keys[0] in value and _leads_somewhere(value[keys[0]], keys[1:]))


def _write_dotted(path: str) -> str:
    """A JMESPath with a dot before every name and index, and without quotes."""
    return _QUOTED.sub(lambda found: found[1].replace(".", _DOT), _INDEX.sub(r".\1", path))


def _describe(change: PlaceChange) -> str:
    what = mark_name(format_path(change.path)) if change.path else "the state"
    if change.before is ABSENT:
        return f"{what} was added: {mark_value(change.after, 40)}"
    if change.after is ABSENT:
        return f"{what} was removed: {mark_value(change.before, 40)}"
    return f"{what} changed from {mark_value(change.before, 40)} to {mark_value(change.after, 40)}"


def _join(shown: Iterable[str], count: int) -> str:
    more = count - MOST_NAMED
    return "; ".join([*shown, *([f"and {more:,} more"] if more > 0 else [])])


class FilesChanged(Evaluator):
    """The files that the run added, changed or removed match `only`, none matches `never`, and they are `max` at most.

    `*` and `?` stay within a folder, `**` crosses folders. A folder's name means all below it.
    """

    type: Literal["files_changed"]
    version = 2  # folders' names, and other spellings of a path
    orders: ClassVar[dict[str, Order]] = {"only": "allowed_paths", "never": "forbidden_paths", "max": "at_most"}
    no_limit: ClassVar = {"max": MANY}
    only: Annotated[Texts | None, described("Globs of the files that may change; `[]` allows none.", ["src/**"])] = None
    never: Annotated[Texts | None, described("Globs of files that must not change.", [".github/**"])] = None
    max: Annotated[Count | None, described("The maximum number of files that change.", 10)] = None

    def label(self) -> str:
        """The check in words."""
        lists = [(name, each) for name, each in (("only", self.only), ("never", self.never)) if each is not None]
        rules = [f"{name} {', '.join(each) or 'none'}" for name, each in lists]
        rules += [] if self.max is None else [f"<= {self.max:,}"]
        return f"files changed {shorten('; '.join(rules), 80)}"

    def holds_always(self) -> bool:
        """Whether no change of any file fails it."""
        is_open = self.only is None or not {"**", "**/*"}.isdisjoint(self.only)
        return is_open and not self.never and (self.max is None or self.max >= MANY)

    def compile(self) -> Check:
        """Returns a check of the paths of changed files; raises FieldProblemError if no change can fail it."""
        if self.holds_always():
            raise FieldProblemError("type", "files_changed needs `only`, `never` or `max` that a change can fail")
        only = _compile_globs("only", self.only)
        never = _compile_globs("never", [each.lstrip("/\\") for each in self.never or ()])
        missing = Finding("not_evaluable", NO_FILES)

        def check(trace: Trace) -> Finding:
            if trace.state is None or "files" not in trace.state:
                return missing
            changed = _list_changed(trace.state["files"])
            wrong = [f"{each} against `never`" for path, each in changed if _matches(_list_forms(path), never)]
            if self.only is not None:
                wrong += [f"{each} outside of `only`" for path, each in changed if not _matches([path], only)]
            if self.max is not None and len(changed) > self.max:
                wrong.append(f"{len(changed):,} files changed, limit {self.max:,}")
            if wrong:
                return Finding(
                    "failed",
                    _join(wrong[:MOST_NAMED], len(wrong)),
                    {"changed": [path for path, _ in changed[:MOST_LISTED]]},
                )
            return Finding("passed", f"{len(changed):,} files changed")

        return check


def _compile_globs(field: str, globs: Sequence[str] | None) -> list[re.Pattern[str]]:
    try:
        return [compile_file_glob(each) for each in globs or ()]
    except GlobError as error:
        raise FieldProblemError(field, str(error)) from None


def _list_changed(files: Mapping[str, FileState]) -> list[tuple[str, str]]:
    return [
        (posixpath.normpath(compose(path).replace("\\", "/")), f"{mark_name(path)} was {each['change']}")
        for path, each in sorted(files.items())
        if "change" in each
    ]


def _list_forms(path: str) -> list[str]:
    """What a path may be below the working directory: also as it is seen, and each end of one from outside."""
    forms = [*dict.fromkeys((path, remove_unseen(path)))]
    if not _OUTSIDE.match(path):
        return forms
    parts = [each.split("/") for each in forms]
    return ["/".join(each[start:]) for each in parts for start in range(1, len(each))[:100]]


def _matches(forms: Iterable[str], globs: Sequence[re.Pattern[str]]) -> bool:
    return any(each.fullmatch(form) for form in forms for each in globs)
