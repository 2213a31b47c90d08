"""Expressions for every kind of node in JMESPath, and a grammar that writes more of them."""

import json

from hypothesis import strategies as st

SHOP = {
    "name": "corner",
    "open": True,
    "closed": False,
    "nothing": None,
    "zero": 0,
    "half": 0.5,
    "blank": "",
    "none": [],
    "bare": {},
    "owner": {"name": "Ada", "home": {"town": "Ulm", "rooms": [1, 2, 3]}},
    "items": [
        {"id": 1, "name": "pen", "price": 1.5, "tags": ["blue", "thin"], "stock": {"a": 3, "b": 0}},
        {"id": 2, "name": "pad", "price": 4, "tags": [], "stock": {"a": 0}},
        {"id": 3, "name": "ink", "price": None, "tags": ["blue"], "gone": True},
        {"id": 4, "name": "", "price": "4", "tags": None, "gone": False},
        None,
        "loose",
        7,
        ["nested", None, ["deeper"]],
    ],
    "numbers": [3, 1, 2.5, -1, 0],
    "words": ["pear", "fig", "äpfel", "fig"],
    "grid": [[1, 2], [3, [4, 5]], [], 6, None],
    "flags": [True, False, 1, 0, "true", None],
    "spaced key": {"x-y": 1, "length": 2},
}

