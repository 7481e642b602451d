"""Running text: credentials go, and the words that the analyzer reads stay."""

import pytest

from analyzer.collect.texts import is_credential, masked


@pytest.mark.parametrize(
    "text",
    [
        "0/4 nodes are available: 4 Insufficient nvidia.com/gpu. preemption: 0/4 nodes are available",
        'I1130 12:49:48.677020  31981 controller.go:258] "Finished syncing" key="team-red/job-a" elapsed="1ms"',
        'MountVolume.SetUp failed for volume "tls" : secret "my-tls" not found',
        "Exceeded the PodsReady timeout team-red/job-pretrain-936c8",
        "JobId=12 ArrayJobId=10 Comment=(null) MinMemoryNode=0 Features=(null) DelayBoot=00:00:00",
        "tokenExpirationSeconds=3607 secretName: registry imagePullSecretRef=x",
        "bypass=true, 2 passes: compass=n, passed: 3 of 4, credits=5, pwm=1",
        "the basic scheduling cycle; a bearer of news; monkey=3 turkey: 4",
        "Get https://10.0.0.1:443/api/v1/pods: dial tcp 10.0.0.1:443: connect: connection refused",
    ],
)
def test_messages_stay_as_they_are(text: str) -> None:
    assert masked(text) == text


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("password=hunter2", "password=***"),
        ("DB_PASSWORD: hunter2, and more", "DB_PASSWORD: ***, and more"),
        ("DB_PASS=hunter2 and more", "DB_PASS=*** and more"),
        ("AccountingStoragePass   = hunter2", "AccountingStoragePass   = ***"),
        ("run --db-pass hunter2 --creds=hunter2", "run --db-pass *** --creds=***"),
        ("--token hunter2 --nodes 4", "--token *** --nodes 4"),
        ("--token=hunter2;next", "--token=***;next"),
        ('{"level":"info","apiToken":"hun ter2","n":1}', '{"level":"info","apiToken":"***","n":1}'),
        ('{"clientSecret": "hun\\"ter2", "n": 1}', '{"clientSecret": "***", "n": 1}'),
        ('body="{\\"password\\":\\"hunter2\\",\\"n\\":1}"', 'body="{\\"password\\":\\"***\\",\\"n\\":1}"'),
        ("password='hunter 2' x", "password='***' x"),
        ('password="hunter2 that never closes', 'password="***"'),
        ("Authorization: Bearer abcdef.ghijkl", "Authorization: ***"),
        ("Authorization: Basic dXNlcjpwYXNz", "Authorization: ***"),
        ('"Authorization":["Basic dXNlcjpwYXNz"]', '"Authorization":["***"]'),
        ("with bearer abcdefghij", "with bearer ***"),
        ("postgres://user:pa55@db:5432/x", "postgres://***@db:5432/x"),
        ('Get "https://s3/x?X-Amz-Signature=abc": denied', 'Get "https://s3/x?***": denied'),
        ("eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrIn0.c2lnbmF0dXJl", "***"),
        ("AKIAIOSFODNN7EXAMPLE in region", "*** in region"),
        ("sbatch --export=ALL,WANDB=abc,MODE=x job.sh", "sbatch --export=ALL,WANDB=***,MODE=*** job.sh"),
        ("sbatch --export=A=\"hun, ter\",B='x y',C job.sh", "sbatch --export=A=***,B=***,C job.sh"),
        ("a -----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY----- b", "a -----BEGIN PRIVATE KEY-----*** b"),
    ],
)
def test_credentials_are_masked_and_quotes_stay(text: str, kept: str) -> None:
    assert masked(text) == kept


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("password", True),
        ("redis-password", True),
        ("clientSecret", True),
        ("WANDB_API_KEY", True),
        ("SECRET_KEY", True),
        ("authToken", True),
        ("--hf-token", True),
        ("DB_PASS", True),
        ("JobCompPass", True),
        ("ldap_pw", True),
        ("bypass", False),
        ("passes", False),
        ("secretName", False),
        ("imagePullSecretRef", False),
        ("tokenExpirationSeconds", False),
        ("topologyKey", False),
        ("key", False),
        ("passwordFile", False),
    ],
)
def test_names_of_credentials(name: str, *, secret: bool) -> None:
    assert is_credential(name) is secret
