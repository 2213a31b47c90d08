from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from store_fixtures import find_programs, give_to_server, installed, runs_here


@pytest.mark.skipif(os.geteuid() != 0, reason="only root's server runs as another user")
def test_programs_that_only_root_may_enter_are_copied_for_the_user_of_the_server(tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    (closed / "packages").symlink_to(installed().parents[2])
    programs = closed / "packages" / "pgserver/pginstall/bin"
    assert not runs_here(programs)
    with TemporaryDirectory(dir="/tmp") as folder:
        give_to_server(Path(folder))
        copy = find_programs(programs, Path(folder))
        assert copy.is_relative_to(folder)
        assert runs_here(copy)
