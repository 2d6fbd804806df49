"""What the pages show runs, and says what they say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest

PYTHON = Path(__file__).parents[1]
DOCS = PYTHON.parent / "docs"


def test_the_first_example_prints_what_the_page_says() -> None:
    page = (DOCS / "python.md").read_text()
    example = PYTHON / "examples/first.py"
    program = example.read_text().split("import meed\n", 1)[1].strip()
    assert program in page
    printed = subprocess.run(
        [sys.executable, example], check=True, capture_output=True, text=True
    ).stdout
    assert printed.strip() in page


PAGES = [DOCS / "python.md", DOCS / "python-policies.md", PYTHON / "README.md"]


@pytest.mark.parametrize("page", PAGES)
def test_programs_in_pages_run(page: Path, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    known: dict[str, Any] = {"__name__": "page"}
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, str(page), "exec"), known)


def test_the_doctest_of_the_package() -> None:
    program = "import doctest, meed; assert doctest.testmod(meed) == (0, 6)"
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [one.name for one in (PYTHON / "examples").glob("*.ipynb")])
def test_a_notebook_runs_and_draws(name: str, tmp_path: Path, monkeypatch: Any) -> None:
    # Pictures go into the notebook, whatever the environment says of windows.
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    notebook = nbformat.read(PYTHON / "examples" / name, as_version=4)
    nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    ).execute()
    pictures = [
        output["data"]["image/png"]
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if "image/png" in output.get("data", {})
    ]
    assert len(pictures) >= 2
    keep = os.environ.get("MEED_PICTURES")
    if keep:
        nbformat.write(notebook, Path(keep) / name)
