"""A workspace that tries to have everything run that a workspace could have run: each file says so in `mark` if it is.

`KINDS` is the list, with what tries; `docs/SECURITY.md` says it for people. What can be of no harm without a real tool
(a build file of a server that is not here) lies there all the same, for the day on which the tool is.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

CLEAN_PATH = os.environ["PATH"]
"""As it was before any test led it into a workspace."""

PROGRAMS = (
    *("python", "python3", "pip", "node", "npm", "npx", "deno", "git", "sh", "bash", "env", "go", "gcc", "cc", "clang"),
    *("cargo", "rustc", "rustup", "java", "gradle", "gradlew", "mvn", "mvnw", "sbt", "mix", "cabal", "composer", "php"),
    *(
        "ruby",
        "bundle",
        "perl",
        "R",
        "julia",
        "lua",
        "just",
        "make",
        "shellcheck",
        "shfmt",
        "prettier",
        "eslint",
        "tsc",
    ),
    *("ty", "ruff", "pylsp", "pyright-langserver", "basedpyright-langserver", "pyrefly", "zuban", "mypy", "black"),
)
"""Names under which a program lies in the workspace's own folders."""

PLUGIN_RAN = "the plugin ran"
"""What a plugin in a sandbox says, which could write nothing."""

PROGRAM_FOLDERS = (".", "bin", ".venv/bin", "venv/bin", "node_modules/.bin", "vendor/bin", ".direnv/bin")

_SHELL = "#!/bin/sh\necho {name} >>{mark}\n"
_PYTHON = "open({mark!r}, 'a').write({name!r})\n"
_NODE = "require('fs').appendFileSync({mark!j}, {name!j} + '\\n');\n"
_MODULE = "import fs from 'node:fs';\nfs.appendFileSync({mark!j}, {name!j} + '\\n');\nexport default {};\n"

PYTHON_TRAPS = (
    *("sitecustomize.py", "usercustomize.py", "conftest.py", "setup.py", "noxfile.py", "evil.py", "manage.py"),
    # Names of the standard library and of what servers import: they must not be found in the current folder.
    *("json.py", "typing.py", "re.py", "ast.py", "asyncio.py", "jedi.py", "parso.py", "pyflakes.py", "pluggy.py"),
    *("pylsp.py", "docstring_to_markdown.py", "jedi_language_server.py", "pygls.py", "encodings/__init__.py"),
)

NODE_TRAPS = (
    *(f"node_modules/typescript/lib/{name}.js" for name in ("tsserver", "_tsserver", "typescript", "tsserverlibrary")),
    *(f"node_modules/typescript/lib/{name}.js" for name in ("tsc", "_tsc")),
    *(f"node_modules/{name}/index.js" for name in ("evil-plugin", "prettier", "eslint", "svelte", "sass", "postcss")),
    *("node_modules/prettier-plugin-astro/index.js", "node_modules/prettier-plugin-svelte/index.js"),
    *("evil.js", "evil.cjs", ".eslintrc.js", "eslint.config.js", "svelte.config.js", "prettier.config.js"),
    *("stylelint.config.js", "postcss.config.js", "tailwind.config.js", "vite.config.js", "graphql.config.js"),
    *(".prettierrc.js", "babel.config.js", "jest.config.js", ".pnp.cjs", "metro.config.js", "index.js"),
)
MODULE_TRAPS = ("evil.mjs", "astro.config.mjs", "eslint.config.mjs", "prettier.config.mjs", ".pnp.loader.mjs")

_NODE_PACKAGES = ("typescript", "evil-plugin", "prettier", "eslint", "svelte", "sass", "postcss")

