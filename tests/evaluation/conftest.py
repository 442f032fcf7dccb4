from .pipelines_fixtures import dev_mentions, folder, here, write_corpus  # noqa: F401
