"""What the client offers a server, and why: one table.

An offer changes how a server behaves (one that is offered pull stops pushing; one that is offered configuration waits
for answers), so everything offered here is really done, and nothing is offered for show.
"""

from dataclasses import dataclass
from typing import Any

from jupyter_lsp_agent.core.behaviour import ReadySignal, ServerBehaviour


@dataclass(frozen=True, slots=True)
class Offer:
    """One client capability: its dotted place in LSP's `ClientCapabilities`, its value, and the reason for it."""

    place: str
    value: Any
    reason: str


_OFFERS = (
    Offer(
        "general.positionEncodings",
        ["utf-16", "utf-8", "utf-32"],
        "all three are converted exactly; utf-16 leads because it is the one every server has been used with",
    ),
    Offer(
        "general.staleRequestSupport",
        {"cancel": True, "retryOnContentModified": ["textDocument/diagnostic"]},
        "a pull whose text moved under it is asked again, and a caller that gives up cancels its request",
    ),
    Offer(
        "textDocument.synchronization",
        {"dynamicRegistration": False, "willSave": False, "willSaveWaitUntil": False, "didSave": True},
        "texts are synchronised from the first moment, so nothing about it may come later; didSave is sent",
    ),
    Offer(
        "textDocument.publishDiagnostics",
        {
            "relatedInformation": True,
            "tagSupport": {"valueSet": [1, 2]},
            "versionSupport": True,
            "codeDescriptionSupport": True,
            "dataSupport": False,
        },
        "the version is what tells an answer on this text from one on the text before; data serves code actions only",
    ),
    Offer("textDocument.hover", {"contentFormat": ["markdown", "plaintext"]}, "agents read Markdown"),
    Offer("textDocument.definition", {"linkSupport": True}, "a link names the whole declaration as well as its name"),
    Offer("textDocument.references", {}, "asked on demand"),
    Offer(
        "textDocument.documentSymbol",
        {"hierarchicalDocumentSymbolSupport": True, "tagSupport": {"valueSet": [1]}},
        "the tree says what belongs to what; the flat form is read too",
    ),
    Offer(
        "textDocument.signatureHelp",
        {
            "signatureInformation": {
                "documentationFormat": ["markdown", "plaintext"],
                "parameterInformation": {"labelOffsetSupport": True},
                "activeParameterSupport": True,
            }
        },
        "asked on demand",
    ),
    Offer("workspace.symbol", {}, "asked on demand"),
    Offer(
        "workspace.configuration",
        value=True,
        reason="every item is answered; several servers are configured in no other way",
    ),
    Offer(
        "workspace.didChangeConfiguration",
        {"dynamicRegistration": True},
        "some servers ask for it before they will ask for settings; accepting costs nothing",
    ),
    Offer(
        "workspace.didChangeWatchedFiles",
        {"dynamicRegistration": True, "relativePatternSupport": True},
        "a file written beside the notebook must reach the server; all changes are sent whatever it watches",
    ),
    Offer("workspace.workspaceFolders", value=True, reason="the root is named in the form that newer servers read"),
    Offer(
        "workspace.applyEdit",
        value=False,
        reason="a server's edit is never applied: only an edit that was asked for is made",
    ),
    Offer(
        "window.showMessage", {"messageActionItem": {"additionalPropertiesSupport": False}}, "answered with no choice"
    ),
    Offer("window.showDocument", {"support": False}, "there is no window"),
)

_PULL = (
    Offer(
        "textDocument.diagnostic",
        {"dynamicRegistration": True, "relatedDocumentSupport": True},
        "the answer to a pull is about the text it was asked for; some servers never push, others register it later",
    ),
    Offer("workspace.diagnostics", {"refreshSupport": True}, "a pull that is under way is made again after a refresh"),
)

_PROGRESS = Offer("window.workDoneProgress", value=True, reason="a server that is still loading says so in this way")

_QUIESCENT = Offer(
    "experimental.serverStatusNotification",
    value=True,
    reason="until it is quiescent this server's empty answers mean nothing",
)


def offers(behaviour: ServerBehaviour) -> tuple[Offer, ...]:
    """All that is offered to a server of this behaviour, with the reasons."""
    chosen = [*_OFFERS]
    if behaviour.advertise_pull:
        chosen += _PULL
    if not behaviour.refuses_progress:
        chosen.append(_PROGRESS)
    if behaviour.ready is ReadySignal.QUIESCENT:
        chosen.append(_QUIESCENT)
    return tuple(chosen)


def client_capabilities(behaviour: ServerBehaviour) -> dict[str, Any]:
    """LSP's `ClientCapabilities` for a server of this behaviour."""
    tree: dict[str, Any] = {}
    for offer in offers(behaviour):
        *parents, leaf = offer.place.split(".")
        branch = tree
        for name in parents:
            branch = branch.setdefault(name, {})
        branch[leaf] = offer.value
    if behaviour.advertise_pull and not behaviour.dynamic_registration:
        tree["textDocument"]["diagnostic"] = {"dynamicRegistration": False, "relatedDocumentSupport": True}
    return tree