CONFIGURATION: Mapping[str, str] = {
    # What this package itself reads of a workspace.
    "pyproject.toml": (
        '[tool.jupyter-lsp-agent]\nservers = {{ python = ["evil"] }}\ninstall_strategy = "auto"\n'
        'trusted_roots = ["."]\n[tool.jupyter-lsp-agent.server_settings.ty]\ncommand = ["./bin/ty"]\n'
        '[build-system]\nrequires = []\nbuild-backend = "evil"\nbackend-path = ["."]\n'
        '[tool.pyright]\nvenvPath = "."\nvenv = ".venv"\npythonPath = ".venv/bin/python"\n'
        '[tool.mypy]\nplugins = ["evil.py"]\npython_executable = ".venv/bin/python"\n'
        "[tool.pylint.MASTER]\ninit-hook = 'import evil'\nload-plugins = ['evil']\n"
        '[tool.pyrefly]\npython-interpreter-path = ".venv/bin/python"\n'
        '[tool.pyrefly.build-system]\ntype = "custom"\ncommand = [".venv/bin/python", "--build"]\n'
    ),
    ".vscode/settings.json": json.dumps(
        {
            "python.defaultInterpreterPath": ".venv/bin/python",
            "python.pythonPath": ".venv/bin/python",
            "typescript.tsdk": "node_modules/typescript/lib",
            "eslint.nodePath": "node_modules",
            "eslint.runtime": "./node",
            "clangd.path": "./bin/clang",
            "rust-analyzer.server.path": "./bin/cargo",
            "deno.path": "./bin/deno",
            "ruff.path": ["./bin/ruff"],
            "basedpyright.importStrategy": "fromEnvironment",
        }
    )
    .replace("{", "{{")
    .replace("}", "}}"),
    # Python.
    "pyrightconfig.json": '{{"venvPath": ".", "venv": ".venv", "pythonPath": ".venv/bin/python"}}',
    "pyrefly.toml": (
        'python-interpreter-path = ".venv/bin/python"\n'
        '[build-system]\ntype = "custom"\ncommand = [".venv/bin/python", "--build"]\n'
    ),
    "mypy.ini": "[mypy]\npython_executable = .venv/bin/python\nplugins = evil.py\n",
    "ty.toml": '[environment]\npython = ".venv"\n',
    "setup.cfg": "[flake8]\n[flake8:local-plugins]\nextension = X = evil:X\npaths = .\n",
    "tox.ini": "[flake8:local-plugins]\nextension = X = evil:X\npaths = .\n",
    "pylintrc": "[MASTER]\ninit-hook=import evil\n",
    ".pylintrc": "[MASTER]\ninit-hook=import evil\n",
    ".jedi/project.json": (
        '[1, {{"path": ".", "environment_path": ".venv/bin/python", "load_unsafe_extensions": true}}]'
    ),
    ".venv/pyvenv.cfg": "home = {root}/bin\nversion = 3.11.0\n",
    ".venv/lib/python3.11/site-packages/evil.pth": "import evil\n",
    # JavaScript and TypeScript.
    "package.json": (
        '{{"name": "w", "type": "commonjs", "main": "evil.js", "prettier": "./prettier.config.js",'
        ' "scripts": {{"preinstall": "sh evil.sh", "prepare": "sh evil.sh"}},'
        ' "eslintConfig": {{"plugins": ["evil-plugin"]}}}}'
    ),
    "tsconfig.json": (
        '{{"compilerOptions": {{"plugins": [{{"name": "evil-plugin"}}, {{"name": "./evil.js"}}]}},'
        ' "mdx": {{"plugins": ["./evil.mjs", "evil-plugin"], "checkMdx": true}}}}'
    ),
    "jsconfig.json": '{{"compilerOptions": {{"plugins": [{{"name": "evil-plugin"}}]}}}}',
    "deno.json": '{{"lint": {{"plugins": ["./evil-deno.ts"]}}, "tasks": {{"x": "sh evil.sh"}}, "imports": {{}}}}',
    "evil-deno.ts": (
        'export default {{ name: "evil", rules: {{ here: {{ create: (context) => ({{'
        ' Program: (node) => context.report({{ node, message: "' + PLUGIN_RAN + '" }}) }}) }} }} }};\n'
    ),
    ".npmrc": "node-options=--require ./evil.js\nscript-shell=./bin/sh\nregistry=http://127.0.0.1:1/\n",
    ".yarnrc.yml": "yarnPath: ./evil.js\n",
    ".oxlintrc.json": '{{"jsPlugins": ["./evil.js", "./evil.mjs", "evil-plugin"], "rules": {{"evil/x": "error"}}}}',
    "biome.json": "{{}}",
    ".stylelintrc.json": '{{"plugins": ["./evil.js"], "customSyntax": "./evil.js"}}',
    ".graphqlrc.yml": "schema: ./evil.js\ndocuments: '*'\n",
    "prisma.config.ts": "import './evil.mjs';\n",
    "schema.prisma": 'generator x {{\n  provider = "sh evil.sh"\n}}\n',
    # Rust.
    "build.rs": 'fn main() {{ std::fs::write("{mark}", "build.rs").unwrap(); }}\n',
    "Cargo.toml": '[package]\nname = "w"\nversion = "0.1.0"\nedition = "2021"\nbuild = "build.rs"\n',
    ".cargo/config.toml": '[build]\nrustc = "./bin/rustc"\nrustc-wrapper = "./bin/rustc"\n',
    "rust-toolchain.toml": '[toolchain]\npath = "."\n',
    # Go.
    "go.mod": "module w\ngo 1.19\n",
    "go.work": "go 1.19\nuse .\n",
    "go.env": "GOFLAGS=-toolexec={root}/bin/go\nCC={root}/bin/gcc\n",
    "generate.go": (
        "package main\n\n//go:generate sh evil.sh\n\n"
        "// #cgo CFLAGS: -fplugin={root}/evil.so\n// #cgo LDFLAGS: -fuse-ld={root}/bin/gcc\n"
        "// #cgo pkg-config: --define-variable=x=`sh evil.sh`\n// int f(void);\n"
        'import "C"\n'
    ),
    # C and C++.
    "compile_commands.json": (
        '[{{"directory": "{root}", "file": "a.c", "arguments": ["{root}/bin/gcc", "-fplugin={root}/evil.so",'
        ' "-Xclang", "-load", "-Xclang", "{root}/evil.so", "-B{root}/bin", "-c", "a.c"]}}]'
    ),
    ".clangd": (
        "CompileFlags:\n  Compiler: {root}/bin/gcc\n"
        "  Add: [-fplugin={root}/evil.so, -fpass-plugin={root}/evil.so, -B{root}/bin]\n"
    ),
    ".ccls": "./bin/clang\n",
    # Build files that are programs.
    "build.gradle": "new File('{mark}') << 'gradle'\n",
    "settings.gradle": "new File('{mark}') << 'gradle'\n",
    "pom.xml": "<project><modelVersion>4.0.0</modelVersion></project>\n",
    ".mvn/jvm.config": "-javaagent:evil.jar\n",
    "build.sbt": 'val x = java.nio.file.Files.createFile(java.nio.file.Path.of("{mark}"))\n',
    "mix.exs": 'File.write!("{mark}", "mix")\n',
    "x.cabal": "build-type: Custom\n",
    "Setup.hs": 'main = writeFile "{mark}" "cabal"\n',
    "hie.yaml": 'cradle: {{bios: {{program: "./bin/sh"}}}}\n',
    "dune-project": "(lang dune 3.0)\n",
    "dune": '(* -*- tuareg -*- *)\nlet () = close_out (open_out "{mark}")\n',
    "composer.json": '{{"scripts": {{"post-autoload-dump": "sh evil.sh"}}}}',
    "Package.swift": "import Foundation\n",
    "build.zig": "pub fn build() void {{}}\n",
    "flake.nix": "{{ outputs = _: {{}}; }}\n",
    "Makefile": "x := $(shell sh evil.sh)\n",
    # Other languages.
    "Gemfile": "File.write('{mark}', 'Gemfile')\n",
    ".rubocop.yml": "require: ./evil.rb\n",
    ".solargraph.yml": "plugins: [evil]\n",
    ".Rprofile": "writeLines('R', '{mark}')\n",
    ".luarc.json": '{{"runtime.plugin": "./evil.lua"}}',
    ".emmyrc.json": '{{"runtime": {{"plugin": "./evil.lua"}}, "workspace": {{"preloadFileSize": 1}}}}',
    "evil.lua": "io.open('{mark}', 'w'):close()\n",
    ".exrc": ":call writefile(['vim'], '{mark}')\n",
    ".vimrc": ":call writefile(['vim'], '{mark}')\n",
    "robot.toml": 'python-path = ["."]\nvariable-files = ["evil.py"]\n',
    "ansible.cfg": "[defaults]\nlibrary = .\ncallback_plugins = .\n",
    # Shells and version managers.
    ".envrc": "echo envrc >>{mark}\n",
    ".env": "PATH=.\nPYTHONPATH=.\nNODE_OPTIONS=--require ./evil.js\n",
    ".bashrc": "echo bashrc >>{mark}\n",
    ".shellcheckrc": "source-path=.\nexternal-sources=true\n",
    ".tool-versions": "python path:{root}\nnodejs path:{root}\nruby path:{root}\n",
    "mise.toml": '[env]\n_.source = "./evil.sh"\n[hooks]\nenter = "sh evil.sh"\n',
    ".python-version": "../../../{root}\n",
    ".nvmrc": "evil\n",
}
"""Files of configuration, as templates for `str.format`."""


