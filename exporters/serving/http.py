"""A small HTTP server: /metrics from the page, /healthz, /readyz, and a page for people.

A request reads nothing but the page, so it costs next to nothing; more than a few at a time are refused at once. Each
connection carries one request, so that nobody can hold a place by keeping quiet.
"""

import base64
import binascii
import html
import socket
import socketserver
import ssl
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from threading import BoundedSemaphore, Lock, Thread
from time import sleep
from typing import Any

from msgspec import Struct

from exporters.config import ConfigError
from exporters.serving.web_config import Door, Keeper
from exporters.working.page import Page, negotiated
from exporters.working.worker import Clock, system_clock

REQUEST_WITHIN_S = 10.0
"""A client that takes longer to say what it wants, or to take the answer, is let go."""

FIRST_PAGE_WITHIN_S = 10.0
"""How long a scrape waits for the first page at most; less where it says how long it has."""

SCRAPE_MARGIN_S = 0.5
"""What is left of a scraper's patience for the way back."""

CONNECTION_S_MAX = 30.0
"""However a client drips: after so long its connection is cut, so that its place is free again."""

PAGE_AGE_S_MAX = 60.0
"""An older page is not served: the exporter itself hangs then, and must not look well."""

REFUSE_WITHIN_S = 0.02

BUSY = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 5\r\nConnection: close\r\nRetry-After: 1\r\n\r\nbusy\n"

TEXT = "text/plain; charset=utf-8"


class Answer(Struct, frozen=True, kw_only=True):
    """What a request gets."""

    status: HTTPStatus
    body: bytes
    kind: str = TEXT
    headers: Mapping[str, str] = {}


class Listener(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """Accepts connections; each request by a thread of its own, up to `concurrent_max` at a time.

    Raises ConfigError for an address that cannot be listened on.
    """

    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self,
        listen: str,
        page: Page,
        keeper: Keeper,
        *,
        concurrent_max: int = 8,
        title: str = "knotwatch-exporter",
        clock: Clock = system_clock,
    ) -> None:
        self.page = page
        self.keeper = keeper
        self.title = title
        self.clock = clock
        self.requests: Counter[int] = Counter()
        self.started = clock()
        self._counting = Lock()
        self._open: dict[socket.socket, float] = {}
        self._places = BoundedSemaphore(concurrent_max)
        host, port = parsed_address(listen)
        try:
            found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
            # Of all addresses of this machine the one of IPv6 takes both kinds.
            family, _, _, _, address = next(
                (each for each in found if each[0] == socket.AF_INET6 and not host), found[0]
            )
            self.address_family = family
            super().__init__(address, Exchange)  # type: ignore[arg-type]  # typeshed knows addresses of IPv4 alone
        except OSError as error:
            raise ConfigError(f"cannot listen on {listen}: {(error.strerror or str(error)).lower()}.") from None

    @property
    def port(self) -> int:
        """The port that is listened on."""
        return int(self.server_address[1])

    def start(self) -> None:
        """Serve from a thread of its own until `stop`."""
        Thread(target=self.serve_forever, kwargs={"poll_interval": 0.2}, name="http", daemon=True).start()

    def stop(self) -> None:
        """No more requests; those being answered go on."""
        self.shutdown()
        self.server_close()

    def server_bind(self) -> None:
        if self.address_family == socket.AF_INET6:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        super().server_bind()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Find a place for the request, or refuse it."""
        if not self._places.acquire(blocking=False):
            self.count(HTTPStatus.SERVICE_UNAVAILABLE)
            self._refuse(request)
            return
        self._open[request] = self.clock().mono_s
        super().process_request(request, client_address)

    def service_actions(self) -> None:
        """Between connections: cut those that have been open for too long."""
        now_s = self.clock().mono_s
        for request, since_s in list(self._open.items()):
            if now_s - since_s > CONNECTION_S_MAX:
                with suppress(OSError):
                    request.shutdown(socket.SHUT_RDWR)

    def _refuse(self, request: socket.socket) -> None:
        with suppress(OSError):
            # With TLS there is no way to say it before a handshake: closed is refused too.
            if self.keeper.door().tls is None:
                request.settimeout(REFUSE_WITHIN_S)
                with suppress(TimeoutError):
                    request.recv(65536)  # what is unread when a socket closes takes the answer with it
                request.sendall(BUSY)
        self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._open.pop(request, None)
            self._places.release()

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Answer one request, after the handshake where there is TLS."""
        request.settimeout(REQUEST_WITHIN_S)
        door = self.keeper.door()
        if door.tls is None:
            Exchange(request, client_address, self)
            return
        # A duplicate, so that the socket in `_open` can still be cut while TLS has its own.
        with door.tls.wrap_socket(request.dup(), server_side=True) as wrapped:
            Exchange(wrapped, client_address, self)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away, or spoke no TLS, is nobody's trouble."""

    def count(self, status: int) -> None:
        """A request was answered so."""
        with self._counting:
            self.requests[status] += 1


