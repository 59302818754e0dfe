"""The page on which a chapter is annotated by hand, and the server behind it."""
