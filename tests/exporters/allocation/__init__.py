"""Whose the GPUs are: kubelet, Slurm, and the join of the two with what is on the devices."""