FIELDS = """
name|owner.name|owner.home.town|owner.home.rooms|missing|missing.further|name.first|nothing.deep|zero.deep
numbers.name|items.name|"spaced key"|"spaced key"."x-y"|"spaced key".length|owner.home.missing.more|"name"
owner."home".town|open.closed|blank.blank
"""
INDEXES = """
numbers[0]|numbers[-1]|numbers[4]|numbers[5]|numbers[-5]|numbers[-6]|name[0]|owner[0]|missing[0]|grid[0][1]
grid[1][1][0]|grid[3][0]|items[0].name|items[0].tags[1]|items[0].stock.a|items[4].name|items[7][2][0]
"""
SLICES = """
numbers[:]|numbers[1:]|numbers[:2]|numbers[1:3]|numbers[::2]|numbers[::-1]|numbers[-2:]|numbers[:-2]
numbers[10:]|numbers[3:1]|numbers[3:1:-1]|name[1:]|owner[:]|missing[:]|items[:2].name|items[1:4].tags[0]
items[::-1].id|grid[:2][0]|grid[:2][:1]|numbers[::-2]|grid[0:2][]
"""
PROJECTIONS = """
items[*]|items[*].name|items[*].price|items[*].tags|items[*].tags[0]|items[*].tags[*]|items[*].stock.a
items[*].missing|items[*].stock.*|name[*]|owner[*]|missing[*]|none[*]|numbers[*]|flags[*]|grid[*][0]
grid[*][*]|items[*].[id, name]|items[*].{id: id}|items[*].stock.[a, b]|items[*].tags | [0]
owner.*|owner.*.town|owner.home.*|bare.*|numbers.*|missing.*|items[0].stock.*|items[*].*|owner.*.*|*.home
items[0].*|"spaced key".*|owner.* | length(@)
"""
FLATTENS = """
grid[]|grid[][]|grid[][][]|items[]|items[].name|items[].tags|items[].tags[]|items[*].tags[]|none[]|name[]
owner[]|missing[]|numbers[]|flags[]|items[].stock.a|grid[][0]|items[].tags[][0]|items[*].tags | []
[grid, numbers][]|[none, none][]|items[].[id, name][]
"""
FILTERS = """
items[?id]|items[?gone]|items[?!gone]|items[?name]|items[?price]|items[?tags]|items[?stock]|items[?@]
items[?id == `1`]|items[?id == `2`].name|items[?name == 'pen']|items[?name != 'pen'].id|items[?'pen' == name]
items[?`2` == id].name|items[?price > `2`]|items[?price > `2`].name|items[?price == '4'].id|items[?id >= `2`].id
items[?price == `null`]|items[?gone == `true`].id|items[?gone == `false`].id|items[?gone != `true`].id
items[?tags == `[]`].id|items[?tags == `["blue"]`].id|items[?stock == `{"a": 0}`].id|items[?tags == tags].id
items[?id == `1` && name == 'pen']|items[?id == `1` || name == 'pad'].name|items[?!(id == `1`)].id
items[?contains(tags || `[]`, 'blue')].id|items[?type(@) == 'object' && starts_with(name, 'p')].name
items[?id && name].id|items[?id || name].id|items[?tags[0] == 'blue'].name|items[?tags[?@ == 'thin']].id
numbers[?@ > `1`]|numbers[?@ > `1`] | [0]|numbers[?`1` < @]|words[?@ == 'fig']|words[?@ > 'g']|flags[?@]
flags[?@ == `true`]|flags[?@ == `1`]|flags[?@ == `false`]|flags[?@ == `0`]|flags[?@ != `null`]|flags[?!@]
grid[?@]|grid[?[0] == `1`]|grid[][?@ > `2`]|grid[*][?@ > `1`]|name[?@]|owner[?@]|missing[?@]|none[?@]
items[?stock.a > stock.b].id|items[?length(name || '') > `2`].id|items[?id == `1`].tags[]|items[?id][0].name
items[?id < `3`].{n: name, p: price}|items[?id < `3`].stock.*|items[?not_null(gone)].id|items[?`true`].id
items[?name == 'pen' && tags == 'blue']|items[?name == 'pen' && town == 'Ulm' || name == 'pad'].id|words[?name == 'fig']
[owner, items[0]][?name == 'pen' && name == 'pen' && name == 'pen'].id|owner.home[?town == 'Ulm']|items[?name == ''].id
[owner, owner.home][?name == 'Ada' && 'Ada' == name].home.town|items[?name == 'pen' && missing == ''].id
items[?'x'].id|items[?`0`].id|items[?''].id|items[?id == `1.0`].name|items[?null == nothing].id
"""
COMPARISONS = """
zero == `0`|zero == `false`|open == `1`|open == `true`|closed == `0`|half == `0.5`|name == 'corner'|name == name
name == owner|owner == owner|numbers == `[3, 1, 2.5, -1, 0]`|numbers == words|none == bare|blank == none
nothing == missing|nothing == `null`|nothing == closed|zero < half|half < zero|zero <= zero|zero >= half
name < 'd'|name > owner.name|open < zero|zero < open|nothing < zero|zero < nothing|name < zero|zero > `-1`
owner < owner|numbers > words|zero != half|zero != `false`|name != `null`|`1` == `1`|`1` == `true`|`[1]` == `[true]`
'a' < 'b'|`1` < `2`|`"x"` == 'x'|open != closed|name == `"corner"`|`{"a": [1]}` == `{"a": [1]}`
"""
LOGIC = """
open && name|closed && name|name && closed|zero && name|blank && name|none && name|bare && name|nothing && name
open || name|closed || name|zero || name|blank || name|none || bare|bare || none|nothing || missing|missing || name
!open|!closed|!zero|!blank|!none|!bare|!nothing|!missing|!name|!owner|!!name|!half|!(open && closed)
open && closed || name|open && (closed || name)|!open || closed|zero == `0` && name|zero == `1` && name
zero == `1` || name|zero < name.x && open|nothing < zero || 'else'|(nothing < zero) && open|!(nothing < zero)
"""
SELECTIONS = """
[name, zero]|[name]|[missing]|[missing, name]|[*]|[owner.name, items[*].id]|{a: name}|{a: name, b: missing}
{a: name, a: zero}|{"x y": zero}|owner.[name, home]|owner.{n: name}|missing.[name]|missing.{n: name}|zero.[name]
nothing.{n: name}|name.[@]|{a: {b: [name]}}|[[name], {n: name}]|items[*].{t: tags[0], i: id}|owner.{n: name}.n
[name, zero][0]|[name, zero][*]|{a: name, b: zero}.*|[numbers, words][]|[numbers[0], words[0]] | [1]
"""
REST = """
@|@.name|@[0]|name | @|numbers | [0]|numbers[*] | [0]|missing | [0]|owner | home | town|items[*].id | [1]
(items[*].id)[1]|items[*].id | length(@)|`1`|`"a"`|`null`|`[1, {"a": null}]`|'raw'|'a\\'b'|`{"a": 1}`.a
`[1, 2]`[1]|(owner).name|(numbers)[0]|((name))|*|*.name|[0]|[*].name|[]|[?@]|[:1]|numbers | @ | [0]|'literal'.length
"""
FUNCTIONS = """
abs(`-1`)|abs(half)|abs(name)|avg(numbers)|avg(none)|avg(words)|ceil(half)|floor(`-1.5`)|ceil(name)
contains(words, 'fig')|contains(words, 'x')|contains(name, 'or')|contains(name, 'x')|contains(numbers, `1`)
contains(flags, `0`)|contains(items, `7`)|contains(grid, `[1, 2]`)|contains(name, `1`)|contains(zero, `1`)
contains(owner, 'name')|contains(words, nothing)|ends_with(name, 'er')|ends_with(name, 'x')|ends_with(name, zero)
ends_with(zero, name)|starts_with(name, 'co')|starts_with(name, 'x')|starts_with(nothing, 'x')|join(',', words)
join('', none)|join(',', numbers)|join(zero, words)|keys(owner)|keys(bare)|keys(numbers)|values(owner)|values(name)
length(name)|length(numbers)|length(owner)|length(blank)|length(zero)|length(nothing)|length(open)
map(&id, items)|map(&@, numbers)|map(&name, none)|map(&a.b, items)|map(&to_string(@), numbers)|map(&id, owner)
map(name, items)|max(numbers)|max(words)|max(none)|max(flags)|max(items)|min(numbers)|min(words)|min(none)|min(name)
max_by(items[:2], &price)|max_by(items, &price)|max_by(none, &price)|max_by(items[:2], &name).id
min_by(items[:2], &price).id|min_by(items[:3], &id).name|min_by(items[:2], &stock)|min_by(name, &x)
merge(owner, bare)|merge(owner, {name: zero})|merge(owner, name)|merge(bare)|not_null(missing, nothing, zero)
not_null(missing)|not_null(name, missing)|reverse(numbers)|reverse(name)|reverse(zero)|reverse(none)
sort(numbers)|sort(words)|sort(none)|sort(flags)|sort(items)|sort_by(items[:4], &id)[*].id|sort_by(items[:3], &name)[].id
sort_by(items, &id)|sort_by(none, &id)|sort_by(items[:4], &price)|sort_by(items[:2], &tags)|sort_by(items[:2], name)
sum(numbers)|sum(none)|sum(words)|sum(items[*].id)|to_array(name)|to_array(numbers)|to_array(nothing)
to_string(name)|to_string(owner)|to_string(open)|to_string(numbers)|to_string(half)|to_string(nothing)
to_number('12')|to_number('1.5')|to_number('x')|to_number(open)|to_number(numbers)|to_number(half)|to_number(nothing)
type(name)|type(open)|type(numbers)|type(owner)|type(zero)|type(half)|type(nothing)|type(missing)
length(keys(owner))|items[*].length(@)|numbers[*].abs(@)|words[*].length(@)|sort(words)[0]|owner.keys(@) | [0]
sum(map(&id, items[:4]))|length(items[?id])|max_by(items[:2], &price).tags[0]|abs(sum(numbers)) > `5`
not_null(contains(words, 'fig'), name)|contains(words, 'fig') && name|!contains(words, 'fig')
words[?contains(@, 'i')]|words[?starts_with(@, 'p')] | [0]|items[:2].[contains(tags, 'blue')]
"""
UNCOMPILED = """
&name|[&name]|type(&name)|not_null(missing, name, &name)|to_array(&name) | length(@)|contains(words, &name)
sum(&name)|length(&name)|items[?type(&name) == 'x']|to_array(&name) && name == 'corner'|name != zero && !type(&name)
"""


