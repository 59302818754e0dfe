"""Tables of the laboratory in the terminal."""
