"""The version of the package, which records and downloads name."""

__version__ = "0.1.0"
