"""Answers to texts of an index, worked out when it is built."""
