"""A hub in a folder, in place of `huggingface_hub`'s own: the tests need no network."""

import shutil
from pathlib import Path


class FakeHub:
    """Takes what the recipe asks for, and nothing else."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.private: dict[str, bool] = {}

    def create_repo(self, repo_id: str, *, private: bool, exist_ok: bool) -> None:
        assert exist_ok or repo_id not in self.private
        self.private[repo_id] = private

    def upload_folder(self, *, repo_id: str, folder_path: str, commit_message: str) -> None:
        assert repo_id in self.private and commit_message
        shutil.copytree(folder_path, self.folder / repo_id, dirs_exist_ok=True)

    def snapshot_download(self, repo_id: str) -> str:
        return str(self.folder / repo_id)