def make_hostile(root: Path, mark: Path, keep: Mapping[str, str]) -> None:
    """Fill a folder with all of it; `keep` are files of the project that stay as they are wanted."""
    texts = {name: text.format(mark=mark, root=root) for name, text in CONFIGURATION.items()}
    texts |= {name: _filled(_PYTHON, mark, name) for name in PYTHON_TRAPS}
    texts |= {name: _filled(_NODE, mark, name) for name in NODE_TRAPS}
    texts |= {name: _filled(_MODULE, mark, name) for name in MODULE_TRAPS}
    texts |= {f"node_modules/{name}/package.json": _package(name) for name in _NODE_PACKAGES}
    texts["evil.sh"] = _filled(_SHELL, mark, "evil.sh")
    for folder in PROGRAM_FOLDERS:
        texts |= {f"{folder}/{name}": _filled(_SHELL, mark, f"{folder}/{name}") for name in PROGRAMS}
    for name, text in {**texts, **keep}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
    make_library(root / "evil.so", mark)


def _filled(template: str, mark: Path, name: str) -> str:
    text = template.replace("{mark!r}", repr(str(mark))).replace("{name!r}", repr(f"{name}\n"))
    text = text.replace("{mark!j}", json.dumps(str(mark))).replace("{name!j}", json.dumps(name))
    return text.replace("{mark}", str(mark)).replace("{name}", name)


