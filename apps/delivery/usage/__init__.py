"""What apps use, what that costs, and when it is too much: rules without Django."""
