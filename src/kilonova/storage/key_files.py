"""Files of keys, one a line, the newest first: made once for their owner's eyes only, read by every process that starts."""

import os
from collections.abc import Callable
from pathlib import Path


def read_keys(path: Path, make: Callable[[], str]) -> list[str]:
    """The keys in a file; a missing file is made with the one key that `make` gives.

    It appears whole or not at all, so two processes that start at once agree: whoever comes second reads what the first made.
    """
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f"{path.name}.{os.urandom(4).hex()}")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(make() + "\n")
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_text().split()
