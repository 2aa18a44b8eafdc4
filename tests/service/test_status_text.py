from jupyter_lsp_agent.service.status_text import render_status


def server(name, *, installed=True, enabled=True, version=None, detail=None):
    return {
        "id": name, "title": name, "languages": ["python"], "extensions": [".py"], "enabled": enabled,
        "installed": installed, "command": ["x"], "source": "path" if installed else None, "version": version,
        "detail": detail,
    }  # fmt: skip


def status(*servers, enabled=True, running=(), broken=()):
    return {
        "enabled": enabled,
        "wait_ms": 1,
        "servers": list(servers),
        "running": list(running),
        "broken": list(broken),
    }


def test_nothing():
    assert render_status(status()) == "No language server is installed."


def test_everything():
    running = {"id": "ty", "root": "/r", "documents": 3, "state": "running"}
    broken = {"id": "ruff", "root": "/r", "reason": "it crashed"}
    told = render_status(
        status(
            server("ty", version="1"),
            server("ruff", enabled=False),
            server("zuban", detail="it crashed"),
            server("gopls", installed=False),
            server("texlab", installed=False),
            enabled=False,
            running=[running],
            broken=[broken],
        )
    )
    assert told.split("\n") == [
        "Switched off: no server is started (the setting `enabled`).",
        "Installed servers:",
        "  ty 1: python (path)",
        "  ruff: python (path, switched off)",
        "Installed, and not to be used as they are:",
        "  zuban: python (path): it crashed; install it anew, or switch it off in `server_settings` (x was started)",
        "Not installed: gopls, texlab",
        "Running: ty for /r, 3 documents, running",
        "Failed: ruff for /r: it crashed",
    ]


def test_one_document_is_one():
    running = {"id": "ty", "root": "/r", "documents": 1, "state": "running"}
    assert "Running: ty for /r, 1 document, running" in render_status(status(running=[running])).split("\n")


def test_one_that_fails_is_told_with_what_mends_it():
    for source, mend in {
        "installed": "`jupyter lsp-agent uninstall ruff` and then `install ruff` renew it",
        "configuration": "correct `command` of 'ruff' in `server_settings`",
    }.items():
        told = render_status(status({**server("ruff", detail="it ended."), "source": source})).split("\n")
        assert told == [
            "Installed, and not to be used as they are:",
            f"  ruff: python ({source}): it ended; {mend}",
        ]


def test_many_that_are_missing_are_counted():
    [_, told] = render_status(status(*(server(f"s{number}", installed=False) for number in range(65)))).split("\n")
    assert told.startswith("Not installed: 65 other servers; `jupyter lsp-agent install --list`")
