from .build import all_texts as all_texts
from .build import write_index as write_index
