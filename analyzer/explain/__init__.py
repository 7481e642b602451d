"""What people read: findings, queues and chains of reasons in sentences. Pure; asked for only where somebody reads."""

from analyzer.explain.ever import Prospects
from analyzer.explain.finding import explained
from analyzer.explain.needs import needs
from analyzer.explain.queue import waiting_rows
from analyzer.explain.why import Progress, Reason, Why, why

__all__ = ["Progress", "Prospects", "Reason", "Why", "explained", "needs", "waiting_rows", "why"]
