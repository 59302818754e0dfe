"""Is it speech? From words in quotation marks to whether somebody says them on this occasion."""
