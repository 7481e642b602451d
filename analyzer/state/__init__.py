"""What is held, what is waited for, and what happened before: the only place where state changes."""
