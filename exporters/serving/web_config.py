"""TLS and basic authentication from a web configuration file of Prometheus' exporter-toolkit.

The format is that of https://github.com/prometheus/exporter-toolkit/blob/master/docs/web-configuration.md. What it
allows and Python's TLS cannot do is refused with a sentence, never passed over: who wanted a lock gets a lock.
"""

import hashlib
import hmac
import os
import re
import secrets
import ssl
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from threading import Lock

import msgspec
from msgspec import Struct

from exporters.config import UNKNOWN, ConfigError

VERSIONS: Mapping[str, ssl.TLSVersion] = {
    "TLS10": ssl.TLSVersion.TLSv1,
    "TLS11": ssl.TLSVersion.TLSv1_1,
    "TLS12": ssl.TLSVersion.TLSv1_2,
    "TLS13": ssl.TLSVersion.TLSv1_3,
}

CLIENT_AUTH: Mapping[str, ssl.VerifyMode | None] = {
    "": ssl.CERT_NONE,
    "NoClientCert": ssl.CERT_NONE,
    "VerifyClientCertIfGiven": ssl.CERT_OPTIONAL,
    "RequireAndVerifyClientCert": ssl.CERT_REQUIRED,
    # Python's ssl never takes a certificate that it has not verified.
    "RequestClientCert": None,
    "RequireAnyClientCert": None,
}

CIPHERS: Mapping[str, str] = {
    f"TLS_{key}_WITH_{cipher}": f"{name}-{suite}"
    for key, name in (("ECDHE_RSA", "ECDHE-RSA"), ("ECDHE_ECDSA", "ECDHE-ECDSA"))
    for cipher, suite in (
        ("AES_128_GCM_SHA256", "AES128-GCM-SHA256"),
        ("AES_256_GCM_SHA384", "AES256-GCM-SHA384"),
        ("CHACHA20_POLY1305_SHA256", "CHACHA20-POLY1305"),
        ("AES_128_CBC_SHA", "AES128-SHA"),
        ("AES_256_CBC_SHA", "AES256-SHA"),
    )
}
"""Go's names of cipher suites, and OpenSSL's. Those of TLS 1.3 cannot be chosen, in Go neither."""

HEADERS = (
    "Strict-Transport-Security",
    "X-Content-Type-Options",
    "X-Frame-Options",
    "X-XSS-Protection",
    "Content-Security-Policy",
)
"""The headers that exporter-toolkit lets be set."""

BCRYPT = re.compile(r"\$2[abxy]\$(?:0[4-9]|[12][0-9]|3[01])\$[./A-Za-z0-9]{53}")


class TlsServer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`tls_server_config`. Paths are relative to the file's folder."""

    cert_file: str = ""
    key_file: str = ""
    client_auth_type: str = ""
    client_ca_file: str = ""
    client_allowed_sans: tuple[str, ...] = ()
    min_version: str = "TLS12"
    max_version: str = "TLS13"
    cipher_suites: tuple[str, ...] = ()
    prefer_server_cipher_suites: bool = True


class HttpServer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`http_server_config`. `http2` is taken and means nothing: what is served here is HTTP/1.1."""

    http2: bool = True
    headers: dict[str, str] = {}


class WebConfig(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file."""

    tls_server_config: TlsServer | None = None
    http_server_config: HttpServer = HttpServer()
    basic_auth_users: dict[str, str] = {}


class Door(Struct, frozen=True, kw_only=True):
    """What a web configuration asks for, ready for use. `tls` None: plain HTTP."""

    config: WebConfig = WebConfig()
    tls: ssl.SSLContext | None = None


def door_of(path: Path) -> Door:
    """Read the file and what it names. Raises ConfigError."""
    config = _read(path)
    try:
        return Door(config=config, tls=_tls(config.tls_server_config, path.parent))
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None


def named_files(path: Path, config: WebConfig) -> Iterator[Path]:
    """The file itself and all that it names."""
    yield path
    if tls := config.tls_server_config:
        yield from (path.parent / each for each in (tls.cert_file, tls.key_file, tls.client_ca_file) if each)


def _read(path: Path) -> WebConfig:
    import yaml  # here, since few nodes have such a file, and all would pay for it in memory

    try:
        tree = yaml.safe_load(path.read_text(encoding="utf-8"))
        config = msgspec.convert({} if tree is None else tree, WebConfig)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}.") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not a text in UTF-8.") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{path} is no YAML: {' '.join(str(error).split())}.") from None
    except msgspec.ValidationError as error:
        raise ConfigError(f"{path}: {_said(str(error))}") from None
    for header in sorted(config.http_server_config.headers):
        if header not in HEADERS or not config.http_server_config.headers[header].isprintable():
            raise ConfigError(f"{path}: header {header!r} cannot be set; those that can are {', '.join(HEADERS)}.")
    for user in sorted(config.basic_auth_users):
        if not BCRYPT.fullmatch(config.basic_auth_users[user]):
            raise ConfigError(f"{path}: the password of {user!r} is no bcrypt hash; `htpasswd -nBC 10 USER` makes one.")
    return config


