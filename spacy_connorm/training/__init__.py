"""Train an encoder on an ontology's synonyms and annotated mentions.

Data flows through the modules in this order: `training_run` reads the config, `pool` collects texts
and their concepts, one of `batchers` draws batches of rows with the relations between their texts,
the encoder's module encodes them, one of `objectives` computes the loss from vectors and relations,
`trainer` runs the loop, and `encoder_folder` writes the encoder. Running pipelines never import
this package.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
