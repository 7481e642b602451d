"""Command lines of containers: words that look like names, numbers and options stay, everything else is masked.

What a container starts tells what it waits for (`torchrun --nnodes=4`, `until nslookup db`), and is where people write
passwords. So a word stays only by its shape: an option, a number, a name made of letters and a few digits. What
stands behind the name of a credential, or behind an option that takes one, is masked whatever its shape is, to the end
of its quotes; and so is text that is too long to be a command.
"""

import re

from analyzer.collect.texts import MASK, is_credential

_TEXT_MAX = 4096
"""More is a whole script: nobody waits in its words, and anything may stand there."""

_TOKEN = re.compile(r"\s+|[;|&()<>{}\"'`]|[^\s;|&()<>{}\"'`]+")
_OPTION = re.compile(r"-[A-Za-z]{1,2}|-(?:ppn|npernode|host|hostfile|genv|bind-to|map-by)|--[A-Za-z][A-Za-z-_]{0,60}")
_VARIABLE = re.compile(r"\$?[A-Z][A-Z_]{0,60}")
_NUMBER = re.compile(r"-?\d{1,7}(?:\.\d{1,6})?(?:[kKMGTsmh]|[KMGT]i)?")
_PART = r"(?:[A-Z]?[a-z]{1,20}|[a-z]{0,20}\d{1,4}|\*)"
_NAME = re.compile(
    rf"(?:[a-z]{{2,8}}://)?[./]*{_PART}(?:[-._/]{{1,2}}{_PART})*(?::\d{{1,5}}(?:/{_PART}(?:[-._/]{_PART})*)?)?/?"
)
"""A program, a file, a service, an address with a port: letters with few digits between dots, slashes and hyphens."""
_NAME_MAX = 200
_OPERATOR = re.compile(r"[!\[\]=\\:,+%~^-]{1,3}")
_KEY = re.compile(r"(?:^|[-_.])key$", re.IGNORECASE)
_QUOTES = frozenset("\"'`")
_TAKES_CREDENTIALS = frozenset({"-a", "-p", "-P", "-u", "-U", "-k", "-H", "--header"})
"""redis-cli -a, sshpass -p, curl -u and -H, and so on; behind them only a number stays."""
_SCHEMES = frozenset({"bearer", "basic", "digest", "negotiate"})
"""What stands before a credential in a header."""


def kept_words(text: str) -> str:
    """One argument, or a whole line of shell, without what could be a credential."""
    if len(text) > _TEXT_MAX:
        return MASK
    return _kept(text, "")[0]


def kept_arguments(arguments: list[object]) -> list[object]:
    """A list of arguments; what is no text in it goes. An option masks what follows it also across arguments."""
    kept: list[object] = []
    before = ""
    for argument in arguments:
        if not isinstance(argument, str) or len(argument) > _TEXT_MAX:
            kept.append(MASK)
            before = ""
        else:
            text, before = _kept(argument, before)
            kept.append(text)
    return kept


def _kept(text: str, before: str) -> tuple[str, str]:
    """The text, and its last word: `before` is the last word of what stood before it."""
    parts: list[str] = []
    quotes: list[str] = []
    hidden = ""  # the quote that ends what is left out
    for token in _TOKEN.findall(text):
        if hidden:
            if token == hidden:
                parts.append(token)
                hidden = ""
        elif token in _QUOTES and quotes[-1:] == [token]:
            parts.append(quotes.pop())
        elif token in _QUOTES and _precedes_credential(before):
            parts += [token, MASK]
            hidden, before = token, ""
        elif token.isspace() or (len(token) == 1 and not token.isalnum()):
            parts.append(token)
            quotes += [token] if token in _QUOTES else []
        else:
            word = _word(token, before)
            before = token
            if word != MASK or parts[-1:] != [MASK]:
                parts.append(word)
    return "".join(parts), before


def _word(token: str, before: str) -> str:
    if _precedes_credential(before):
        return token if before in _TAKES_CREDENTIALS and _NUMBER.fullmatch(token) else MASK
    name, equals, value = token.partition("=")
    if equals and (_OPTION.fullmatch(name) or _VARIABLE.fullmatch(name) or _NAME.fullmatch(name)):
        return f"{name}={MASK if value and (_takes_credential(name) or not _stays(value)) else value}"
    return token if _stays(token) else MASK


def _precedes_credential(word: str) -> bool:
    """Whether what follows this word is a credential: `--token`, `TOKEN=`, `password:`, `-p`, `Bearer`."""
    if word in _TAKES_CREDENTIALS or word.lower() in _SCHEMES:
        return True
    name, equals, value = word.partition("=")
    return not value and (_takes_credential(name) if equals or _OPTION.fullmatch(word) else is_credential(word))


def _takes_credential(name: str) -> bool:
    """Of options and variables also those that are just a key."""
    return is_credential(name) or _KEY.search(name) is not None


def _stays(word: str) -> bool:
    if len(word) > _NAME_MAX:
        return False
    return any(shape.fullmatch(word) for shape in (_OPTION, _VARIABLE, _NUMBER, _NAME, _OPERATOR)) or not word
