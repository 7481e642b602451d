"""Settings: one TOML file to frozen values. An unknown key is an error with the nearest known one.

Each section is a struct here, and each key has its sentence beneath it: docs/exporter-settings.md is printed from them.
"""

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, get_type_hints

import msgspec
from msgspec import Struct

UNKNOWN = re.compile(r"Object contains unknown field `(?P<key>[^`]*)`(?: - at `\$\.?(?P<section>[^`]*)`)?")
PLACE = re.compile(r"(?P<what>.*?)(?: - at `\$\.?(?P<place>[^`]*)`)?", re.DOTALL)

PATTERNS = ("include", "exclude", "resources")
"""Keys whose values are regular expressions."""


class Web(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[web]`: how metrics are served."""

    listen: str = ":10941"
    """Address and port, as `127.0.0.1:10941` or `[::1]:10941`. `:10941` is all addresses, and the default: who scrapes
    is mostly another machine."""
    config_file: str = ""
    """A web configuration file in the format of Prometheus' exporter-toolkit: TLS and basic authentication."""
    concurrent_max: int = 8
    """Requests served at the same time; more are answered 503 at once."""
    page_interval_s: float = 5.0
    """How often the page is made anew. A scrape is answered from it and reads nothing."""


class Collect(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[collect]`: what is read, and how often."""

    on: tuple[str, ...] = ()
    """Collectors to turn on beside those that are on by default."""
    off: tuple[str, ...] = ()
    """Collectors to turn off."""
    interval_s: float = 10.0
    """How often a subject is read, unless its collector has a rhythm of its own."""
    deadline_s: float = 5.0
    """When a read that has not returned counts as stuck: the subject is down for `timeout` until it returns."""


class Paths(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[path]`: where the node's files are, for an exporter that runs in a container."""

    rootfs: str = "/"
    """The node's root folder."""
    sysfs: str = "/sys"
    """The node's sysfs."""
    procfs: str = "/proc"
    """The node's proc file system."""


class Gpu(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[gpu]`: what is read of GPUs."""

    expected: int = 0
    """How many GPUs this node should have; 0: the most that PCI or the driver has shown since the start."""
    each_link: bool = False
    """Also publish every NVLink by itself: some hundred series more for each GPU."""
    pause_file: str = ""
    """While this file exists, performance counters are left alone, for a profiler that needs them to itself."""


class Rdma(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[rdma]`: which RDMA devices are read."""

    include: str = ""
    """A regular expression for the whole name of a device, as `mlx5_[0-7]`; all by default."""
    exclude: str = ""
    """A regular expression for the whole name of devices to leave out; it wins over `include`. They are not touched at
    all: some firmware writes a line into the kernel's log for each read that it refuses."""


class Network(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[network]`: which network interfaces the node's collector reads."""

    include: str = ""
    """A regular expression for the whole name of an interface, as `ib[0-9]+|eth0`; all by default."""
    exclude: str = (
        "lo|(veth|cali|lxc|cilium|docker|br-|cni|flannel|kube-|nodelocaldns|dummy|tunl|ifb|virbr|tap|tun|podman|azv|"
        "eni).*"
    )
    """A regular expression for the whole name of interfaces to leave out; it wins over `include`. Those of containers
    come and go with them, so they are left out by default."""


class Idle(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[idle]`: when a GPU counts as idle."""

    floor_ratio: float = 0.01
    """SM activity, or share of time with a kernel resident, above which a GPU is active."""


class Stall(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[stall]`: when a GPU counts as busy but stalled. exporters/followers/README.md says why each is asked."""

    hold_s: float = 60.0
    """How long the signature has to last. Waits within a pipeline are shorter."""
    rest_s: float = 1800.0
    """For how long a GPU of the same job without resident kernels excuses those that wait: it may save a checkpoint."""
    resident_ratio: float = 0.95
    """Share of time with a kernel resident, from which on a GPU looks busy."""
    sm_ratio: float = 0.3
    """SM activity below which little is done."""
    tensor_ratio: float = 0.01
    """Activity of tensor cores below which nothing is computed."""
    memory_ratio: float = 0.05
    """Activity of the memory below which nothing is moved."""
    power_ratio: float = 0.5
    """Power, as share of its limit, below which nothing much is done."""
    link_ratio: float = 0.01
    """Share of their highest rate of the last hour below which NVLink and RDMA are quiet."""
    link_floor_bytes: float = 10_000_000.0
    """Bytes a second; who never moved more within the hour does not talk to other GPUs, so does not wait for them."""


class Allocation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[allocation]`: whose the GPUs are."""

    kubelet_socket: str = "/var/lib/kubelet/pod-resources/kubelet.sock"
    """Socket of the kubelet's PodResources service, on the node."""
    kubelet_checkpoint: str = "/var/lib/kubelet/device-plugins/kubelet_internal_checkpoint"
    """The kubelet's device checkpoint: a hint for UIDs of pods; empty: none."""
    pod_folders: str = "/var/log/pods"
    """Where the kubelet keeps logs by pod: folder names are a hint for UIDs; empty: none."""
    resources: str = ""
    """A regular expression for the whole name of further resources whose devices are NVIDIA GPUs, numbered by index."""
    mapping_age_max_s: float = 180.0
    """How long the kubelet's last word stands while it is silent; then pods are dropped from what is published."""
    job_folders: tuple[str, ...] = ("/run/gpustat",)
    """Folders in which a prolog of Slurm writes a file for each GPU, with the job's number in it."""
    job_numbers: Literal["either", "index", "minor"] = "either"
    """What a number as the name of such a file is; `either`: it counts only where both are the same."""
    leak_threshold_bytes: int = 268_435_456
    """Memory held by nobody that is less than this is not spoken of."""
    leak_baseline_max_bytes: int = 1_073_741_824
    """The most that driver and firmware may have in use with no process there; what is more is taken for a leak."""


class Dcgm(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[dcgm]`: the same values under the names of DCGM's exporter, for its dashboards and alerts."""

    names: Literal["", "old", "new", "both"] = ""
    """`old`: as dashboards ask for them; `new`: as DCGM 4.6 renames them, where the unit stays the same; `both`. Empty:
    none, unless the command line says `--dcgm-compat`, which is `old`."""
    host: str = ""
    """The node's name in the labels `Hostname` and `hostname`; empty: `NODE_NAME` of the environment, or the host
    name."""


class Limit(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[limit]`: bounds on what is published."""

    series_max: int = 10_000
    """Series on a page. Beyond it whole families are left out, in a fixed order, and counted."""
    label_max: int = 256
    """Characters of a label value; what is longer is cut."""
    subjects_max: int = 512
    """Subjects read at a time, each by a thread of its own; more are left out and counted."""


class Textfile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[textfile]`: a file for the textfile collector of node_exporter."""

    path: str = ""
    """The file to write, as `/var/lib/node_exporter/knotwatch.prom`; none by default. It is removed on a clean stop."""


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole file: its sections."""

    web: Web = Web()
    collect: Collect = Collect()
    path: Paths = Paths()
    gpu: Gpu = Gpu()
    rdma: Rdma = Rdma()
    allocation: Allocation = Allocation()
    network: Network = Network()
    idle: Idle = Idle()
    stall: Stall = Stall()
    dcgm: Dcgm = Dcgm()
    limit: Limit = Limit()
    textfile: Textfile = Textfile()


class ConfigError(ValueError):
    """The settings cannot be meant. Its text is one sentence with the file and the key."""


def read_settings(path: Path) -> Settings:
    """The settings in a TOML file. Raises ConfigError."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}.") from None
    try:
        return parsed_settings(tomllib.loads(raw.decode("utf-8")))
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not a text in UTF-8.") from None
    except (tomllib.TOMLDecodeError, ConfigError) as error:
        raise ConfigError(f"{path}: {error}") from None


def parsed_settings(tree: Mapping[str, Any]) -> Settings:
    """The settings in what TOML gave. Raises ConfigError with the key that is wrong."""
    try:
        settings = msgspec.convert(tree, Settings)
    except msgspec.ValidationError as error:
        raise ConfigError(_said(str(error))) from None
    for name, section in sections():
        for key in section.__struct_fields__:
            value = getattr(getattr(settings, name), key)
            if key.endswith(("_s", "_max")) and not 0 < value < 1e9:
                raise ConfigError(f"{name}.{key} is {value}, and has to be above 0.")
            if key.endswith("_ratio") and not 0 < value <= 1:
                raise ConfigError(f"{name}.{key} is {value}, and has to be a share above 0, 1 at most.")
            if key in PATTERNS and (fault := _fault_of(value)):
                raise ConfigError(f"{name}.{key} is no regular expression: {fault}.")
    return settings


def _fault_of(pattern: str) -> str:
    """What is wrong with a regular expression; empty if nothing is."""
    try:
        re.compile(pattern)
    except re.error as error:
        return str(error)
    return ""


def sections() -> Iterator[tuple[str, type[Struct]]]:
    """Every section: its name in the file, and its struct, in order."""
    yield from get_type_hints(Settings).items()


def settings_page() -> str:
    """docs/exporter-settings.md: every key, its default and what it is for."""
    head = (
        "<!-- Generated from exporters/config.py by `make docs`. -->\n\n# Settings of knotwatch-exporter\n\n"
        "One TOML file, given with `--config FILE`. Every key may be left out; an unknown one is an error. "
        "Options of the command line override the file.\n"
    )
    parts = [head]
    told = _sentences()
    for name, section in sections():
        parts.append(f"## {name}\n\n{(section.__doc__ or '').partition(': ')[2].capitalize()}\n")
        rows = ["| key | default | what it is |", "|---|---|---|"]
        defaults = section()
        rows += [
            f"| `{key}` | {_toml(getattr(defaults, key))} | {told[section.__name__, key]} |"
            for key in section.__struct_fields__
        ]
        parts.append("\n".join(rows) + "\n")
    return "\n".join(parts)


def _sentences() -> dict[tuple[str, str], str]:
    """(struct, key) to the sentence beneath the key."""
    found = {}
    for struct in ast.parse(Path(__file__).read_text(encoding="utf-8")).body:
        if isinstance(struct, ast.ClassDef):
            for field, below in zip(struct.body, struct.body[1:], strict=False):
                match field, below:
                    case ast.AnnAssign(target=ast.Name(id=key)), ast.Expr(value=ast.Constant(value=str(text))):
                        found[struct.name, key] = " ".join(text.split())
                    case _:
                        pass
    return found


def _toml(value: object) -> str:
    """A default as it would stand in the file."""
    match value:
        case bool():
            return f"`{str(value).lower()}`"
        case tuple():
            return f"`[{', '.join(_toml(each).strip('`') for each in value)}]`"
        case str():
            return f'`"{value}"`'.replace("|", "\\|")
        case _:
            return f"`{value}`"


def _said(message: str) -> str:
    """What msgspec found wrong, as a sentence with the key."""
    if found := UNKNOWN.match(message):
        section, key = found["section"] or "", found["key"]
        fields = dict(sections()).get(section, Settings).__struct_fields__
        near = get_close_matches(key, fields, n=1)
        known = f"did you mean {near[0]}?" if near else f"known are {', '.join(fields)}."
        return f"{section + '.' if section else ''}{key} is no key of ours; {known}"
    found = PLACE.fullmatch(message)
    what, place = (found["what"], found["place"]) if found else (message, None)
    return f"{place or 'the file'}: {what[:1].lower()}{what[1:]}."
