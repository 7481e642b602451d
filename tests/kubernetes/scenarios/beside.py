"""Which other pods a pod must be near to or apart from, and how it must lie with its like.

Options of a line that makes pods:

    pod ...  apart:KEY=app=web          no pod with app=web within one value of the node label KEY
             near:KEY=app=web           one there
             evenly:KEY=1:app=web       maxSkew 1, DoNotSchedule (`evenly:KEY=1:app=web:min=3` with minDomains)
"""

from typing import Any

from tests.kubernetes.scenarios.lines import Line

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def _selector(text: str) -> dict[str, Any]:
    key, _, value = text.partition("=")
    return {"matchLabels": {key: value}}


def add_company(line: Line, spec: dict[str, Any]) -> None:
    """Put what the line says about other pods into a pod's spec."""
    for word, field in (("apart", "podAntiAffinity"), ("near", "podAffinity")):
        terms = [{"topologyKey": key, "labelSelector": _selector(text)} for key, text in line.map(word).items()]
        if terms:
            spec.setdefault("affinity", {})[field] = {_REQUIRED: terms}
    for key, text in line.map("evenly").items():
        skew, whom, *more = text.split(":")
        rule: dict[str, Any] = {"topologyKey": key, "maxSkew": int(skew), "labelSelector": _selector(whom)}
        rule["whenUnsatisfiable"] = "DoNotSchedule"
        for option in more:
            if option.startswith("min="):
                rule["minDomains"] = int(option.removeprefix("min="))
        spec.setdefault("topologySpreadConstraints", []).append(rule)
