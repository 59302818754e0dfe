"""The page that shows a book with its conversations marked."""
