"""Print one of the README's two commands: the fenced block behind `<!-- command: NAME -->`."""

import pathlib
import re
import sys

readme = pathlib.Path(__file__).parents[1].joinpath("README.md").read_text(encoding="utf-8")
found = re.search(rf"<!-- command: {re.escape(sys.argv[1])} -->\n```bash\n(.*?)```", readme, re.DOTALL)
if found is None:
    sys.exit(f"README.md has no block behind `<!-- command: {sys.argv[1]} -->`")
sys.stdout.write(found.group(1))
