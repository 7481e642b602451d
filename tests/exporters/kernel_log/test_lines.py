"""What lines say: every shape of an XID, falls told of in several ways, errors of switches, and no line of others."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporters.collectors.kernel_lines import FALLEN_AGAIN_S, Lines, Record, SxidLine, Told, XidLine
from tests.exporters.kernel_log.device import USER, Listener

HERE = "0000:b3:00.0"

XIDS = [
    ("NVRM: Xid (PCI:0000:b3:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.", HERE, 79),
    ("NVRM: Xid (PCI:0000:03:00): 31, pid=1234, name=python3, Ch 00000010, intr 10000000", "0000:03:00.0", 31),
    ("NVRM: Xid (0000:03:00): 13, 0001 00000000 0000a097 000001b0 00000000 00000000", "0000:03:00.0", 13),
    ("NVRM: Xid (PCI:0000:9b:00.0): 43, pid=7, name=a, Ch 00000008", "0000:9b:00.0", 43),
    ("NVRM: Xid (PCI:00000000:1B:00): 63, Row Remapper: New row marked for remapping", "0000:1b:00.0", 63),
    ("NVRM: Xid (PCI:0018:01:00): 95, pid=1, Uncontained ECC error", "0018:01:00.0", 95),
    ("NVRM: Xid (PCI:0000:b3:00): 48, DBE: An uncorrectable double bit error (DBE) has been detected", HERE, 48),
    (
        "NVRM: Xid (PCI:0000:b3:00): 119, pid=1, name=a, Timeout after 6s of waiting for RPC response from GPU3 GSP!",
        HERE,
        119,
    ),
    ("NVRM: Xid (PCI:0000:b3:00): 145, RLW_REMAP Nonfatal XC0 i0 Link 08 (0x00000004 0x80000000 0x0)", HERE, 145),
    ("NVRM: Xid (PCI:0000:b3:00): 74, pid=<unknown>, NVLink: fatal error detected on link 6(0x10000, 0x0)", HERE, 74),
    ("[12345.678901] NVRM: Xid (PCI:0000:b3:00): 62, 0000(0000) 00000000 00000000", HERE, 62),
    ("NVRM: GPU0 NVRM: Xid (PCI:0000:b3:00): 154, GPU recovery action changed from 0x0 (None) to 0x1", HERE, 154),
]

END = "fallen off the bus and is not responding to commands."
FALLEN_IN_ONE = [
    f"NVRM: GPU {HERE}: GPU has fallen off the bus.",
    f"NVRM: GPU at PCI:{HERE} has fallen off the bus.",
    f"NVRM: The NVIDIA GPU {HERE} (PCI ID: 10de:2330) installed in this system has {END}",
    f"NVRM: GPU {HERE}: The NVIDIA GPU {HERE} (PCI ID: 10de:2330)\nNVRM: installed in this system has\nNVRM: {END}",
]
SENTENCE = [
    f"NVRM: The NVIDIA GPU {HERE}",
    "NVRM: (PCI ID: 10de:26b5) installed in this system has",
    "NVRM: fallen off the bus and is not responding to commands.",
]
SENTENCE_OF_TWO = [
    f"NVRM: The NVIDIA GPU {HERE} (PCI ID: 10de:26b5)",
    "NVRM: installed in this system has fallen off the bus and is not responding to commands.",
]
WITH_CODE = XIDS[0][0]


def told(*lines: str, after_s: float = 0.1) -> list[Told]:
    return list(Lines().take(Record(at_s=after_s * at, text=line) for at, line in enumerate(lines)))


def xids(*lines: str, after_s: float = 0.1) -> list[tuple[str, int]]:
    return [(one.address, one.xid) for one in told(*lines, after_s=after_s) if isinstance(one, XidLine)]


@pytest.mark.parametrize(("line", "address", "xid"), XIDS)
def test_every_shape_of_an_xid(line: str, address: str, xid: int) -> None:
    """NVIDIA/NVSentinel#1357: of 144 to 150 the code is what counts, the sub-code stays in the log."""
    assert xids(line) == [(address, xid)]


def test_an_instance_of_a_divided_gpu() -> None:
    line = "NVRM: Xid (PCI:0000:9b:00 GPU-I:02): 43, pid=117, name=python, Ch 00000008"
    assert told(line) == [XidLine(address="0000:9b:00.0", xid=43, gpu_instance=2)]


@pytest.mark.parametrize("line", FALLEN_IN_ONE)
def test_a_fall_without_a_code_counts_as_79(line: str) -> None:
    assert xids(line) == [(HERE, 79)]


@pytest.mark.parametrize("lines", [SENTENCE, SENTENCE_OF_TWO])
def test_a_fall_over_several_lines(lines: list[str]) -> None:
    """NVIDIA/NVSentinel#155, #195: a line without a code, and its end in another one."""
    assert xids(*lines) == [(HERE, 79)]
    assert xids("\n".join(lines)) == [(HERE, 79)]
    between = [each for line in lines for each in (line, "usb 1-1: new device", "NVRM: loading something")]
    assert xids(*between) == [(HERE, 79)]


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_one_fall_told_of_in_several_ways_is_one(order: tuple[int, ...]) -> None:
    ways = [[WITH_CODE], FALLEN_IN_ONE[0:1], SENTENCE]
    assert xids(*(line for place in order for line in ways[place])) == [(HERE, 79)]


