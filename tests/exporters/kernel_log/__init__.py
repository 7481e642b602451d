"""The kernel's log: lines of all shapes, records lost and refused, and each error counted once."""
