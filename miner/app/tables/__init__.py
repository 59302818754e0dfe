"""The tables that commands print, one module per kind of result."""
