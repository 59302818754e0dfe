"""The command line, one file for each command.

A file defines `command`, which reads the arguments, calls the library and shows the result.
"""
