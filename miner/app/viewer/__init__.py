"""The page that shows a book with its conversations marked.

`layers` puts taggings side by side, numbers their conversations and lists who speaks in each;
`page` turns them into JSON values and those into an HTML file. Templates, styles and scripts are in
`web/`.
"""
