"""The command line: a file a command. A command reads words, calls the library, shows what came back."""