def cases(table):
    """The expressions of one table; a pipe or an `or` has spaces around it, other bars separate expressions."""
    found = []
    for line in table.strip().splitlines():
        parts = line.replace(" || ", " \0\0 ").replace(" | ", " \0 ").split("|")
        found += [part.replace("\0", "|") for part in parts]
    return found


_NAMES = st.sampled_from(["a", "b", "c", '"d e"'])
_WORDS = st.sampled_from(["", "a", "b", "ab", "ba", "1", "2.5", "é"])
_SCALARS = st.none() | st.booleans() | st.integers(-2, 3) | st.sampled_from([0.0, 0.5, 1.0, -1.5]) | _WORDS
VALUES = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["a", "b", "c", "d e"]), inner, max_size=4)
    ),
    max_leaves=25,
)
_LITERALS = st.recursive(_SCALARS, lambda inner: st.lists(inner, max_size=2), max_leaves=3).map(
    lambda value: f"`{json.dumps(value)}`"
) | _WORDS.map(lambda word: f"'{word}'")
_BOUNDS = st.sampled_from(["", "0", "1", "2", "-1", "-2"])
_STEPS = st.sampled_from(["", ":", ":1", ":2", ":-1"])
_ONE = ["abs", "avg", "ceil", "floor", "keys", "length", "max", "min", "reverse", "sort", "sum", "to_array"]
_ONE += ["to_number", "to_string", "type", "values", "not_null", "merge"]
_TWO = ["contains", "ends_with", "starts_with", "join", "not_null", "merge"]
_BY = ["sort_by", "min_by", "max_by"]


