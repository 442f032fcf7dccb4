"""From an ontology's synonyms and annotated mentions to an encoder.

Data flows through the modules in this order: `pool` gathers texts and their concepts, a batcher of
`batchers` draws batches of rows, the encoder's module turns them into vectors with gradients,
`relations` tells which of them belong together, or `rankings` which should stand first, one of
`objectives` scores that, and `trainer` runs the loop. No running pipeline imports this package.
"""
