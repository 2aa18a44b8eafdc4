"""A Python text with the means to turn a syntax tree's places (1-based lines, UTF-8 bytes) into ours."""

import ast

from jupyter_lsp_agent.core.positions import TextPosition, TextRange

LocatedNode = ast.expr | ast.stmt | ast.excepthandler | ast.arg | ast.alias | ast.keyword


class SourceText:
    """The lines of a text whose line ends are LF."""

    __slots__ = ("_ascii", "lines")

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self._ascii = text.isascii()

    def position(self, lineno: int, col_offset: int) -> TextPosition:
        """A tree's place in code points."""
        line = lineno - 1
        if self._ascii:
            return TextPosition(line, col_offset)
        encoded = self.lines[line].encode("utf-8", "surrogatepass")
        return TextPosition(line, len(encoded[:col_offset].decode("utf-8", "ignore")))

    def start(self, node: LocatedNode) -> TextPosition:
        """Where a node begins; decorators are not part of a definition."""
        return self.position(node.lineno, node.col_offset)

    def end(self, node: LocatedNode) -> TextPosition:
        """Where a node ends, exclusive."""
        return self.position(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def range(self, node: LocatedNode) -> TextRange:
        """The whole of a node."""
        return TextRange(self.start(node), self.end(node))

    def slice(self, stretch: TextRange) -> str:
        """The characters of a range, lines joined with LF."""
        start, end = stretch.start, stretch.end
        if start.line == end.line:
            return self.lines[start.line][start.column : end.column]
        inner = self.lines[start.line + 1 : end.line]
        return "\n".join([self.lines[start.line][start.column :], *inner, self.lines[end.line][: end.column]])

    def find(self, word: str, stretch: TextRange) -> TextRange | None:
        """The first occurrence of `word` in a range; it must stand in one line."""
        for line in range(stretch.start.line, stretch.end.line + 1):
            low = stretch.start.column if line == stretch.start.line else 0
            high = stretch.end.column if line == stretch.end.line else len(self.lines[line])
            column = self.lines[line].find(word, low, high)
            if column >= 0:
                return TextRange(TextPosition(line, column), TextPosition(line, column + len(word)))
        return None
