"""What training minimizes: losses of pytorch-metric-learning that are told which texts share a
concept, where the library would take one label a text. `factories` and `ablation` hold the
registered functions."""