def _written(inner):
    """Expressions one level above `inner`."""
    pairs = st.tuples(inner, inner)
    wrapped = inner.map(lambda text: f"({text})")
    return st.one_of(
        st.tuples(wrapped, _NAMES).map(".".join),
        st.tuples(inner, _NAMES).map(".".join),
        st.tuples(wrapped, st.integers(-2, 2)).map(lambda part: f"{part[0]}[{part[1]}]"),
        st.tuples(wrapped, _BOUNDS, _BOUNDS, _STEPS).map(lambda part: "{}[{}:{}{}]".format(*part)),
        st.tuples(wrapped, st.sampled_from(["[*]", "[]", ".*"])).map("".join),
        st.tuples(wrapped, st.sampled_from(["[*]", "[]", ".*"]), _NAMES).map(lambda part: "{}{}.{}".format(*part)),
        st.tuples(wrapped, inner).map(lambda part: f"{part[0]}[?{part[1]}]"),
        st.tuples(wrapped, inner, _NAMES).map(lambda part: "{}[?{}].{}".format(*part)),
        st.tuples(wrapped, _NAMES, _LITERALS).map(lambda part: "{}[?{} == {}]".format(*part)),
        st.tuples(wrapped, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), wrapped).map(" ".join),
        st.tuples(wrapped, st.sampled_from(["==", "!=", "<", ">="]), _LITERALS).map(" ".join),
        st.tuples(wrapped, st.sampled_from(["&&", "||", "|"]), wrapped).map(" ".join),
        wrapped.map(lambda text: f"!{text}"),
        pairs.map(lambda part: "[{}, {}]".format(*part)),
        pairs.map(lambda part: "{{a: {}, b: {}}}".format(*part)),
        st.tuples(wrapped, inner).map(lambda part: "{}.[{}]".format(*part)),
        st.tuples(st.sampled_from(_ONE), inner).map(lambda part: "{}({})".format(*part)),
        st.tuples(st.sampled_from(_TWO), inner, inner).map(lambda part: "{}({}, {})".format(*part)),
        st.tuples(st.sampled_from(_BY), inner, inner).map(lambda part: "{}({}, &{})".format(*part)),
        pairs.map(lambda part: "map(&{}, {})".format(*part)),
    )


EXPRESSIONS = st.recursive(_NAMES | st.just("@") | _LITERALS, _written, max_leaves=6)
