"""Plots of the laboratory."""
