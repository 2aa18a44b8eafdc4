"""`python -m jupyter_lsp_agent`: the command line, where its script is not on the path."""

import sys

from jupyter_lsp_agent.frontends.cli import main

if __name__ == "__main__":
    sys.exit(main())
