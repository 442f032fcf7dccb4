from .build import fit_encoder as fit_encoder
from .build import write_index as write_index
