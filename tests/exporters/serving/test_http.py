"""HTTP, over real sockets: what is answered, to whom, and that nobody can keep others waiting."""

import base64
import gzip
import http.client
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import bcrypt
import pytest

from exporters.config import ConfigError
from exporters.serving import http as serving
from exporters.serving.http import Listener, parsed_address, patience_s
from exporters.serving.web_config import Keeper
from exporters.subject import Moment
from exporters.working.office import Office
from tests.exporters.working.toys import Toy, VirtualTime

OPENMETRICS = "application/openmetrics-text; version=1.0.0"


@contextmanager
def listening(keeper: Keeper | None = None, **extra: Any) -> Iterator[tuple[Listener, Office, VirtualTime]]:
    """A listener on a free port, in virtual time; one toy has been read."""
    time = VirtualTime()
    office = time.office({"toys": lambda: [Toy("GPU-a")]})
    time.run(office, 1)
    listener = Listener("127.0.0.1:0", office.page, keeper or Keeper(None), clock=time.moment, **extra)
    listener.start()
    try:
        yield listener, office, time
    finally:
        listener.stop()


def asked(
    listener: Listener, path: str, method: str = "GET", tls: ssl.SSLContext | None = None, **headers: str
) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of one request."""
    connection = (
        http.client.HTTPSConnection("localhost", listener.port, timeout=20, context=tls)
        if tls
        else http.client.HTTPConnection("127.0.0.1", listener.port, timeout=20)
    )
    with closing(connection):
        connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()


def test_metrics_come_in_the_form_that_is_asked_for() -> None:
    with listening() as (listener, _, _):
        status, headers, plain = asked(listener, "/metrics")
        assert (status, headers["content-type"]) == (200, "text/plain; version=0.0.4; charset=utf-8")
        assert b'knotwatch_gpu_up{uuid="GPU-a"} 1.0' in plain
        _, headers, body = asked(listener, "/metrics?x=1", Accept=OPENMETRICS, Accept_Encoding="gzip")
        assert headers["content-encoding"] == "gzip"
        assert headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
        assert gzip.decompress(body).endswith(b"# EOF\n")
        status, headers, body = asked(listener, "/metrics", method="HEAD")
        assert (status, body, int(headers["content-length"])) == (200, b"", len(plain))


def test_other_paths_and_other_methods() -> None:
    with listening() as (listener, _, _):
        assert asked(listener, "/")[0] == 200
        assert b"/metrics" in asked(listener, "/")[2]
        assert asked(listener, "/etc/passwd")[0] == 404
        assert asked(listener, "/metrics", method="POST")[0] == 501
        assert listener.requests[200] == 2


def test_a_scrape_reads_nothing() -> None:
    """dcgm-exporter#607, #619: reading while a scrape waits passes its time limit on large nodes."""
    with listening() as (listener, _, time):
        begun = list(time.begun)
        for _ in range(20):
            assert asked(listener, "/metrics")[0] == 200
        assert time.begun == begun


def test_probes_tell_of_the_exporter_and_not_of_gpus() -> None:
    """NVIDIA/NVSentinel#1748: a monitor was killed by its liveness probe each time that a GPU degraded."""
    time = VirtualTime()
    office = time.office({"toys": lambda: [Toy("GPU-a", lambda _now_s: OSError())]})
    with Listener("127.0.0.1:0", office.page, Keeper(None), clock=time.moment) as listener:
        listener.start()
        assert asked(listener, "/healthz")[0] == 200
        assert asked(listener, "/readyz")[0] == 503
        time.run(office, 100)
        assert asked(listener, "/healthz")[0] == asked(listener, "/readyz")[0] == asked(listener, "/metrics")[0] == 200
        time.now_s += 61  # nobody makes pages any more
        assert asked(listener, "/healthz")[0] == asked(listener, "/readyz")[0] == 503
        status, _, body = asked(listener, "/metrics")
        assert (status, body) == (503, b"the exporter hangs: its page is too old\n")
        listener.stop()


def test_a_scrape_before_the_first_page_waits_no_longer_than_it_may() -> None:
    time = VirtualTime()
    office = time.office({"toys": list})

    def ticking() -> Moment:
        time.now_s += 0.1
        return time.moment()

    listener = Listener("127.0.0.1:0", office.page, Keeper(None), clock=ticking)
    listener.start()
    assert asked(listener, "/metrics", X_Prometheus_Scrape_Timeout_Seconds="2")[0] == 503
    assert time.now_s < 1003
    listener.stop()


@pytest.mark.parametrize(
    ("header", "patience"),
    [("10", 9.5), ("0.3", 0.0), ("", 10.0), ("soon", 10.0), ("nan", 10.0), ("-5", 0.0), ("1e9", 10.0)],
)
def test_how_long_a_scrape_may_wait(header: str, patience: float) -> None:
    assert patience_s(header) == patience


def test_more_requests_than_there_are_places_are_refused_at_once() -> None:
    with listening(concurrent_max=2) as (listener, _, _):
        silent = [socket.create_connection(("127.0.0.1", listener.port)) for _ in range(2)]
        while len(listener._open) < 2:
            Event().wait(0.01)
        assert asked(listener, "/metrics")[0] == 503
        for each in silent:
            each.close()
        while listener._open:
            Event().wait(0.01)
        assert asked(listener, "/metrics")[0] == 200


