"""What the Python programs of bench and chaos have in common."""
