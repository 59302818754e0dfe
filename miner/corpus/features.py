"""Columns of a file -> the features that a dataset card declares.

Without them, `datasets` takes the types of a JSON Lines or CSV file from its first rows. It then
refuses a later file in which a column holds text that was empty there, such as the speakers of
books in two languages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

Feature = dict[str, Any]


def features_from_schema(schema: pa.Schema) -> list[Feature]:
    """Returns the features in the form of `dataset_info` in a card, as JSON or YAML writes it.

    >>> import pyarrow as pa
    >>> features_from_schema(pa.schema([("book", pa.string()), ("aliases", pa.list_(pa.string()))]))
    [{'name': 'book', 'dtype': 'string'}, {'name': 'aliases', 'sequence': 'string'}]
    """
    return [_feature(field) for field in schema]


def _feature(field: pa.Field) -> Feature:
    import pyarrow as pa

    if pa.types.is_struct(field.type):
        return {"name": field.name, "struct": [_feature(part) for part in field.type]}
    if not pa.types.is_list(field.type):
        return {"name": field.name, "dtype": str(field.type).replace("double", "float64")}
    item = field.type.value_type
    if pa.types.is_struct(item):
        return {"name": field.name, "list": [_feature(part) for part in item]}
    return {"name": field.name, "sequence": str(item)}
