"""Files that are looked up once, and the progress of reading them."""

from __future__ import annotations

from evalgate.adapters.files.workspace import Workspace
from evalgate.adapters.files.wrapped_files import CachedFiles


def test_a_pattern_is_looked_up_once(tmp_path):
    files = CachedFiles(Workspace(None, str(tmp_path)))
    (tmp_path / "a.json").write_text("1")
    found = files.expand("*.json", ".")
    (tmp_path / "b.json").write_text("2")
    assert files.expand("*.json", ".") is found


def test_the_share_that_was_read_grows_to_all_of_it(tmp_path):
    (tmp_path / "a.json").write_text("x" * 600)
    (tmp_path / "b.json").write_text("x" * 400)
    files = CachedFiles(Workspace(None, str(tmp_path)))
    assert files.read_fraction() is None
    first, second = files.expand("*.json", ".")
    with files.open(first) as stream:
        stream.read(300)
        assert files.read_fraction() == 0.3
    assert files.read_fraction() == 0.6
    with files.open(first), files.open(second) as stream:
        assert files.read_fraction() == 0.6
        stream.read(400)
        assert files.read_fraction() == 1.0
