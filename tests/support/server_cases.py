"""For every server that the catalogue calls proven, a small project with one mistake."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Case:
    """A file, a text with one mistake, the same without it, and what lies beside it."""

    file_name: str
    bad: str
    good: str
    files: Mapping[str, str] = field(default_factory=dict)
    leftover: int = 0
    """Findings in the good text that are matters of taste."""
    stays_silent: bool = False
    """The server says nothing where there was nothing to say before, and no trick is known that makes it."""


PY = Case("a.py", "print(undefined_name)\n", "print(1)\n")
TS = Case(
    "a.ts",
    'const a: number = "x";\nconsole.log(a);\n',
    "const a: number = 1;\nconsole.log(a);\n",
    {"tsconfig.json": "{}"},
)

CASES = {
    "ty": PY,
    "basedpyright": PY,
    "pyright": PY,
    "pyrefly": PY,
    "zuban": PY,
    "ruff": PY,
    "pylsp": PY,
    "jedi": Case("a.py", "print(\n", "print(1)\n"),
    "typescript-language-server": TS,
    "typescript-native": TS,
    "vtsls": replace(TS, stays_silent=True),
    "deno": Case(TS.file_name, TS.bad, TS.good, {"deno.json": "{}"}),
    "biome": Case("a.ts", "const a = ;\n", "export const a = 1;\n", {"biome.json": "{}"}),
    "oxlint": Case("a.ts", "debugger;\n", "export const a = 1;\n"),
    "svelte": Case("a.svelte", "<script>\nlet a = ;\n</script>\n", "<script>\nlet a = 1;\n</script>\n<p>{a}</p>\n"),
    "astro": Case(
        "a.astro",
        "---\nconst a: number = 'x';\n---\n<p>{a}</p>\n",
        "---\nconst a: number = 1;\n---\n<p>{a}</p>\n",
        {"tsconfig.json": "{}"},
    ),
    "mdx": Case("a.mdx", "# Hi {\n", "# Hi\n"),
    "prisma": Case("schema.prisma", "model A {\n id Int @idd\n}\n", "model A {\n id Int @id\n}\n"),
    "vscode-json-language-server": Case("a.json", '{"a": }\n', '{"a": 1}\n'),
    "vscode-css-language-server": Case("a.css", "a { color: red\n", "a { color: red }\n"),
    "yaml-language-server": Case("a.yaml", "a: [1,\n", "a: [1]\n"),
    "tombi": Case("a.toml", "a = \nb = 1\n", "a = 1\nb = 1\n"),
    "badness": Case(
        "a.tex",
        "\\documentclass{article}\n\\begin{document}\n\\begin{itemize}\n\\end{document}\n",
        "\\documentclass{article}\n\\begin{document}\nHi.\n\\end{document}\n",
    ),
    "bash-language-server": Case("a.sh", "#!/bin/bash\nx=$1\nrm $x\n", '#!/bin/bash\nx=$1\nrm "$x"\n'),
    "docker-langserver": Case("Dockerfile", "FRM x\n", "FROM x\n"),
    "just-lsp": Case("justfile", "a: b\n  echo\n", "a:\n  echo hi\n"),
    "vimls": Case("a.vim", "function! F(\nendfunction\n", "function! F()\nendfunction\n"),
    "clangd": Case("a.c", "int main(void) { return missing; }\n", "int main(void) { return 0; }\n"),
    "gopls": Case(
        "a.go",
        "package main\nfunc main() { x := 1 }\n",
        "package main\nfunc main() { }\n",
        {"go.mod": "module m\ngo 1.19\n"},
    ),
    "rust-analyzer": Case(
        "src/main.rs",
        'fn main() {\n    let x: i32 = "a";\n    std::process::exit(x);\n}\n',
        "fn main() {\n    let x: i32 = 0;\n    std::process::exit(x);\n}\n",
        {
            "Cargo.toml": '[package]\nname = "model"\nversion = "0.1.0"\nedition = "2021"\n',
            "src/main.rs": "fn main() {}\n",
        },
    ),
    "arity": Case("a.r", "f <- function(x { x }\n", "f <- function(x) x\n", leftover=1),
    "fatou": Case("a.jl", "function f(x\n  x\nend\n", "function f(x)\n  x\nend\n"),
    "emmylua": Case("a.lua", "local x = \nprint(x)\n", "local x = 1\nprint(x)\n"),
    "intelephense": Case("a.php", "<?php\nfunction f( { }\n", "<?php\nfunction f() { }\n"),
    "postgres-language-server": Case("a.sql", "selct 1;\n", "select 1;\n"),
}