class Exchange(BaseHTTPRequestHandler):
    """One request and its answer."""

    server: Listener
    protocol_version = "HTTP/1.1"
    server_version = "knotwatch-exporter"
    sys_version = ""
    timeout = REQUEST_WITHIN_S

    def do_GET(self) -> None:
        self._reply(with_body=True)

    def do_HEAD(self) -> None:
        self._reply(with_body=False)

    def log_message(self, *arguments: Any) -> None:
        """Nothing: requests are counted."""

    def _reply(self, *, with_body: bool) -> None:
        door = self.server.keeper.door()
        answer = self._answer(door)
        self.server.count(answer.status)
        self.send_response(answer.status)
        headers = {
            "Content-Type": answer.kind,
            "Content-Length": str(len(answer.body)),
            "Connection": "close",
            **answer.headers,
            **door.config.http_server_config.headers,
        }
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if with_body:
            self.wfile.write(answer.body)

    def _answer(self, door: Door) -> Answer:
        path = self.path.partition("?")[0]
        if path in PROBES:
            return PROBES[path](self.server)
        if not self._known_certificate(door):
            return Answer(status=HTTPStatus.FORBIDDEN, body=b"the certificate names nobody who is let in\n")
        if not self._known_user(door):
            return Answer(
                status=HTTPStatus.UNAUTHORIZED,
                body=b"who are you?\n",
                headers={"WWW-Authenticate": 'Basic realm="knotwatch-exporter", charset="UTF-8"'},
            )
        if path == "/metrics":
            return self._metrics()
        if path == "/":
            return Answer(status=HTTPStatus.OK, body=landing(self.server.title), kind="text/html; charset=utf-8")
        return Answer(status=HTTPStatus.NOT_FOUND, body=b"there is /metrics, /healthz and /readyz\n")

    def _metrics(self) -> Answer:
        wanted = negotiated(self.headers.get("Accept", ""), self.headers.get("Accept-Encoding", ""))
        page, clock = self.server.page, self.server.clock
        until_s = clock().mono_s + patience_s(self.headers.get("X-Prometheus-Scrape-Timeout-Seconds", ""))
        while page.made is None and clock().mono_s < until_s:
            sleep(0.05)
        now = clock()
        body = page.copy(wanted, now)
        if body is None or page.made is None:
            return Answer(status=HTTPStatus.SERVICE_UNAVAILABLE, body=b"nothing has been read yet\n")
        if now.mono_s - page.made.mono_s > PAGE_AGE_S_MAX:
            return Answer(status=HTTPStatus.SERVICE_UNAVAILABLE, body=b"the exporter hangs: its page is too old\n")
        headers = {"Vary": "Accept, Accept-Encoding", **({"Content-Encoding": "gzip"} if wanted.zipped else {})}
        return Answer(status=HTTPStatus.OK, body=body, kind=wanted.form.value, headers=headers)

    def _known_user(self, door: Door) -> bool:
        if not door.config.basic_auth_users:
            return True
        scheme, _, encoded = self.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "basic":
            return False
        try:
            user, colon, password = base64.b64decode(encoded.strip(), validate=True).decode("utf-8").partition(":")
        except (binascii.Error, ValueError):
            return False
        return bool(colon) and self.server.keeper.admits(door, user, password)

    def _known_certificate(self, door: Door) -> bool:
        tls = door.config.tls_server_config
        if tls is None or not tls.client_allowed_sans:
            return True
        shown = self.connection.getpeercert() if isinstance(self.connection, ssl.SSLSocket) else None
        named = (shown or {}).get("subjectAltName", ())
        names = {str(pair[1]) for pair in named if isinstance(pair, tuple)}
        return not names.isdisjoint(tls.client_allowed_sans)


def healthz(server: Listener) -> Answer:
    """200 while the exporter itself works: GPUs that fail are no reason to kill who reports it."""
    made = server.page.made or server.started
    if server.clock().mono_s - made.mono_s > PAGE_AGE_S_MAX:
        return Answer(status=HTTPStatus.SERVICE_UNAVAILABLE, body=b"the exporter hangs: its page is too old\n")
    return Answer(status=HTTPStatus.OK, body=b"ok\n")


def readyz(server: Listener) -> Answer:
    """200 once there is a page."""
    if server.page.made is None:
        return Answer(status=HTTPStatus.SERVICE_UNAVAILABLE, body=b"nothing has been read yet\n")
    return healthz(server)


PROBES: Mapping[str, Callable[[Listener], Answer]] = {"/healthz": healthz, "/readyz": readyz}
"""What is answered to anybody: it says nothing about the node."""


def landing(title: str) -> bytes:
    """The page for people."""
    name = html.escape(title)
    links = "".join(f'<li><a href="{path}">{path}</a></li>' for path in ("/metrics", *PROBES))
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{name}</title>'
        f"<h1>{name}</h1><p>GPUs, RDMA and whose they are, as metrics.</p><ul>{links}</ul></html>\n"
    ).encode()


def patience_s(scrape_timeout: str) -> float:
    """How long a scrape may wait, from its header X-Prometheus-Scrape-Timeout-Seconds."""
    try:
        given_s = float(scrape_timeout)
    except ValueError:
        return FIRST_PAGE_WITHIN_S
    return min(max(given_s - SCRAPE_MARGIN_S, 0.0), FIRST_PAGE_WITHIN_S) if given_s == given_s else FIRST_PAGE_WITHIN_S


def parsed_address(listen: str) -> tuple[str, int]:
    """`[::1]:10941` to host and port; no host means all. Raises ConfigError."""
    host, colon, port = listen.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise ConfigError(f"{listen!r} is no address to listen on: say HOST:PORT, or :PORT for all addresses.")
    return host.removeprefix("[").removesuffix("]"), int(port)
