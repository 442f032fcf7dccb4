"""Evaluating and calibrating saved pipelines."""
