"""What a fresh checkout relies on: pinned requirements that match the lock, and settings that are documented."""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from app.commands import settings_table
from app.process.worker import MAX_BODY
from app.settings import Settings

ROOT = Path(__file__).parents[2]


def _locked() -> dict[str, list[dict[str, object]]]:
    packages: dict[str, list[dict[str, object]]] = {}
    for package in tomllib.loads((ROOT / "uv.lock").read_text())["package"]:
        packages.setdefault(package["name"], []).append(package)
    return packages


def _pinned(name: str) -> dict[tuple[str, str], set[str]]:
    """(package, version) of each requirement, with its hashes."""
    pins: dict[tuple[str, str], set[str]] = {}
    text = (ROOT / name).read_text().replace("\\\n", " ")
    for line in text.splitlines():
        match = re.match(r"([A-Za-z0-9._-]+)==([^\s;]+)", line)
        if match:
            pins[match.group(1), match.group(2)] = set(re.findall(r"--hash=(sha256:[0-9a-f]{64})", line))
    return pins


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", re.split(r"[\[<>=;!~ ]", name)[0]).lower()


@pytest.mark.parametrize(
    "name",
    [
        "requirements.txt",
        "requirements-dev.txt",
        "requirements-setup.txt",
        "requirements-audit.txt",
        "requirements-clients.txt",
    ],
)
def test_every_requirement_is_pinned_to_what_is_locked_with_its_hashes(name: str) -> None:
    locked = _locked()
    pins = _pinned(name)
    assert len(pins) > {
        "requirements-setup.txt": 0,
        "requirements-audit.txt": 10,
        "requirements-clients.txt": 10,
    }.get(name, 50)
    for (package, version), hashes in pins.items():
        entry = next((one for one in locked.get(package, []) if one["version"] == version), None)
        assert entry is not None, (
            f"{name} pins {package} {version}, which uv.lock does not hold: run `make lock`"
        )
        files = [*entry.get("wheels", []), *([entry["sdist"]] if "sdist" in entry else [])]  # type: ignore[misc]
        assert hashes
        assert hashes <= {file["hash"] for file in files}, f"{name}: other hashes than locked for {package}"


def test_the_lock_and_the_requirements_hold_every_dependency_that_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    locked = _locked()
    (ours,) = locked["bridgenote"]
    needed = {_normal(one) for one in project["project"]["dependencies"]}
    assert {one["name"] for one in ours["dependencies"]} == needed  # type: ignore[attr-defined, index]
    assert needed <= {package for package, _ in _pinned("requirements.txt")}
    groups = project["dependency-groups"]
    for_tests = {_normal(one) for group in ("dev", "docs") for one in groups[group]}
    assert needed | for_tests <= {package for package, _ in _pinned("requirements-dev.txt")}
    for_setup = {_normal(one) for one in project["dependency-groups"]["setup"]}
    assert for_setup == {package for package, _ in _pinned("requirements-setup.txt")}
    for group in ("audit", "clients"):
        alone = {_normal(one) for one in groups[group]}
        assert alone <= {package for package, _ in _pinned(f"requirements-{group}.txt")}


def test_what_tests_add_does_not_change_what_the_service_runs_on() -> None:
    service, tests = _pinned("requirements.txt"), _pinned("requirements-dev.txt")
    assert service.items() <= tests.items()


def test_constraints_for_the_wheel_are_what_is_locked() -> None:
    """With hashes pip would ask for a hash of the wheel itself, too."""
    constraints, locked = _pinned("constraints.txt"), _locked()
    assert set(_pinned("requirements.txt")) < set(constraints)
    assert {name for name, _ in constraints} >= {"mcp", "onnxruntime", "tokenizers"}, "of the extras"
    for package, version in constraints:
        assert version in {entry["version"] for entry in locked[package]}, f"{package}: run `make lock`"
    assert "--hash" not in (ROOT / "constraints.txt").read_text()


def test_every_setting_is_documented() -> None:
    page = (ROOT / "docs" / "run" / "settings.md").read_text()
    assert [name for name in Settings.model_fields if f"| `BRIDGENOTE_{name.upper()}` |" not in page] == []
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []


def test_the_settings_page_is_what_the_command_writes() -> None:
    written = (ROOT / "docs" / "run" / "settings.md").read_text()
    assert written == settings_table.as_markdown(), (
        "run: python -m app settings --markdown > docs/run/settings.md"
    )


def test_continuous_integration_runs_what_make_test_runs() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert "make test" in script.read_text()


def test_make_help_names_every_target_of_the_makefile() -> None:
    shown = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert {"run", "test", "lint", "types", "bench"} <= set(targets)
    for target in targets:
        assert f"make {target}" in shown


@pytest.mark.parametrize(
    "script",
    sorted(path for path in (ROOT / "scripts").iterdir() if path.is_file()),
    ids=lambda path: path.name,
)
def test_every_script_can_be_run_and_read_by_its_shell(script: Path) -> None:
    assert os.access(script, os.X_OK)
    first_line = script.read_text().splitlines()[0]
    if "python" in first_line:
        compile(script.read_text(), script, "exec")
    else:
        subprocess.run(["bash" if "bash" in first_line else "sh", "-n", script], check=True)


def _checkout(folder: Path, python: str) -> None:
    """What scripts/setup needs, with an environment whose Python does these lines of a shell instead."""
    (folder / "scripts").mkdir()
    names = ("scripts/setup", "requirements.txt", "requirements-dev.txt", "requirements-setup.txt")
    for name in names:
        shutil.copy(ROOT / name, folder / name)
    fake = folder / ".venv" / "bin" / "python"
    fake.parent.mkdir(parents=True)
    fake.write_text(f"#!/bin/sh\n{python}\n")
    fake.chmod(0o755)


def test_a_second_setup_finds_the_work_done(tmp_path: Path) -> None:
    """With the stamp of the very requirements in place nothing is installed: not even a package index is needed."""
    _checkout(tmp_path, "echo installing >&2\nexit 1")
    digest = subprocess.run(
        ["sha256sum", tmp_path / "requirements-dev.txt"], capture_output=True, text=True, check=True
    ).stdout.split()[0]
    (tmp_path / ".venv" / "stamp-dev").write_text(digest + "\n")
    for kind in ("run", "dev"):
        done = subprocess.run(
            [tmp_path / "scripts" / "setup", kind], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout + done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("index", "uv", "installed"),
    [
        ("global.extra-index-url='https://more.test'", 0, ["pip setup", "uv dev"]),
        ("global.index-url='https://own.test'", 0, ["pip dev"]),
        ("", 1, ["pip setup", "uv dev", "pip dev"]),
        ("", None, ["pip setup", "pip dev"]),
    ],
    ids=["by uv", "pip knows another index", "uv fails", "there is no uv"],
)
def test_uv_installs_where_it_can_and_pip_where_it_cannot(
    tmp_path: Path, index: str, uv: int | None, installed: list[str]
) -> None:
    note = f'for last in "$@"; do :; done; echo "$name $last" >>{tmp_path}/installed'
    fetched = "exit 1"
    if uv is not None:
        (tmp_path / "uv").write_text(f"#!/bin/sh\nname=uv\n{note}\nexit {uv}\n")
        (tmp_path / "uv").chmod(0o755)
        fetched = f"cp {tmp_path}/uv {tmp_path}/.venv/bin/uv"
    _checkout(
        tmp_path,
        f"""name=pip
case "$*" in
*"config list") echo "{index}" ;;
*requirements-setup.txt) {note}; {fetched} ;;
*requirements-dev.txt) {note} ;;
*install*) exit 1 ;;
esac""",
    )
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("bash", "sh", "dirname", "sha256sum", "cut", "cat", "cp", "grep"):
        (tools / tool).symlink_to(shutil.which(tool) or tool)
    done = subprocess.run(
        [tools / "bash", tmp_path / "scripts" / "setup", "dev"],
        env={"PATH": str(tools)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    files = [
        line.replace("requirements-", "").removesuffix(".txt") for line in _lines(tmp_path / "installed")
    ]
    assert files == installed
    (stamp,) = _lines(tmp_path / ".venv" / "stamp-dev")
    assert len(stamp) == 64


_FAKES = {
    "id": '[ "$*" = -u ] && echo 0 || echo 990',
    "runuser": 'shift 3; case "$1" in {refused}) exit 1 ;; esac; exec "$@"',
    "uv": """case "$1" in
venv) echo "$4" >{folder}/chosen; mkdir -p .venv/bin; cp {folder}/good/python3 .venv/bin/python ;;
esac""",
}
"""Root, on a machine that has the user of the service, who cannot run some Pythons."""


@pytest.mark.parametrize(
    ("refused", "status", "chosen", "said"),
    [
        ("*/pyenv/*", 0, "good/python3", "pyenv/python3.11 is not taken: bridgenote, the user"),
        ("*", 1, None, "for all users: install one"),
        ("*/.venv/*|*/pyenv/*", 1, "good/python3", "let others read this folder"),
    ],
    ids=["another Python", "none", "a closed folder"],
)
def test_a_python_that_the_user_of_the_service_cannot_run_is_not_taken(
    tmp_path: Path, refused: str, status: int, chosen: str | None, said: str
) -> None:
    _checkout(tmp_path, "exit 1")
    (tmp_path / "scripts" / "system-packages").write_text("#!/bin/sh\n")
    (tmp_path / "scripts" / "system-packages").chmod(0o755)
    for name, text in {**_FAKES, "pyenv/python3.11": "exit 0", "good/python3": "exit 0"}.items():
        fake = tmp_path / (name if "/" in name else f"tools/{name}")
        fake.parent.mkdir(exist_ok=True)
        fake.write_text(
            "#!/bin/sh\n" + text.replace("{refused}", refused).replace("{folder}", str(tmp_path)) + "\n"
        )
        fake.chmod(0o755)
    done = subprocess.run(
        [tmp_path / "scripts" / "setup", "run"],
        env={"PATH": f"{tmp_path}/tools:{tmp_path}/pyenv:{tmp_path}/good:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    if chosen is None:
        assert not (tmp_path / "chosen").exists()
    else:
        assert _lines(tmp_path / "chosen") == [str(tmp_path / chosen)]


def test_generators_of_clients_that_cannot_be_installed_are_an_error(tmp_path: Path) -> None:
    """Otherwise a second call would find the half of them and take it for the whole."""
    _checkout(tmp_path, "exit 1")
    shutil.copy(ROOT / "scripts" / "clients", tmp_path / "scripts")
    shutil.copy(ROOT / "requirements-clients.txt", tmp_path)
    shutil.copytree(ROOT / "tools" / "clients", tmp_path / "tools" / "clients")
    for _ in range(2):
        refused = subprocess.run(
            [tmp_path / "scripts" / "clients"],
            env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert refused.returncode == 1
        assert refused.stdout == ""
        assert "could not be installed; that needs PyPI and the npm registry" in refused.stderr


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


@pytest.mark.parametrize(
    ("sudo", "reason"),
    [(None, "ann is not root, and there is no sudo"), ("exit 1", "sudo did not let ann")],
    ids=["no sudo", "sudo refuses"],
)
def test_who_may_not_install_is_told_why_and_what_to_type(
    tmp_path: Path, sudo: str | None, reason: str
) -> None:
    """Packages are missing for want of a PATH; nobody becomes root, and apt-get is never reached."""
    commands = {"id": '[ "$1" = -u ] && echo 1000 || echo ann', "apt-get": f"touch {tmp_path}/called"}
    if sudo is not None:
        commands["sudo"] = sudo
    for name, lines in commands.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{lines}\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "touch").symlink_to(shutil.which("touch") or "touch")
    refused = subprocess.run(
        [shutil.which("bash") or "bash", ROOT / "scripts" / "system-packages", "ruby", "nodejs"],
        env={"PATH": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode == 1
    assert f"missing: ruby nodejs. Not installed for you: {reason}." in refused.stderr
    assert refused.stderr.endswith("apt-get update && apt-get install ruby nodejs\n")
    assert not (tmp_path / "called").exists()


def test_the_documented_proxy_is_more_patient_than_the_service() -> None:
    """What is too large or too slow is refused by the service, in its own words, not by nginx in front of it."""
    page = (ROOT / "deploy" / "nginx" / "bridgenote.conf").read_text()
    size = re.search(r"client_max_body_size (\d+)m;", page)
    seconds = re.search(r"proxy_read_timeout (\d+)s;", page)
    assert size is not None
    assert seconds is not None
    assert int(size[1]) * 1024**2 > MAX_BODY
    (longest,) = [rule.le for rule in Settings.model_fields["ai_deadline"].metadata if hasattr(rule, "le")]
    assert int(seconds[1]) > longest


def test_the_pictures_are_taken_in_fonts_that_have_emoji(tmp_path: Path) -> None:
    """On a machine without them they are asked for by name, together with the browser."""
    script = (ROOT / "scripts" / "screenshots").read_text()
    (asked,) = re.findall(r"^scripts/system-packages (.+)$", script, re.MULTILINE)
    fonts = {"fonts-inter", "fonts-noto-color-emoji"}
    assert fonts <= set(asked.split())
    (tmp_path / "id").write_text('#!/bin/sh\n[ "$1" = -u ] && echo 1000 || echo ann\n')
    (tmp_path / "apt-get").write_text("#!/bin/sh\n")
    for name in ("id", "apt-get"):
        (tmp_path / name).chmod(0o755)
    # Without `find` on the PATH no font is found, as on a fresh machine.
    refused = subprocess.run(
        [shutil.which("bash") or "bash", ROOT / "scripts" / "system-packages", *sorted(fonts)],
        env={"PATH": str(tmp_path), "HOME": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode == 1
    assert "missing: fonts-inter fonts-noto-color-emoji." in refused.stderr
