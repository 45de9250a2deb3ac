"""`make audit`: the list of components is always written, and "nothing is known" is only said of what was looked up."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KNOWN = {"id": "PYSEC-1", "fix_versions": ["2.0"], "aliases": [], "description": ""}
UV = """#!{python}
import pathlib, sys
arguments = sys.argv[1:]
if arguments[0] == "export":
    pathlib.Path(arguments[-1]).write_text('{{"components": [{{"name": "flask"}}]}}')
elif arguments[0] == "venv":
    (pathlib.Path(arguments[-1]) / "bin").mkdir(parents=True)
else:
    pip_audit = pathlib.Path(".venv-audit/bin/pip-audit")
    pip_audit.write_text(pathlib.Path("pip-audit").read_text())
    pip_audit.chmod(0o755)
"""
PIP_AUDIT = """#!{python}
import pathlib, sys
answer = {answer!r}
if answer is None:
    sys.exit("ConnectionError: the name pypi.org does not resolve")
pathlib.Path(sys.argv[sys.argv.index("-o") + 1]).write_text(answer)
"""


@pytest.mark.parametrize(
    ("packages", "status", "said"),
    [
        ([{"name": "flask", "version": "1.0", "vulns": []}], 0, "No vulnerability is known in 1 packages"),
        ([{"name": "flask", "version": "1.0", "vulns": [KNOWN]}], 1, "flask 1.0: PYSEC-1, fixed in 2.0"),
        ([{"name": "flask", "skip_reason": "not found"}], 2, "1 of 1 packages are unknown to the database"),
        ([], 2, "0 of 0 packages are unknown"),
        (None, 2, "could not be asked (ConnectionError: the name pypi.org does not resolve)"),
    ],
)
def test_an_audit_says_what_it_found_or_that_it_could_not_look(
    tmp_path: Path, packages: list[dict[str, object]] | None, status: int, said: str
) -> None:
    for name in ("scripts/audit", "static/vendor/VENDOR.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "uv").write_text(UV.format(python=sys.executable))
    (tools / "uv").chmod(0o755)
    answer = None if packages is None else json.dumps({"dependencies": packages, "fixes": []})
    (tmp_path / "pip-audit").write_text(PIP_AUDIT.format(python=sys.executable, answer=answer))
    ran = subprocess.run(
        [sys.executable, tmp_path / "scripts" / "audit"],
        env={"PATH": f"{tools}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == status, ran.stderr
    assert said in ran.stdout + ran.stderr
    listed = json.loads((tmp_path / "dist" / "bridgenote.cdx.json").read_text())["components"]
    assert {"flask", "htmx.org"} <= {one["name"] for one in listed}