def test_a_client_that_keeps_quiet_loses_its_place() -> None:
    with (
        listening(concurrent_max=1) as (listener, _, time),
        socket.create_connection(("127.0.0.1", listener.port)) as silent,
    ):
        silent.sendall(b"GET /metrics HTTP/1.1\r\nX-Slow: ")
        while not listener._open:
            Event().wait(0.01)
        time.now_s += serving.CONNECTION_S_MAX + 1
        silent.settimeout(20)
        assert silent.recv(1024) == b""
        time.now_s -= serving.CONNECTION_S_MAX + 1
        while listener._open:
            Event().wait(0.01)
        assert asked(listener, "/metrics")[0] == 200


@pytest.mark.parametrize("rubbish", [b"\x16\x03\x01\x00\xa5", b"\r\n\r\n", b"GET\r\n\r\n", b"A" * 70_000, b""])
def test_rubbish_on_the_line_hurts_nobody(rubbish: bytes) -> None:
    with listening() as (listener, _, _):
        with socket.create_connection(("127.0.0.1", listener.port)) as client:
            client.sendall(rubbish)
        assert asked(listener, "/metrics")[0] == 200


@pytest.mark.parametrize("listen", ["10941", "host:", ":port", ":99999", "a:b:c", ":-1"])
def test_what_is_no_address_is_said(listen: str) -> None:
    with pytest.raises(ConfigError, match=r"is no address to listen on: say HOST:PORT"):
        parsed_address(listen)


def test_a_port_that_is_taken_is_said() -> None:
    with (
        listening() as (listener, office, _),
        pytest.raises(ConfigError, match=r"cannot listen on .*: address already in use"),
    ):
        Listener(f"127.0.0.1:{listener.port}", office.page, Keeper(None))


def test_all_addresses_are_both_kinds() -> None:
    office = VirtualTime().office({})
    listener = Listener(":0", office.page, Keeper(None))
    listener.start()
    assert asked(listener, "/healthz")[0] == 200
    listener.stop()


def test_who_has_no_password_sees_probes_alone(tmp_path: Path) -> None:
    path = tmp_path / "web.yml"
    path.write_text(
        f"basic_auth_users: {{ann: {bcrypt.hashpw(b'secret:1', bcrypt.gensalt(4)).decode()}}}\n"
        "http_server_config: {headers: {X-Frame-Options: deny}}\n"
    )
    with listening(Keeper(path)) as (listener, _, _):

        def known(word: str) -> int:
            return asked(listener, "/metrics", Authorization=word)[0]

        status, headers, body = asked(listener, "/metrics")
        assert (status, headers["x-frame-options"]) == (401, "deny")
        assert b"knotwatch_gpu" not in body
        assert asked(listener, "/")[0] == 401
        assert asked(listener, "/healthz")[0] == 200
        assert known("Basic " + base64.b64encode(b"ann:secret:1").decode()) == 200
        for word in ("Basic", "Basic !", "Bearer x", "Basic " + base64.b64encode(b"ann:no").decode(), "Basic /w=="):
            assert known(word) == 401


def certificate(folder: Path, name: str, ca: str | None = None) -> None:
    """A key and a certificate, signed by `ca` or by itself."""
    signer = [] if ca is None else ["-CA", f"{ca}.pem", "-CAkey", f"{ca}.key"]
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    named = ["-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}"]
    command = [*made, *named, *signer, "-keyout", f"{name}.key", "-out", f"{name}.pem"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)  # noqa: S603  our own command


@pytest.mark.needs("openssl")
def test_tls_and_certificates_of_clients(tmp_path: Path) -> None:
    certificate(tmp_path, "localhost")
    certificate(tmp_path, "authority")
    certificate(tmp_path, "ann", ca="authority")
    certificate(tmp_path, "bob", ca="authority")
    certificate(tmp_path, "eve")
    path = tmp_path / "web.yml"
    path.write_text(
        "tls_server_config:\n  cert_file: localhost.pem\n  key_file: localhost.key\n  min_version: TLS13\n"
        "  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: authority.pem\n"
        "  client_allowed_sans: [ann]\n"
    )

    def client(name: str | None, **bounds: ssl.TLSVersion) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=tmp_path / "localhost.pem")
        if name:
            context.load_cert_chain(tmp_path / f"{name}.pem", tmp_path / f"{name}.key")
        for bound, version in bounds.items():
            setattr(context, bound, version)
        return context

    with listening(Keeper(path)) as (listener, _, _):
        assert asked(listener, "/metrics", tls=client("ann"))[0] == 200
        assert asked(listener, "/metrics", tls=client("bob"))[0] == 403
        for refused in (client(None), client("eve"), client("ann", maximum_version=ssl.TLSVersion.TLSv1_2)):
            with pytest.raises(OSError):  # noqa: PT011  an alert, or a connection that is reset: both are refusals
                asked(listener, "/metrics", tls=refused)
        with pytest.raises((OSError, http.client.HTTPException)):
            asked(listener, "/metrics")
        assert asked(listener, "/metrics", tls=client("ann"))[0] == 200


@pytest.mark.needs("openssl")
def test_a_certificate_that_was_renewed_is_used_without_a_restart(tmp_path: Path) -> None:
    certificate(tmp_path, "localhost")
    path = tmp_path / "web.yml"
    path.write_text("tls_server_config: {cert_file: localhost.pem, key_file: localhost.key}\n")
    with listening(Keeper(path)) as (listener, _, _):
        old = ssl.create_default_context(cafile=tmp_path / "localhost.pem")
        assert asked(listener, "/metrics", tls=old)[0] == 200
        certificate(tmp_path, "localhost")
        assert asked(listener, "/metrics", tls=ssl.create_default_context(cafile=tmp_path / "localhost.pem"))[0] == 200
        with pytest.raises(ssl.SSLError):
            asked(listener, "/metrics", tls=old)
