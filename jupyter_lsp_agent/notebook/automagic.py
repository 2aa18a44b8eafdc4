"""Line magics without `%`: IPython's prefilter takes them in cells of one line.

The words are those of IPython's own line magics, of ipykernel's, and of IPython's aliases for shell commands.
"""

import re
import sys

from jupyter_lsp_agent.notebook.ipython_syntax import Construct, ConstructKind

_IPYTHON_WORDS = """
    alias alias_magic autoawait autocall automagic bookmark cd code_wrap colors conda config debug dhist dirs
    doctest_mode edit env gui hist history killbgscripts load load_ext loadpy logoff logon logstart logstate logstop
    lsmagic macro magic mamba matplotlib micromamba notebook page pastebin pdb pdef pdoc pfile pinfo pinfo2 pip popd
    pprint precision prun psearch psource pushd pwd pycat pylab quickref recall rehashx reload_ext rep rerun reset
    reset_selective run save sc set_env store sx system tb time timeit unalias unload_ext uv who who_ls whos xdel xmode
"""
_KERNEL_WORDS = "autosave clear connect_info ed less man more qtconsole subshell"
_ALIASES = (
    "ddir copy echo ls ldir mkdir ren rmdir"
    if sys.platform == "win32"
    else "cat cp ldir lf lk ll ls lx mkdir mv rm rmdir"
)

AUTOMAGIC_WORDS: frozenset[str] = frozenset(f"{_IPYTHON_WORDS} {_KERNEL_WORDS} {_ALIASES}".split())
"""Words that begin a one-line cell as a line magic without `%`, unless the notebook or Python has them as names."""

_LINE = re.compile(r"(\s*)([\w.*]+)(\s.*|)", re.DOTALL)


def find_automagic(line: str) -> Construct | None:
    """The line magic that a cell of this one line is though it has no `%`: its first word is that of a line magic.

    IPython's prefilter looks at cells of one line alone; an assignment to the word is never a magic. That the notebook
    has no such name is for the caller to know. `run(x)`, which IPython would take for `%run (x)`, is Python here: a
    name from a star import is likelier than a magic so written.
    """
    match = _LINE.fullmatch(line)
    if match is None or match[2] not in AUTOMAGIC_WORDS or match[3].lstrip()[:1] in {"=", ","}:
        return None
    return Construct(ConstructKind.MAGIC, 0, 0, match.end(1), (match[2] + match[3]).rstrip(), escape_width=0)
