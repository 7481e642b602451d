"""The web configuration of exporter-toolkit: what is taken, what is refused and how, and that a change is seen."""

import os
from pathlib import Path

import bcrypt
import pytest

from exporters.config import ConfigError
from exporters.serving.web_config import Keeper, door_of

HASHED = bcrypt.hashpw(b"secret", bcrypt.gensalt(4)).decode()


def written(folder: Path, text: str) -> Path:
    path = folder / "web.yml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tls_server_confg: {}", "tls_server_confg is no key that is known here; did you mean tls_server_config?"),
        ("tls_server_config: {cert_fil: x}", "cert_fil is no key that is known here; did you mean cert_file?"),
        ("basic_auth_users: {a: secret}", "the password of 'a' is no bcrypt hash"),
        ("basic_auth_users: [a]", "Expected `object`, got `array` - at `$.basic_auth_users`"),
        ("a: [", "is no YAML"),
        ("tls_server_config: {cert_file: a}", "tls_server_config needs cert_file and key_file"),
        ("tls_server_config: {cert_file: a, key_file: b}", "cannot be used"),
        (
            "tls_server_config: {cert_file: a, key_file: b, min_version: TLS1}",
            "min_version 'TLS1' is none of TLS10, TLS11",
        ),
        ("tls_server_config: {cert_file: a, key_file: b, client_auth_type: Any}", "client_auth_type 'Any' is none of"),
        (
            "tls_server_config: {cert_file: a, key_file: b, client_auth_type: RequireAnyClientCert}",
            "say RequireAndVerifyClientCert",
        ),
        (
            "tls_server_config: {cert_file: a, key_file: b, client_auth_type: RequireAndVerifyClientCert}",
            "needs client_ca_file",
        ),
        ("tls_server_config: {cert_file: a, key_file: b, client_ca_file: c}", "need client_auth_type"),
        ("tls_server_config: {cert_file: a, key_file: b, cipher_suites: [ROT13]}", "ROT13 is none of"),
        ("http_server_config: {headers: {X-Mine: a}}", "header 'X-Mine' cannot be set"),
        ('http_server_config: {headers: {X-Frame-Options: "a\\r\\nSet-Cookie: b"}}', "cannot be set"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_with_the_file(tmp_path: Path, text: str, said: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ConfigError) as refused:
        door_of(path)
    assert str(path) in str(refused.value)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert "secret" not in str(refused.value)


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: no such file"):
        Keeper(tmp_path / "absent.yml")


@pytest.mark.parametrize("text", ["", "# nothing\n", "http_server_config: {http2: false}"])
def test_a_file_that_asks_for_nothing_is_no_lock(tmp_path: Path, text: str) -> None:
    assert door_of(written(tmp_path, text)).tls is None


def test_passwords_are_those_of_the_file(tmp_path: Path) -> None:
    keeper = Keeper(written(tmp_path, f"basic_auth_users: {{ann: {HASHED}, Bob: '{HASHED.replace('2b', '2y', 1)}'}}"))
    door = keeper.door()
    assert keeper.admits(door, "ann", "secret")
    assert keeper.admits(door, "Bob", "secret"), "what htpasswd writes"
    for user, password in (("ann", "Secret"), ("ann", ""), ("bob", "secret"), ("", ""), ("ann", "secret" + "x" * 100)):
        assert not keeper.admits(door, user, password)


def test_a_right_password_is_worked_out_once_and_wrong_ones_are_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worked = []
    checked = bcrypt.checkpw

    def counted(password: bytes, stored: bytes) -> bool:
        worked.append(password)
        return checked(password, stored)

    monkeypatch.setattr(bcrypt, "checkpw", counted)
    keeper = Keeper(written(tmp_path, f"basic_auth_users: {{ann: {HASHED}}}"))
    for _ in range(10):
        assert keeper.admits(keeper.door(), "ann", "secret")
    assert len(worked) == 1
    for n in range(10):
        assert not keeper.admits(keeper.door(), "ann", str(n))
    assert len(keeper._right) == 1


def test_a_change_of_the_file_is_seen_and_a_broken_one_changes_nothing(tmp_path: Path) -> None:
    path = written(tmp_path, f"basic_auth_users: {{ann: {HASHED}}}")
    keeper = Keeper(path)
    assert keeper.admits(keeper.door(), "ann", "secret")
    written(tmp_path, "basic_auth_users: {ann: broken}")
    os.utime(path, ns=(1, 1))
    assert keeper.admits(keeper.door(), "ann", "secret")
    assert "The configuration of before stays in force." in keeper.complaint
    written(tmp_path, f"basic_auth_users: {{bob: {HASHED}}}")
    os.utime(path, ns=(2, 2))
    assert not keeper.admits(keeper.door(), "ann", "secret")
    assert keeper.admits(keeper.door(), "bob", "secret")
    assert keeper.complaint == ""
