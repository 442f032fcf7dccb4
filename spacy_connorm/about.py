__version__ = "0.1.0"
# The repository's address, such as https://github.com/OWNER/spacy_connorm; needed for a release.
__uri__ = ""
