"""Reading in the background: a worker for each subject, one crew that directs them, and the page made of it all."""
