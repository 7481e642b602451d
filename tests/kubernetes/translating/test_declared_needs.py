"""What commands of init containers, and annotations, say that a pod waits for; and what they do not say."""

import pytest

from analyzer.sources.kubernetes.mechanisms.declared_needs import Need, Sort, declared, is_conditional, needs_of
from analyzer.sources.kubernetes.objects import Container
from analyzer.sources.kubernetes.objects.pod import EnvVar

CONNECTION, NAME = Sort.CONNECTION, Sort.NAME


def shell(script: str, **variables: str) -> tuple[Need, ...]:
    env = tuple(EnvVar(name, value) for name, value in variables.items())
    return needs_of(Container(image="busybox:1.36", command=("sh", "-c"), args=(script,), env=env))


@pytest.mark.parametrize(
    ("script", "sort", "host"),
    [
        ("until nslookup mydb; do echo waiting; sleep 2; done", NAME, "mydb"),
        (
            "until nslookup -timeout=2 mydb.prod.svc.cluster.local; do sleep 2; done",
            NAME,
            "mydb.prod.svc.cluster.local",
        ),
        ("while ! getent hosts mydb; do sleep 1; done", NAME, "mydb"),
        ('until [ -n "$(dig +short mydb.prod)" ]; do sleep 1; done', NAME, "mydb.prod"),
        ("until nc -z db 5432; do sleep 2; done", CONNECTION, "db"),
        ("until nc -vz -w 5 db 5432 >/dev/null; do sleep 2; done", CONNECTION, "db"),
        ("while ! nc -zw3 db.prod 5432; do sleep 2; done", CONNECTION, "db.prod"),
        ("./wait-for-it.sh db:5432 -t 0", CONNECTION, "db"),
        ("/wait-for-it.sh --timeout=0 --strict db:5432 -- true", CONNECTION, "db"),
        ("wait-for-it.sh -h db -p 5432", CONNECTION, "db"),
        ("wait-for db:5432", CONNECTION, "db"),
        ("dockerize -wait tcp://db:5432 -timeout 60s", CONNECTION, "db"),
        ("wait4x tcp db:5432", CONNECTION, "db"),
        ("until curl -sf http://user:word@api:8080/ready; do sleep 1; done", CONNECTION, "api"),
        ("until wget -q --spider https://api.prod/ready; do sleep 1; done", CONNECTION, "api.prod"),
        ("until pg_isready -U postgres -h db; do sleep 1; done", CONNECTION, "db"),
        ("until redis-cli -h cache ping; do sleep 1; done", CONNECTION, "cache"),
        ("until mysqladmin ping --host=db --silent; do sleep 1; done", CONNECTION, "db"),
        ("until (echo > /dev/tcp/db/5432) 2>/dev/null; do sleep 1; done", CONNECTION, "db"),
    ],
)
def test_a_host_is_found_in_the_command(script: str, sort: Sort, host: str) -> None:
    assert shell(script) == (Need(sort, "", host),)


@pytest.mark.parametrize(
    "script",
    [
        "cp -r /models /cache",
        "wget http://files.example.com/model.bin -O /m",  # it fetches, and no loop says that it waits
        "until curl -sf http://localhost:15021/healthz; do sleep 1; done",
        "nc -l 8080",
        "until nc -z $DB_HOST 5432; do sleep 2; done",  # from somewhere that is not in the input
        "kubectl wait --for=delete pod/old",
        "kubectl wait --for=jsonpath='{.status.phase}'=Running pod/a",
        "kubectl get pods && echo wait",
        "",
    ],
)
def test_what_is_not_understood_is_no_need(script: str) -> None:
    assert shell(script) == ()


def test_variables_are_filled_in_where_their_values_are_known() -> None:
    known = (Need(CONNECTION, "", "db"),)
    assert shell("until nc -z $(DB_HOST) $(DB_PORT); do sleep 1; done", DB_HOST="db", DB_PORT="5432") == known
    assert shell("until nc -z ${DB_HOST} 5432; do sleep 1; done", DB_HOST="db") == known
    assert shell("until nc -z $DB_HOST 5432; do sleep 1; done", DB_HOST="db") == known


def test_several_needs_are_all_named_once() -> None:
    script = "until nc -z db 5432; do :; done; until nc -z cache 6379; do :; done; until nc -z db 5432; do :; done"
    assert shell(script) == (Need(CONNECTION, "", "cache"), Need(CONNECTION, "", "db"))


@pytest.mark.parametrize(
    ("command", "need"),
    [
        ("kubectl wait --for=condition=complete --timeout=-1s job/seed", Need(Sort.JOB, "", "seed")),
        ("kubectl wait job/seed -n prep --for=condition=complete", Need(Sort.JOB, "prep", "seed")),
        ("kubectl -n ml wait --for condition=Ready pod/db-0", Need(Sort.POD, "ml", "db-0")),
        ("kubectl wait --for=condition=Ready pod -l app=db,tier=a", Need(Sort.PODS, "", "app=db,tier=a")),
        ("kubectl wait --for=condition=available deployment.apps/api", Need(Sort.READY, "", "api")),
        ("kubectl rollout status deployment/api", Need(Sort.READY, "", "api")),
        ("kubectl rollout status --namespace=ml sts db", Need(Sort.READY, "ml", "db")),
    ],
)
def test_kubectl_waits(command: str, need: Need) -> None:
    assert shell(command) == (need,)


@pytest.mark.parametrize(
    ("arguments", "needs"),
    [
        (("job", "seed"), (Need(Sort.JOB, "", "seed"),)),
        (("job-wr", "seed", "-n", "prep"), (Need(Sort.JOB, "prep", "seed"),)),
        (("pod", "-lapp=db"), (Need(Sort.PODS, "", "app=db"),)),
        (("service", "api"), (Need(Sort.SERVICE, "", "api"),)),
        (("pod", "-l!app"), ()),
    ],
)
def test_the_image_that_waits(arguments: tuple[str, ...], needs: tuple[Need, ...]) -> None:
    assert needs_of(Container(image="groundnuty/k8s-wait-for:v2.0", args=arguments)) == needs


def test_an_annotation_names_kinds_and_names() -> None:
    found = declared("service/db, job/prep/seed ,pod/web-0,secret/key,service/,nothing")
    assert found == (Need(Sort.JOB, "prep", "seed"), Need(Sort.POD, "", "web-0"), Need(Sort.SERVICE, "", "db"))


@pytest.mark.parametrize(
    ("script", "conditional"),
    [
        ("until nc -z db 5432; do sleep 2; done", False),
        ("for i in $(seq 60); do nc -z db 5432 && exit 0; sleep 1; done; exit 1", False),
        ("while true; do if nc -z db 5432; then break; fi; sleep 1; done", True),
        ('[ "$(hostname)" = db-0 ] || until nc -z db-0.db 5432; do sleep 1; done', True),
    ],
)
def test_a_command_that_may_do_without(script: str, conditional: bool) -> None:  # noqa: FBT001  a table's column
    assert is_conditional(Container(command=("sh", "-c", script))) is conditional
