#!/usr/bin/env python3
"""The steps of a release. Each looks at what exists before it changes anything, so each can be repeated.

The workflow `release` calls them in this order; RELEASING.md explains what may fail and how to continue:

    plan     what is to be released: the commit, the image's name, and its digest if it is already signed
    index    joins the images of both platforms under the version's tag in the registry
    tag      pushes the tag v1.2.3: the released commit, with the image's digest in action.yml
    publish  creates the release of that tag, with the notes of this version only
    major    moves the tag v1 there

`check` compares the version with the files of the checkout, `notes` prints the notes, `current` names the image of the
newest release. Needs git, gh and docker, and no package of the Python index.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

ACTION = "action.yml"
NOT_RELEASED = "not released yet"
BUILT_FROM_SOURCE = "  image: Dockerfile\n"
PLATFORMS = {"linux/amd64", "linux/arm64"}
WORKFLOW = ".github/workflows/release.yml"
VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
USED = r"[A-Za-z0-9_.-]+/evalgate((/[a-z-]+)?@v|:)[0-9]+(\.[0-9]+)*"
SHOWN_IN = ("*.md", "*.yml", ":!CHANGELOG.md", ":!tests")
ROLES = ("AUTHOR", "COMMITTER")
BOT = ("github-actions[bot]", "41898282+github-actions[bot]@users.noreply.github.com")


class ReleaseError(Exception):
    """A reason in one line why a step can't be done."""


class Release(NamedTuple):
    """The version to release, from a checkout, with the variables of a job on GitHub."""

    version: str
    root: Path
    environ: Mapping[str, str]

    @property
    def tag(self) -> str:
        """The tag that never moves."""
        return f"v{self.version}"

    @property
    def repository(self) -> str:
        """Owner and name on GitHub."""
        return self.variable("GITHUB_REPOSITORY")

    @property
    def image(self) -> str:
        """The image's name without tag and digest; registries want lower case."""
        return f"ghcr.io/{self.repository.partition('/')[0].lower()}/evalgate"

    def variable(self, name: str) -> str:
        """A variable of the job. Raises if it is missing or empty."""
        if not (value := self.environ.get(name, "")):
            raise ReleaseError(f"the variable {name} is not set")
        return value


