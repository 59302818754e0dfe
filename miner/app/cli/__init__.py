"""The commands. Each has the name of its function, reads the arguments and calls the library.

What several commands share is in `command`, `options` and `terminal`.
"""
