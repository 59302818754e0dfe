"""The training of the reader, which decides tags and speakers of a chapter together."""
