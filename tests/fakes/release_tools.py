"""The commands `gh` and `docker` of a runner, with a registry and a GitHub that are a folder; called as either of them.

A file `fault` in that folder, such as `after docker buildx imagetools create`, makes one call fail: `before` it has done
anything, or `after` it has done everything. Imports little, because tests start it hundreds of times.
"""

import json
import os
import sys

STATE = os.environ["STATE"]


def read(*path: str) -> str | None:
    """A file of the folder, or None."""
    try:
        with open(os.path.join(STATE, *path), encoding="utf-8") as file:  # noqa: PTH118, PTH123  # pathlib takes 5 ms
            return file.read()
    except FileNotFoundError:
        return None


def write(text: str, *path: str) -> str:
    """Writes a file of the folder; what a command that prints nothing prints."""
    with open(os.path.join(STATE, *path), "w", encoding="utf-8") as file:  # noqa: PTH118, PTH123
        file.write(text)
    return ""


def option(arguments: tuple[str, ...] | list[str], name: str) -> str:
    return arguments[arguments.index(name) + 1]


def docker(*arguments: str) -> str | None:
    """The output; None if the registry has no such image."""
    match arguments:
        case ["buildx", "imagetools", "inspect", reference, "--format", "{{json .Manifest}}"]:
            return read("registry", reference.replace("/", "_"))
        case ["buildx", "imagetools", "create", *_]:
            sources = [each.partition("@")[2] for each in arguments if "@sha256:" in each]
            built = [read("built", source) for source in sources]
            if None in built:
                return None
            platforms = [
                *({"os": "linux", "architecture": each} for each in built),
                {"os": "unknown", "architecture": "unknown"},
            ]
            digest = "sha256:" + "".join(source[-32:] for source in sources)  # the same for the same images
            manifest = {"digest": digest, "manifests": [{"platform": each} for each in platforms]}
            return write(json.dumps(manifest), "registry", option(arguments, "--tag").replace("/", "_"))
        case ["manifest", "inspect", reference]:
            has_login = "DOCKER_CONFIG" not in os.environ
            assert has_login or os.listdir(os.environ["DOCKER_CONFIG"]) == [], "asks with a login"  # noqa: PTH208
            known = os.listdir(os.path.join(STATE, "registry"))  # noqa: PTH118, PTH208
            manifests = [json.loads(str(read("registry", name))) for name in known]
            found = [each for each in manifests if each["digest"] == reference.partition("@")[2]]
            return json.dumps(found[0]) if found and (has_login or read("private") is None) else None
        case ["run", *_]:
            return f"evalgate {os.environ['VERSION']}\n"
    raise SystemExit(f"unexpected: docker {arguments}")


def gh(*arguments: str) -> str | None:
    """The output; None if GitHub has no such thing."""
    match arguments:
        case ["attestation", "verify", image, *rest]:
            assert option(rest, "--repo") == "org/evalgate"
            assert option(rest, "--signer-workflow") == "org/evalgate/.github/workflows/release.yml"
            assert option(rest, "--source-ref") == "refs/heads/main"
            signed = f"{image.partition('@')[2]} {option(rest, '--source-digest')}"
            return "" if signed in str(read("signed")).splitlines() else None
        case ["release", "view", tag, "--json", "isDraft"]:
            found = read("releases", tag)
            return found and json.dumps({"isDraft": json.loads(found)["draft"]})
        case ["release", "create", tag, "--verify-tag", *rest]:
            if read("releases", tag):
                return None
            release = {"draft": False, "title": option(rest, "--title"), "notes": read(option(rest, "--notes-file"))}
            return write(json.dumps(release), "releases", tag)
        case ["release", "edit", tag, "--draft=false"]:
            return write(json.dumps({**json.loads(str(read("releases", tag))), "draft": False}), "releases", tag)
    raise SystemExit(f"unexpected: gh {arguments}")


def fails(when: str, called: str) -> bool:
    """True once, for the call that the file names."""
    moment, _, start = (read("fault") or "never").partition(" ")
    if moment != when or not called.startswith(start):
        return False
    os.unlink(os.path.join(STATE, "fault"))  # noqa: PTH108, PTH118
    return True


def main() -> int:
    command = os.path.basename(sys.argv[0])  # noqa: PTH119
    called = " ".join([command, *sys.argv[1:]])
    if fails("before", called):
        sys.stderr.write("error: connection reset\n")
        return 1
    answer = {"docker": docker, "gh": gh}[command](*sys.argv[1:])
    if answer is None or fails("after", called):
        sys.stderr.write("error: not found, or the answer was lost\n")
        return 1
    sys.stdout.write(answer)
    return 0


if __name__ == "__main__":
    sys.exit(main())