def _said(message: str) -> str:
    found = UNKNOWN.match(message)
    if not found:
        return f"{message}."
    sections = {"tls_server_config": TlsServer, "http_server_config": HttpServer}
    fields = sections.get(found["section"] or "", WebConfig).__struct_fields__
    near = get_close_matches(found["key"], fields, n=1)
    hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(fields)}."
    return f"{found['key']} is no key that is known here; {hint}"


def _tls(wanted: TlsServer | None, folder: Path) -> ssl.SSLContext | None:
    if wanted is None:
        return None
    if not wanted.cert_file or not wanted.key_file:
        raise ConfigError("tls_server_config needs cert_file and key_file.")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = _version(wanted.min_version, "min_version")
    context.maximum_version = _version(wanted.max_version, "max_version")
    context.verify_mode = _client_auth(wanted)
    if wanted.prefer_server_cipher_suites:
        context.options |= ssl.OP_CIPHER_SERVER_PREFERENCE
    if wanted.cipher_suites:
        unknown = [each for each in wanted.cipher_suites if each not in CIPHERS]
        if unknown:
            raise ConfigError(f"cipher_suites: {unknown[0]} is none of {', '.join(CIPHERS)}.")
        context.set_ciphers(":".join(CIPHERS[each] for each in wanted.cipher_suites))
    try:
        context.load_cert_chain(folder / wanted.cert_file, folder / wanted.key_file)
        if wanted.client_ca_file:
            context.load_verify_locations(folder / wanted.client_ca_file)
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(f"the certificate, its key or client_ca_file cannot be used: {error}.") from None
    return context


def _version(name: str, key: str) -> ssl.TLSVersion:
    if name not in VERSIONS:
        raise ConfigError(f"{key} {name!r} is none of {', '.join(VERSIONS)}.")
    return VERSIONS[name]


def _client_auth(wanted: TlsServer) -> ssl.VerifyMode:
    if wanted.client_auth_type not in CLIENT_AUTH:
        known = ", ".join(name for name in CLIENT_AUTH if name)
        raise ConfigError(f"client_auth_type {wanted.client_auth_type!r} is none of {known}.")
    mode = CLIENT_AUTH[wanted.client_auth_type]
    if mode is None:
        raise ConfigError(
            f"client_auth_type {wanted.client_auth_type} takes certificates that nobody has verified, which cannot be "
            "done here; say RequireAndVerifyClientCert."
        )
    if mode is not ssl.CERT_NONE and not wanted.client_ca_file:
        raise ConfigError(f"client_auth_type {wanted.client_auth_type} needs client_ca_file.")
    if mode is ssl.CERT_NONE and (wanted.client_ca_file or wanted.client_allowed_sans):
        raise ConfigError("client_ca_file and client_allowed_sans need client_auth_type RequireAndVerifyClientCert.")
    return mode


class Keeper:
    """Holds the door as the files say now: they are looked at again whenever one has changed, without a restart.

    A file that has become unusable changes nothing: the last good one stays, and `complaint` says so.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._looking = Lock()
        self._hashing = Lock()
        self._door = door_of(path) if path else Door()
        self._seen = self._marks()
        self.complaint = ""
        self._right: frozenset[bytes] = frozenset()
        self._secret = secrets.token_bytes(32)
        # Somebody who does not exist is refused no faster than a wrong password is.
        self._nobody = _hashed("nobody") if path else ""

    def door(self) -> Door:
        """The door as it is now. A few stat calls."""
        if self._path is None:
            return self._door
        with self._looking:
            marks = self._marks()
            if marks != self._seen:
                self._seen = marks
                try:
                    self._door, self.complaint = door_of(self._path), ""
                except ConfigError as error:
                    self.complaint = f"{error} The configuration of before stays in force."
                self._seen = self._marks()
                self._right = frozenset()
            return self._door

    def admits(self, door: Door, user: str, password: str) -> bool:
        """Whether the password is that of the user.

        bcrypt is slow on purpose: a right answer is remembered (as a keyed hash, one for each user), and others are
        worked out one at a time, so that guessing takes at most one core and never delays those who are known.
        """
        stored = door.config.basic_auth_users.get(user)
        question = "\0".join((user, stored or "", password)).encode("utf-8", "surrogateescape")
        mark = hmac.new(self._secret, question, hashlib.sha256).digest()
        if mark in self._right:
            return True
        with self._hashing:
            right = _matches(password, stored or self._nobody) and stored is not None
        if right:
            self._right |= {mark}
        return right

    def _marks(self) -> list[tuple[int, int, int] | None]:
        return [_mark(each) for each in named_files(self._path, self._door.config)] if self._path else []


def _mark(path: Path) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116  no Path method is cheaper, and this runs for each request
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino, found.st_size


def _hashed(password: str) -> str:
    import bcrypt  # here, like yaml

    return bcrypt.hashpw(password.encode(), bcrypt.gensalt(10)).decode()


def _matches(password: str, stored: str) -> bool:
    import bcrypt  # here, like yaml

    try:
        return bcrypt.checkpw(password.encode("utf-8", "surrogateescape"), stored.encode())
    except ValueError:  # longer than bcrypt can take
        return False