def attempt(release: Release, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs a command in the checkout, whether it succeeds or not."""
    environ = {**release.environ, **variables}
    return subprocess.run(command, cwd=release.root, env=environ, capture_output=True, text=True, check=False)


def call(release: Release, *command: str, **variables: str) -> str:
    """The output of a command. Raises if it fails."""
    done = attempt(release, *command, **variables)
    if done.returncode:
        reason = done.stderr.strip() or f"exit code {done.returncode}"
        raise ReleaseError(f"`{' '.join(command[:4])} ...` failed: {reason}")
    return done.stdout.strip()


def parse_version(version: str) -> tuple[int, int, int]:
    """The numbers of a version such as 1.2.3. Raises for anything else, also for 1.2 and 1.2.3rc1."""
    if not (match := VERSION.fullmatch(version)):
        raise ReleaseError(f"{version!r} is no version such as 1.2.3")
    return int(match[1]), int(match[2]), int(match[3])


def extract_notes(changelog: str, version: str) -> str:
    """The lines below a version's heading in CHANGELOG.md. Raises if it is not the newest heading, or has no lines."""
    sections = re.split(r"^## (.+)\n", changelog, flags=re.MULTILINE)
    newest = sections[1] if len(sections) > 1 else "nothing"
    if newest.split(" ")[0] != version:
        raise ReleaseError(f"the newest heading of CHANGELOG.md is {newest!r}, not {version!r}")
    if not (notes := sections[2].strip()):
        raise ReleaseError(f"CHANGELOG.md lists no change of {version}")
    return notes + "\n"


def pin_image(action: str, image: str) -> str:
    """action.yml with the released image instead of the Dockerfile. Raises if it does not name that exactly once."""
    if action.count(BUILT_FROM_SOURCE) != 1:
        raise ReleaseError(f"{ACTION} has no line {BUILT_FROM_SOURCE.strip()!r} to replace")
    return action.replace(BUILT_FROM_SOURCE, f"  image: docker://{image}\n")


def read_image(action: str) -> str:
    """The image that a released action.yml names, by tag and digest."""
    if not (match := re.search(rf"^  image: docker://(\S+@{DIGEST.pattern})$", action, re.MULTILINE)):
        raise ReleaseError(f"{ACTION} of the tag names no image by digest")
    return match[1]


def require_platforms(manifest: Mapping[str, object]) -> str:
    """The digest of an index. Raises unless it has the images of exactly the platforms that are released."""
    entries = manifest.get("manifests")
    platforms = [entry.get("platform", {}) for entry in entries] if isinstance(entries, list) else []
    names = {f"{each.get('os')}/{each.get('architecture')}" for each in platforms} - {"unknown/unknown"}
    digest = str(manifest.get("digest"))
    if names != PLATFORMS or not DIGEST.fullmatch(digest):
        raise ReleaseError(f"the image has the platforms {sorted(names)}, expected {sorted(PLATFORMS)}")
    return digest


def require_version(release: Release, commit: str) -> None:
    """Raises if a file of a commit names another version, or an example another repository or major version."""
    major, *_ = parse_version(release.version)

    def show(path: str) -> str:
        return call(release, "git", "show", f"{commit}:{path}")

    named = {
        "pyproject.toml": str(tomllib.loads(show("pyproject.toml"))["project"]["version"]),
        "evalgate/version.py": show("evalgate/version.py").rpartition('__version__ = "')[2].strip().strip('"'),
    }
    for path, version in named.items():
        if version != release.version:
            raise ReleaseError(f"{path} has version {version}, not {release.version}")
    extract_notes(show("CHANGELOG.md"), release.version)
    if NOT_RELEASED in show("README.md"):
        raise ReleaseError(f"README.md says {NOT_RELEASED!r}: remove that")
    action, image = f"@v{major}", f":{release.version}"
    for line in call(release, "git", "grep", "-oE", USED, commit, "--", *SHOWN_IN).splitlines():
        path, used = line.removeprefix(f"{commit}:").split(":", 1)
        owner, mark, version = re.split("/evalgate(?:/[a-z-]+)?(@v|:)", used)
        if mark + version not in {action, image}:
            raise ReleaseError(f"{path} uses {used}, and this release is {action} and {image}")
        if owner.lower() != release.repository.split("/")[0].lower():
            raise ReleaseError(f"{path} uses {used}, and this repository is {release.repository}")


def list_tags(release: Release) -> dict[str, str]:
    """The tags on GitHub with their commits; of an annotated one the commit it names."""
    rows = [line.split("\t") for line in call(release, "git", "ls-remote", "--tags", "origin").splitlines()]
    return {
        ref.removeprefix("refs/tags/").removesuffix("^{}"): commit for commit, ref in sorted(rows, key=lambda r: r[1])
    }


def released_versions(tags: Iterable[str]) -> list[tuple[int, int, int]]:
    """The versions among tags, ascending; without moving tags such as v1."""
    return sorted(parse_version(tag[1:]) for tag in tags if tag[:1] == "v" and VERSION.fullmatch(tag[1:]))


def is_signed(release: Release, digest: str, commit: str) -> bool:
    """True if the release workflow of this repository signed this digest as built from this commit."""
    signer = ("--repo", release.repository, "--signer-workflow", f"{release.repository}/{WORKFLOW}")
    place = ("--source-digest", commit, "--source-ref", "refs/heads/main")
    return (
        attempt(release, "gh", "attestation", "verify", f"oci://{release.image}@{digest}", *signer, *place).returncode
        == 0
    )


def fetch_tag(release: Release) -> tuple[str, str]:
    """The image and the released commit of the version's tag. Raises if a person made that tag, not `tag`."""
    call(release, "git", "fetch", "--quiet", "--no-tags", "--depth=2", "origin", f"refs/tags/{release.tag}")
    commit, *parents = call(release, "git", "rev-parse", "FETCH_HEAD^{commit}", "FETCH_HEAD^@").splitlines()
    changed = call(release, "git", "diff", "--name-only", parents[0], commit).split() if parents else []
    if len(parents) != 1 or changed != [ACTION]:
        raise ReleaseError(f"{release.tag} exists and was not made by this workflow: it changes more than {ACTION}")
    return read_image(call(release, "git", "show", f"{commit}:{ACTION}")), parents[0]


def inspect_image(release: Release) -> dict[str, object] | None:
    """What the registry has under the version's tag; None if it has nothing or does not answer."""
    reference = f"{release.image}:{release.version}"
    done = attempt(release, "docker", "buildx", "imagetools", "inspect", reference, "--format", "{{json .Manifest}}")
    found = json.loads(done.stdout) if done.returncode == 0 else None
    return found if isinstance(found, dict) else None


def require_public(release: Release, digest: str) -> None:
    """Raises unless everyone can read the image: asks without credentials, as each runner that uses the action does.

    Only if that fails it asks with the job's own, to which a private image is shown and one that is gone is not.
    """
    reference = f"{release.image}@{digest}"
    with tempfile.TemporaryDirectory() as empty:
        done = attempt(release, "docker", "manifest", "inspect", reference, DOCKER_CONFIG=empty)
    if done.returncode == 0:
        return
    reason = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    if attempt(release, "docker", "manifest", "inspect", reference).returncode:
        raise ReleaseError(f"the registry has no image {reference}: run the workflow again, which builds it ({reason})")
    raise ReleaseError(f"make the package public: {reference} can't be read without a login ({reason})")


def plan(release: Release) -> dict[str, str]:
    """The commit to release and its image. The digest is empty if the image is yet to be built.

    An image counts only with its signature: one that a failed run left without is built again, because what it was
    built from can't be proven afterwards. Once the tag exists, everything is read from it, whatever main has become.
    """
    tags = list_tags(release)
    if release.tag in tags:
        image, commit = fetch_tag(release)
        digest = image.rpartition("@")[2]
        if not is_signed(release, digest, commit):
            raise ReleaseError(f"{release.tag} exists, and its image {image} is not signed by {WORKFLOW}")
    else:
        commit, digest = release.variable("GITHUB_SHA"), ""
        newer = [each for each in released_versions(tags) if each > parse_version(release.version)]
        if newer:
            raise ReleaseError(f"v{'.'.join(map(str, newer[-1]))} is already released")
        if (manifest := inspect_image(release)) and is_signed(release, str(manifest.get("digest")), commit):
            digest = require_platforms(manifest)
    require_version(release, commit)
    return {"commit": commit, "image": release.image, "digest": digest}


def index(release: Release) -> dict[str, str]:
    """Joins the images that DIGESTS names. The digest is the same however often that is done."""
    digests = release.variable("DIGESTS").split()
    if len(digests) != len(PLATFORMS) or not all(map(DIGEST.fullmatch, digests)):
        raise ReleaseError(f"expected the digests of {len(PLATFORMS)} images, got {digests}")
    labels = {
        "source": f"https://github.com/{release.repository}",
        "version": release.version,
        "revision": release.variable("COMMIT"),
        "description": "A CI quality gate for AI agents",
        "licenses": "Apache-2.0",
    }
    annotations = [f"--annotation=index:org.opencontainers.image.{name}={text}" for name, text in labels.items()]
    sources = [f"{release.image}@{digest}" for digest in digests]
    reference = f"{release.image}:{release.version}"
    call(release, "docker", "buildx", "imagetools", "create", *annotations, "--tag", reference, *sources)
    if not (manifest := inspect_image(release)):
        raise ReleaseError(f"the registry does not show {reference}")
    return {"digest": require_platforms(manifest)}


def tag(release: Release) -> dict[str, str]:
    """Pushes a commit on top of the released one, in which action.yml names the signed image, as the version's tag."""
    commit, digest = release.variable("COMMIT"), release.variable("DIGEST")
    image = f"{release.image}:{release.version}@{digest}"
    if release.tag in list_tags(release):
        if fetch_tag(release) != (image, commit):
            raise ReleaseError(f"{release.tag} exists with another image or commit")
        return {}
    if call(release, "git", "rev-parse", "HEAD") != commit:
        raise ReleaseError(f"the checkout is not of {commit}")
    if not is_signed(release, digest, commit):
        raise ReleaseError(f"{image} is not signed by {WORKFLOW} as built from {commit}")
    require_public(release, digest)
    path = release.root / ACTION
    path.write_text(pin_image(path.read_text(encoding="utf-8"), image), encoding="utf-8")
    author = {f"GIT_{role}_NAME": BOT[0] for role in ROLES} | {f"GIT_{role}_EMAIL": BOT[1] for role in ROLES}
    call(release, "git", "commit", "--quiet", "--message", f"Release {release.version}", "--", ACTION, **author)
    call(release, "git", "push", "--quiet", "origin", f"HEAD:refs/tags/{release.tag}")
    return {}


def is_published(release: Release) -> bool | None:
    """True for a release that everyone sees, False for a draft, None without a release of this tag."""
    shown = attempt(release, "gh", "release", "view", release.tag, "--json", "isDraft")
    return None if shown.returncode else not json.loads(shown.stdout)["isDraft"]


def publish(release: Release) -> dict[str, str]:
    """Creates the release of the tag, or publishes the draft that a failed attempt left."""
    fetch_tag(release)
    published = is_published(release)
    if published is None:
        notes = extract_notes(call(release, "git", "show", "FETCH_HEAD:CHANGELOG.md"), release.version)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "notes.md"
            file.write_text(notes, encoding="utf-8")
            title = ("--title", f"EvalGate {release.version}", "--notes-file", str(file))
            call(release, "gh", "release", "create", release.tag, "--verify-tag", *title)
    elif not published:
        call(release, "gh", "release", "edit", release.tag, "--draft=false")
    return {}


def major(release: Release) -> dict[str, str]:
    """Moves the tag of the major version to this release, unless a newer one of that major version is there."""
    if not is_published(release):
        raise ReleaseError(f"{release.tag} has no published release")
    tags = list_tags(release)
    number = parse_version(release.version)[0]
    newest = [each for each in released_versions(tags) if each[0] == number][-1:]
    moving = f"v{number}"
    if newest != [parse_version(release.version)]:
        return {}
    require_public(release, fetch_tag(release)[0].rpartition("@")[2])
    call(release, "git", "push", "--quiet", "--force", "origin", f"{tags[release.tag]}:refs/tags/{moving}")
    return {}


def current(release: Release) -> dict[str, str]:
    """The image of the newest release, by digest; nothing before the first."""
    if not (versions := released_versions(list_tags(release))):
        return {}
    newest = release._replace(version=".".join(map(str, versions[-1])))
    return {"image": fetch_tag(newest)[0]}


def check(release: Release) -> dict[str, str]:
    """Compares the version with the files of the checkout."""
    require_version(release, "HEAD")
    return {}


def notes(release: Release) -> dict[str, str]:
    """Prints the notes of the version."""
    sys.stdout.write(extract_notes((release.root / "CHANGELOG.md").read_text(encoding="utf-8"), release.version))
    return {}


STEPS: dict[str, Callable[[Release], dict[str, str]]] = {
    step.__name__: step for step in (plan, index, tag, publish, major, current, check, notes)
}


def main(arguments: list[str], environ: Mapping[str, str], root: Path) -> int:
    """Does one step and writes its outputs; 0 if it is done, 1 with the reason, 2 for wrong arguments."""
    step, *rest = arguments or [""]
    if step not in STEPS or len(rest) != (step != "current"):
        sys.stderr.write(f"usage: release.py {'|'.join(STEPS)} VERSION\n")
        return 2
    release = Release("".join(rest) or "0.0.0", root, environ)
    try:
        parse_version(release.version)
        outputs = STEPS[step](release)
    except ReleaseError as error:
        sys.stderr.write(f"release: {error}\n")
        return 1
    lines = "".join(f"{name}={value}\n" for name, value in outputs.items())
    sys.stdout.write(lines)
    if lines and (file := environ.get("GITHUB_OUTPUT")):
        with Path(file).open("a", encoding="utf-8") as stream:
            stream.write(lines)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ, Path.cwd()))
