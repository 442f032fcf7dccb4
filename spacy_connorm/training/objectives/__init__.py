"""What training minimizes: losses of pytorch-metric-learning that are told which texts share a
concept, where the library would take one label a text; and losses over the ranked candidates of
mentions. `factories`, `ablation` and `ranking` hold the registered functions."""