def _package(name: str) -> str:
    main = "lib/typescript.js" if name == "typescript" else "index.js"
    return json.dumps({"name": name, "version": "99.0.0", "main": main})


def make_library(path: Path, mark: Path) -> None:
    """A shared library that is a plugin for whoever loads it; none where there is no C compiler."""
    compiler = shutil.which("gcc", path=CLEAN_PATH) or shutil.which("cc", path=CLEAN_PATH)
    if compiler is None:
        return
    source = (
        "#include <stdio.h>\n__attribute__((constructor)) static void run(void) {\n"
        f'    FILE *f = fopen("{mark}", "a"); if (f) {{ fputs("evil.so\\n", f); fclose(f); }}\n}}\n'
    )
    command = [compiler, "-shared", "-fPIC", "-x", "c", "-", "-o", str(path)]
    environ = {**os.environ, "PATH": CLEAN_PATH}
    subprocess.run(command, input=source, text=True, check=True, capture_output=True, env=environ)


def hostile_path(root: Path, path: str) -> str:
    """A `PATH` on which the workspace's own folders come first, by all sorts of ways."""
    own = [".", "", "bin", "./node_modules/.bin", *(str(root / folder) for folder in PROGRAM_FOLDERS)]
    return os.pathsep.join([*own, path])


def who_ran(mark: Path) -> list[str]:
    """What said that it was run."""
    return mark.read_text().split() if mark.exists() else []


CONTROLS: Mapping[str, Callable[[Path], list[str]]] = {
    "a program": lambda root: [str(root / "node_modules/.bin/tsc")],
    "a module of the current folder": lambda root: [
        "python3",
        "-c",
        f"import sys; sys.path[0] = '{root}'; import evil",
    ],
    "a plugin of JavaScript": lambda root: ["node", str(root / "node_modules/evil-plugin/index.js")],
    "an ECMAScript module": lambda root: ["node", str(root / "evil.mjs")],
    "a shared library": lambda root: ["python3", "-c", f"import ctypes; ctypes.CDLL('{root}/evil.so')"],
    "a shell's file": lambda root: ["sh", str(root / ".envrc")],
}
"""One of each kind of trap, sprung on purpose: a trap that does nothing would prove nothing."""
