"""Every kind of input, in the order in which they are asked whether a document is theirs."""

from analyzer.sources.collection.source import SOURCE as COLLECTION
from analyzer.sources.facts.source import SOURCE as FACTS
from analyzer.sources.kubernetes.source import SOURCE as KUBERNETES
from analyzer.sources.recording import Source
from analyzer.sources.slurm.source import SOURCE as SLURM

SOURCES: tuple[Source, ...] = (FACTS, COLLECTION, KUBERNETES, SLURM)
