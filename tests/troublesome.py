"""A component that fails, or kills its process, at texts that say so. It stands in a module of its
own, which other processes find by its entry point."""

import os
import signal
import time
from pathlib import Path

from spacy.language import Language

TESTS = Path(__file__).parent
_SECONDS = 300  # to wait for another process, which needs some


@Language.factory("troublesome", default_config={"folder": "", "spared": ""})
class Troublesome:
    """FAIL and MEMORY raise. At KILL the process dies without a word, at NODE so does the node of
    Ray that it is on, unless that is the one that is spared: each the first time only."""

    def __init__(self, nlp, name, folder, spared):
        self.folder = Path(folder)
        self.spared = spared

    def __call__(self, doc):
        if "FAIL" in doc.text:
            raise RuntimeError(f"no such text: {doc.text}")
        if "MEMORY" in doc.text:
            raise MemoryError
        if "KILL" in doc.text and self._is_first("KILL"):
            os.kill(os.getpid(), signal.SIGKILL)
        if "NODE" in doc.text:
            self._lose_node()
        return doc

    def _lose_node(self):
        import ray

        node = ray.get_runtime_context().get_node_id()
        if node != self.spared and self._is_first("NODE"):
            os.kill(os.getppid(), signal.SIGKILL)
            os.kill(os.getpid(), signal.SIGKILL)
        # Whoever is spared waits, or else there might be nothing left to do on the other node.
        start = time.monotonic()
        while not self._marker("NODE").exists():
            if time.monotonic() > start + _SECONDS:
                raise TimeoutError("the other node does nothing")
            time.sleep(0.05)

    def _is_first(self, word):
        try:
            self._marker(word).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    def _marker(self, word):
        return self.folder / f"reached-{word}"


def python_path(folder):
    """RETURNS (str): The PYTHONPATH of processes that find the component."""
    told = Path(folder, "troublesome-1.dist-info")
    told.mkdir(parents=True, exist_ok=True)
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: troublesome\nVersion: 1\n")
    entry = "[spacy_factories]\ntroublesome = troublesome:Troublesome\n"
    (told / "entry_points.txt").write_text(entry)
    return os.pathsep.join(map(str, (folder, TESTS, TESTS.parent)))
