"""Scenes as Python dictionaries: the same tables as in a scene file."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

BARE = re.compile(r"[A-Za-z0-9_-]+")


def scene_text(tables: Mapping[str, Any]) -> str:
    """The text of a scene file with these tables. Raises `TypeError` for a value that a scene file cannot have."""
    keys, sections = [], []
    for name, value in tables.items():
        if isinstance(value, Mapping):
            sections.append(f"\n[{_key(name)}]\n{_lines(value, name)}")
        elif _is_list_of_tables(value):
            sections += [f"\n[[{_key(name)}]]\n{_lines(entry, f'{name}[{i}]')}" for i, entry in enumerate(value)]
        else:
            keys.append(f"{_key(name)} = {_value(value, name)}\n")
    return "".join(keys + sections)


def _is_list_of_tables(value: Any) -> bool:
    is_list = isinstance(value, Sequence) and not isinstance(value, str)
    return is_list and len(value) > 0 and all(isinstance(entry, Mapping) for entry in value)


def _lines(table: Mapping[str, Any], place: str) -> str:
    return "".join(f"{_key(key)} = {_value(value, f'{place}.{key}')}\n" for key, value in table.items())


def _key(key: str) -> str:
    return key if BARE.fullmatch(key) else json.dumps(key)


def _value(value: Any, place: str) -> str:
    match value:
        case np.ndarray() | np.generic():
            return _value(value.tolist(), place)
        case bool():
            return "true" if value else "false"
        case str():
            return json.dumps(value, ensure_ascii=False)
        case int() | float():
            return repr(value)
        case Mapping():
            entries = (f"{_key(key)} = {_value(entry, f'{place}.{key}')}" for key, entry in value.items())
            return f"{{ {', '.join(entries)} }}"
        case Sequence():
            return f"[{', '.join(_value(entry, f'{place}[{i}]') for i, entry in enumerate(value))}]"
    raise TypeError(f"{place} is {value!r}; a scene has numbers, texts, true and false, lists and tables")
