"""The methods of LSP 3.17 that this client speaks, by their names on the wire."""

from enum import IntEnum
from typing import Final

INITIALIZE: Final = "initialize"
INITIALIZED: Final = "initialized"
SHUTDOWN: Final = "shutdown"
EXIT: Final = "exit"

DID_OPEN: Final = "textDocument/didOpen"
DID_CHANGE: Final = "textDocument/didChange"
DID_SAVE: Final = "textDocument/didSave"
DID_CLOSE: Final = "textDocument/didClose"
PUBLISH_DIAGNOSTICS: Final = "textDocument/publishDiagnostics"
DOCUMENT_DIAGNOSTIC: Final = "textDocument/diagnostic"

HOVER: Final = "textDocument/hover"
DEFINITION: Final = "textDocument/definition"
REFERENCES: Final = "textDocument/references"
DOCUMENT_SYMBOL: Final = "textDocument/documentSymbol"
SIGNATURE_HELP: Final = "textDocument/signatureHelp"
WORKSPACE_SYMBOL: Final = "workspace/symbol"

CONFIGURATION: Final = "workspace/configuration"
WORKSPACE_FOLDERS: Final = "workspace/workspaceFolders"
APPLY_EDIT: Final = "workspace/applyEdit"
DIAGNOSTIC_REFRESH: Final = "workspace/diagnostic/refresh"
DID_CHANGE_CONFIGURATION: Final = "workspace/didChangeConfiguration"
DID_CHANGE_WATCHED_FILES: Final = "workspace/didChangeWatchedFiles"

REGISTER_CAPABILITY: Final = "client/registerCapability"
UNREGISTER_CAPABILITY: Final = "client/unregisterCapability"

SHOW_MESSAGE: Final = "window/showMessage"
SHOW_MESSAGE_REQUEST: Final = "window/showMessageRequest"
SHOW_DOCUMENT: Final = "window/showDocument"
LOG_MESSAGE: Final = "window/logMessage"
WORK_DONE_PROGRESS_CREATE: Final = "window/workDoneProgress/create"
PROGRESS: Final = "$/progress"
SERVER_STATUS: Final = "experimental/serverStatus"
"""rust-analyzer's own: `{health, quiescent, message?}`, sent only where the client asked for it."""

REFRESHES: Final = (
    DIAGNOSTIC_REFRESH,
    "workspace/semanticTokens/refresh",
    "workspace/inlayHint/refresh",
    "workspace/inlineValue/refresh",
    "workspace/codeLens/refresh",
    "workspace/foldingRange/refresh",
)
"""Requests to ask again for something. All are answered, since some servers send them whatever was offered."""


class SyncKind(IntEnum):
    """LSP's `TextDocumentSyncKind`."""

    NONE = 0
    FULL = 1
    INCREMENTAL = 2
