"""From an ontology's synonyms and annotated mentions to an encoder.

Data flows through the modules in this order: `pool` collects texts and their concepts, one of
`batchers` draws batches of rows, the encoder's module encodes them, `relations` says which texts of
a batch share a concept or which candidates should rank first, one of `objectives` computes the
loss, and `trainer` runs the loop. No running pipeline imports this package.
"""
