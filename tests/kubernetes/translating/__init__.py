"""From typed objects to actors, holds, waits and resources."""
