"""The report as one self-contained page for a browser: see README.md one folder up."""

from analyzer.sinks.page.page import page_html

__all__ = ["page_html"]
