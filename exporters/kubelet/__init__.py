"""What the kubelet says of who holds which device: its PodResources service, and what it writes down itself."""
