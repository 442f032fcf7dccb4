from .found_mentions import FoundMention as FoundMention
from .found_mentions import MentionExplanation as MentionExplanation
from .name_finder import NameFinder as NameFinder
