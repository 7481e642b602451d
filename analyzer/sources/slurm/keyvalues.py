"""`scontrol show` blocks: `Key=value` pairs over several lines or in one, with blanks inside some values.

A pair begins only at a key that Slurm is known to write, so `Command=train.sh LR=0.1` keeps its arguments.
"""

import re

_KEYS = re.findall(
    r"\S+",
    """
JobId ArrayJobId ArrayTaskId ArrayTaskThrottle HetJobId HetJobOffset HetJobIdSet JobName UserId GroupId MCS_label
Priority Nice Account QOS WCKey JobState Reason Dependency Requeue Restarts BatchFlag Reboot ExitCode
DerivedExitCode RunTime TimeLimit TimeMin SubmitTime EligibleTime AccrueTime StartTime EndTime Deadline
PreemptEligibleTime PreemptTime SuspendTime SecsPreSuspend LastSchedEval Scheduler Partition AllocNode:Sid
ReqNodeList ExcNodeList NodeList SchedNodeList BatchHost StepMgrEnabled NumNodes NumCPUs NumTasks CPUs/Task
ReqB:S:C:T TRES ReqTRES AllocTRES Socks/Node NtasksPerN:B:S:C CoreSpec ThreadSpec Nodes CPU_IDs Mem GRES JOB_GRES
MinCPUsNode MinMemoryCPU MinMemoryNode MinTmpDiskNode Features Reservation DelayBoot OverSubscribe Contiguous
Licenses LicensesAlloc Network Command SubmitLine WorkDir Comment AdminComment SystemComment StdErr StdIn StdOut
Power TresPerNode TresPerJob TresPerTask TresPerSocket CpusPerTres MemPerTres TresBind TresFreq BurstBuffer
BurstBufferState Switches KillOInInvalidDependent KillOInInvalidDep Container ContainerID MailUser MailType
FedOrigin FedViableSiblings FedActiveSiblings NodeName Arch CoresPerSocket CPUAlloc CPUEfctv CPUTot CPULoad
AvailableFeatures ActiveFeatures Gres GresDrain GresUsed NodeAddr NodeHostName Port Version OS RealMemory AllocMem
FreeMem Sockets Boards State ThreadsPerCore TmpDisk Weight Owner Partitions BootTime SlurmdStartTime LastBusyTime
ResumeAfterTime CfgTRES CapWatts CurrentWatts AveWatts ExtSensorsJoules ExtSensorsWatts ExtSensorsTemp
ExtSensorsTemps Extra InstanceId InstanceType CoreSpecCount MemSpecLimit CPUSpecList NextState PartitionName
AllowGroups AllowAccounts DenyAccounts AllowQos DenyQos AllocNodes Default QoS DefaultTime DisableRootJobs
ExclusiveUser ExclusiveTopo GraceTime Hidden MaxNodes MaxTime MinNodes LLN MaxCPUsPerNode MaxCPUsPerSocket
PriorityJobFactor PriorityTier RootOnly ReqResv OverTimeLimit PreemptMode TotalCPUs TotalNodes SelectTypeParameters
JobDefaults DefMemPerCPU DefMemPerNode MaxMemPerCPU MaxMemPerNode TRESBillingWeights Alternate ReservationName
Duration NodeCnt CoreCnt Flags Users Groups Accounts Watts MaxStartDelay LicenseName Total Used Free Reserved Remote
LastConsumed LastDeficit LastUpdate StepId CPUs Tasks Name ResvPorts CPUFreqReq Dist SrunHost:Pid TresPerStep Array
Topology Gather ClusterName UserName
""",
)
_REST_OF_LINE = frozenset(
    ("Command", "WorkDir", "StdErr", "StdIn", "StdOut", "Comment", "AdminComment", "SystemComment", "SubmitLine", "OS",
     "Extra")
)  # fmt: skip
_PAIR = re.compile(r"(?:(?<=\s)|^)(" + "|".join(re.escape(key) for key in sorted(set(_KEYS), key=len)[::-1]) + ")=")
_NODE_DETAIL = re.compile(r"^\s*Nodes=(\S+)\s+CPU_IDs=(\S*)(?:\s+Mem=(\d+))?(?:\s+GRES=(.*))?", re.MULTILINE)
_BRACKETED = re.compile(r"Reason=.*? \[")

NodeDetail = tuple[str, str, str, str]


def pairs(block: str) -> dict[str, str]:
    """Keys and values of one block; of a key that comes twice the first counts. Values are stripped."""
    found: dict[str, str] = {}
    one_line = block.strip().count("\n") == 0
    for line in block.split("\n"):
        marks = list(_PAIR.finditer(line))
        for place, mark in enumerate(marks):
            key = mark[1]
            whole = key in _REST_OF_LINE and not one_line
            end = len(line) if whole or place + 1 == len(marks) else marks[place + 1].start()
            found.setdefault(key, line[mark.end() : end].strip())
            if whole:
                break
    return found


def node_details(block: str) -> list[NodeDetail]:
    """Of `scontrol -d show job`: nodes, CPU ids, memory in MiB, generic resources, of each group of nodes alike."""
    return [(each[1], each[2] or "", each[3] or "", (each[4] or "").strip()) for each in _NODE_DETAIL.finditer(block)]


def leading_number(text: str | None) -> int | None:
    """The number that the text begins with: `2-2` nodes are 2, `1` is 1; None for N/A."""
    found = re.match(r"\d{1,18}", text or "")
    return int(found[0]) if found else None
