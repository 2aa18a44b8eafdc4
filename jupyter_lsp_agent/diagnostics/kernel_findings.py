"""Findings about notebooks of kernels other than Python, with what is only a kernel's own way taken out.

Which finding is about what is told by patterns, a row per language: servers of one language share a compiler's codes.
A cell that does not parse is left out of the joined document, so names that it would have bound are not held against
the others.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from jupyter_lsp_agent.core.diagnostic import CellDiagnostic, Diagnostic, DiagnosticSeverity
from jupyter_lsp_agent.core.ids import LanguageId
from jupyter_lsp_agent.core.positions import TextRange
from jupyter_lsp_agent.notebook.virtual_document import VirtualDocument

_NEVER = r"(?!)"


@dataclass(frozen=True, slots=True)
class KernelRules:
    """What a language's findings are about: patterns over `CODE|SOURCE|message`.

    Attributes:
        syntax: the text does not parse.
        undefined: a name is not known.
        redefinition: a name is bound again, which a kernel takes from another cell.
        missing: a module or header is not there; what comes from it is unknown then.
        doubtful: what may be right in a file, and is mostly not in cells that are run again; it is a warning.
        allowed: what the kernel has nothing against, though a file must not hold it.
    """

    syntax: str = _NEVER
    undefined: str = _NEVER
    redefinition: str = _NEVER
    missing: str = _NEVER
    doubtful: str = _NEVER
    allowed: str = _NEVER


_GO_PACKAGES = (
    "atomic|base64|big|binary|bits|bufio|bytes|cmp|context|csv|embed|errors|exec|filepath|flag|fmt|hash|heap|hex|html|http|"
    "image|io|ioutil|json|list|log|maps|math|md5|net|os|path|rand|reflect|regexp|ring|runtime|sha1|sha256|signal|slices|"
    "slog|sort|sql|strconv|strings|sync|syscall|tabwriter|template|testing|time|unicode|unsafe|url|utf8|xml|zip"
)
_TYPESCRIPT = KernelRules(
    syntax=r"1\d{3}\|",
    undefined=r"(?:2304|2503|2552|18004)\|",
    redefinition=r"(?:2300|2393|2440|2451)\|",
    missing=r"(?:2307|2792)\||no-cache",
)
_RULES: dict[str, KernelRules] = {
    # 2218: "only defined later", said also of a function that is defined before, and again later.
    "shellscript": KernelRules(syntax=r"(?:SC)?1\d{3}\|", doubtful=r"(?:SC)?2218\|"),
    "typescript": _TYPESCRIPT,
    "javascript": _TYPESCRIPT,
    "r": KernelRules(syntax=r"(?:syntax|parse)[\w-]*\|"),
    "cpp": KernelRules(
        syntax=r"(?:expected|extraneous|unterminated|unmatched|bad_string|fatal_too_many)\w*\|",
        undefined=r"(?:undeclared_var_use|undeclared_use|unknown_typename|no_template|undeclared)\w*\|",
        redefinition=r"(?:redefinition|redeclared|ovl_diff_return_type|duplicate)\w*\|",
        missing=r"pp_file_not_found\w*\|",
    ),
    "go": KernelRules(
        syntax=r"[^|]*\|syntax\|",
        undefined=r".*(?:undeclared name|undefined): ",
        redefinition=r".*(?:redeclared|other declaration of)",
        missing=r".*(?:could not import|no required module|cannot find package)",
        # The kernel runs goimports: it takes unused imports out, and adds those of the standard library.
        allowed=rf".*imported (?:but|and) not used|.*(?:undeclared name|undefined): (?:{_GO_PACKAGES})$",
    ),
    "rust": KernelRules(
        syntax=r"syntax-error\|", redefinition=r"E0428\|", missing=r"E0432\|", undefined=r"E042[235]\|"
    ),
}


@dataclass(frozen=True, slots=True)
class KernelFindings:
    """What stands, and which cells a server could not parse."""

    findings: tuple[CellDiagnostic, ...]
    broken_cells: frozenset[int]


def findings_on_glue(document: VirtualDocument, diagnostics: Iterable[Diagnostic]) -> Iterator[CellDiagnostic]:
    """Errors where we put something between cells: what a cell leaves open is noticed there, and is told at its end."""
    for diagnostic in diagnostics:
        line = diagnostic.range.start.line
        place = document.line_map.place_at(line)
        is_glue = place is not None and document.line_map.to_cell(diagnostic.range.start) is None
        if place is None or not is_glue or diagnostic.severity is not DiagnosticSeverity.ERROR:
            continue
        end = place.chunk.end_of_cell(line - place.first_line)
        if end is not None:
            yield CellDiagnostic(place.cell_index, replace(diagnostic, range=TextRange(end, end)))


def judge_kernel_findings(
    language: LanguageId, findings: Iterable[CellDiagnostic], *, has_broken: bool = False
) -> KernelFindings:
    """The findings as a notebook's.

    Args:
        language: of the kernel.
        findings: a server's, in cells.
        has_broken: some cell was left out because it does not parse.
    """
    rules, found = _RULES.get(language, KernelRules()), tuple(findings)
    lenient = has_broken or any(_is(rules.missing, finding.diagnostic) for finding in found)
    twins = Counter(_twin(finding) for finding in found)
    kept = []
    for finding in found:
        diagnostic = finding.diagnostic
        across_cells = _is(rules.redefinition, diagnostic) and twins[_twin(finding)] < 2
        if _is(rules.allowed, diagnostic) or across_cells:
            continue
        is_soft = _is(rules.doubtful, diagnostic) or (lenient and _is(rules.undefined, diagnostic))
        kept.append(_softened(finding) if is_soft else finding)
    errors = [item for item in kept if item.diagnostic.severity is DiagnosticSeverity.ERROR]
    broken = frozenset(item.cell_index for item in errors if _is(rules.syntax, item.diagnostic))
    return KernelFindings(tuple(kept), broken)


def _is(pattern: str, diagnostic: Diagnostic) -> bool:
    told = f"{diagnostic.code or ''}|{diagnostic.source}|{diagnostic.message}"
    return re.match(pattern, told, re.IGNORECASE | re.DOTALL) is not None


def _twin(finding: CellDiagnostic) -> tuple[int, str | None, str]:
    """Servers tell a redefinition at both places; two in one cell are that cell's own."""
    return finding.cell_index, finding.diagnostic.code, finding.diagnostic.message


def _softened(finding: CellDiagnostic) -> CellDiagnostic:
    severity = max(finding.diagnostic.severity, DiagnosticSeverity.WARNING)
    return replace(finding, diagnostic=replace(finding.diagnostic, severity=severity))