def test_each_try_to_reach_it_tells_again_and_is_no_new_fall() -> None:
    """Whatever starts a program on the node makes the driver say it again."""
    lines = Lines()
    found = [
        one
        for turn in range(50)
        for one in lines.take(
            Record(at_s=turn * FALLEN_AGAIN_S / 2 + step / 10, text=line) for step, line in enumerate(SENTENCE)
        )
    ]
    assert len(found) == 1


def test_a_fall_after_the_driver_was_loaded_anew_is_another() -> None:
    loading = "NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  580.82.07"
    assert len(xids(*SENTENCE, loading, *SENTENCE)) == 2


def test_two_errors_with_the_code_are_two() -> None:
    assert len(xids(WITH_CODE, WITH_CODE)) == 2
    assert len(xids(FALLEN_IN_ONE[0], WITH_CODE, WITH_CODE)) == 2


def test_two_sentences_at_once_are_of_two_gpus() -> None:
    other = [line.replace("b3", "c4") for line in SENTENCE]
    mixed = [line for pair in zip(SENTENCE, other, strict=True) for line in pair]
    assert sorted(xids(*mixed)) == [(HERE, 79), ("0000:c4:00.0", 79)]


def test_a_sentence_that_goes_on_otherwise_or_not_at_all_is_no_fall() -> None:
    end = SENTENCE[2]
    unsupported = "NVRM: installed in this system is not supported by the NVIDIA 580.82.07 driver release."
    assert xids(SENTENCE[0], unsupported) == []
    assert xids(SENTENCE[0], unsupported, end) == []
    assert xids(SENTENCE[0], end, after_s=60.0) == []
    assert xids(end) == []


SXIDS = [
    (
        "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 28006, Non-fatal, Link 46 MC TS crumbstore MCTO (First)",
        28006,
        "non_fatal",
    ),
    ("nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 20034, Fatal, Link 30 LTSSM Fault Up", 20034, "fatal"),
    ("nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 22013, AER", 22013, "unknown"),
    ("nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 10003", 10003, "unknown"),
]


@pytest.mark.parametrize(("line", "code", "severity"), SXIDS)
def test_errors_of_switches(line: str, code: int, severity: str) -> None:
    assert told(line) == [SxidLine(switch="3", address="0000:c1:00.0", sxid=code, severity=severity)]


def test_further_lines_of_an_error_of_a_switch_are_the_same_error() -> None:
    head = "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 24007, "
    lines = (
        f"{head}Fatal, Link 44 sourcetrack timeout error (First)",
        f"{head}Severity 1 Engine instance 44 Sub-engine instance 00",
        f"{head}Data {{0x50610002, 0x10100030, 0x00000000}}",
    )
    assert len(told(*lines)) == 1


@pytest.mark.parametrize(
    "line",
    [
        "usb 3-1: device has fallen off the bus",
        "nvme nvme0: controller fell off the bus",
        "NVRM: GPU 0000:b3:00.0: RmInitAdapter failed! (0x62:0x40:2477)",
        "NVRM: Xid garbled",
        "NVRM: Xid (PCI:0000:b3:00): , pid=1",
        "audit: name=Xid (PCI:0000:b3:00): 79,",
        "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): garbled, Fatal",
        "NVRM: loading NVIDIA UNIX x86_64 Kernel Module",
        "",
    ],
)
def test_lines_that_are_none(line: str) -> None:
    assert told(line) == []


def test_what_a_program_writes_into_the_log_is_not_the_kernel_s() -> None:
    """Whoever may write there could report any GPU as lost; the kernel marks what it did not say itself."""
    listener = Listener()
    listener.device.say(WITH_CODE, facility=USER)
    assert listener.look().xids == ()
    assert listener.hears([WITH_CODE]) == [(HERE, 79)]


@given(st.lists(st.sampled_from([*SENTENCE, *FALLEN_IN_ONE, WITH_CODE, *(x[0] for x in SXIDS)]) | st.text(max_size=60)))
def test_whatever_comes_falls_are_never_more_than_lines_that_tell_of_one(lines: list[str]) -> None:
    found = xids(*lines)
    codes = sum("Xid" in line and "79" in line and "NVRM" in line for line in lines)
    assert len([one for one in found if one[1] == 79]) <= codes + 1


def test_memory_is_bounded() -> None:
    lines = Lines()
    for number in range(5000):
        address = f"{number % 65536:04x}:b3:00.0"
        list(lines.take([Record(at_s=0.0, text=f"NVRM: GPU {address}: GPU has fallen off the bus.")]))
        list(lines.take([Record(at_s=0.0, text=f"NVRM: The NVIDIA GPU {address}")]))
    assert len(lines._fallen) + len(lines._begun) < 500
