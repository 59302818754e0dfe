"""The page that shows a book with its conversations marked.

`layers` puts taggings side by side, `numbering` counts their conversations and turns, `payload`
turns both into JSON values, and `page` writes the HTML file. The templates, styles and scripts are
in `web/`.
"""
