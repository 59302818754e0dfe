"""The page that shows a book with its conversations marked.

`layers` puts taggings side by side, `casts` lists who speaks in each, `numbering` counts their
conversations and turns, `payload` turns all of it into JSON values, and `page` writes the HTML
file. The templates, styles and scripts are in `web/`.
"""
