"""Command lines: what is started and waited for stays, what could be a credential goes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.collect.words import kept_arguments, kept_words


@pytest.mark.parametrize(
    "text",
    [
        "until nslookup db.team-red.svc.cluster.local; do sleep 2; done",
        "torchrun --nnodes=4 --nproc_per_node=8 train.py --lr 0.1",
        "python -m torch.distributed.run --nnodes 4 train.py",
        "mpirun -np 16 -hostfile /etc/mpi/hostfile python3 /app/train.py",
        "while ! nc -z redis-0 6379; do echo waiting; done",
        "until [ $(curl -s http://model-server:8000/health) = 200 ]",
        "[ -f /data/done.txt ]",
        "kubectl wait pod/a-0 --timeout=300s",
    ],
)
def test_what_is_started_and_waited_for_stays(text: str) -> None:
    assert kept_words(text) == text


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("export TOKEN=abc; torchrun train.py", "export TOKEN=***; torchrun train.py"),
        ("export HF=Xk29fjaK11; run", "export HF=***; run"),
        ("train.py --password hunter --nodes 4", "train.py --password *** --nodes 4"),
        ("train.py --api-key=12345", "train.py --api-key=***"),
        ("train.py --key hunter --wandb-key=hunter", "train.py --key *** --wandb-key=***"),
        ("KEY=hunter run", "KEY=*** run"),
        ("DB_PASS=hunter run", "DB_PASS=*** run"),
        ("run --pass hunter", "run --pass ***"),
        ("mysql -phunter2 -h db", "mysql *** -h db"),
        ("redis-cli -h db -a hunter", "redis-cli -h db -a ***"),
        ("curl -u admin:hunter http://svc:80", "curl -u *** http://svc:80"),
        ("curl http://admin:hunter@svc:80/x", "curl ***"),
        ("curl http://svc/x?sig=abc", "curl ***"),
        ("echo dGhpcyBpcyBzZWNyZXQ= | base64 -d", "echo *** | base64 -d"),
        ("login 7f3c9a1e-22aa-4b1f", "login ***"),
        ("echo password hunter", "echo password ***"),
    ],
)
def test_what_could_be_a_credential_goes(text: str, kept: str) -> None:
    assert kept_words(text) == kept


LEADS = (
    *("--password ", "--api-key ", "--token=", "TOKEN=", "export DB_PASSWORD=", "password: ", '{"password": '),
    *("-p ", "-a ", "Bearer ", "Authorization: Basic ", "mysql --user root --password "),
)
PLANTED = st.lists(st.sampled_from(["hunter", "two", "secret-of-mine", "Qk7x", "12", "$HOME", "a=b"]), min_size=1)


@given(lead=st.sampled_from(LEADS), words=PLANTED, quote=st.sampled_from("\"'`"), after=st.sampled_from(["", " --n 4"]))
def test_a_quoted_credential_goes_to_the_end_of_its_quotes(lead: str, words: list[str], quote: str, after: str) -> None:
    kept = kept_words(f"run {lead}{quote}{' '.join(words)}{quote}{after}")
    assert kept == kept_words(f"run {lead}") + f"{quote}***{quote}{after}"


@given(lead=st.sampled_from(LEADS), word=st.sampled_from(["hunter", "secret-of-mine", "Qk7x", "a.b.c"]))
def test_a_bare_credential_goes_whatever_it_looks_like(lead: str, word: str) -> None:
    assert word not in kept_words(f"run {lead}{word} --n 4")
    assert word not in "".join(map(str, kept_arguments(["run", lead.strip(), word])))


def test_an_option_masks_the_next_argument() -> None:
    assert kept_arguments(["--token", "abc", "-n", "4", "--key-file", "/etc/key", 5]) == [
        *("--token", "***", "-n", "4", "--key-file", "/etc/key", "***")
    ]


def test_a_whole_script_goes() -> None:
    assert kept_words("echo hello\n" * 1000) == "***"
    assert kept_arguments(["-c", "x" * 10_000]) == ["-c", "***"]
