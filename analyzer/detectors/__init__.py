"""One file a rule: its page is its docstring, its test a scenario of the same stem."""
