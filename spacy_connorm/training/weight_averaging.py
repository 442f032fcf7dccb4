"""The final weights of an encoder in training. Imports torch: import it in functions."""

from copy import deepcopy
from typing import Any

import torch

from .adapters import LoraAdapter


class WeightAverager:
    """Merges adapters, and averages the trained weights with the initial ones. The average keeps
    what the encoder knew of texts that it is not trained on (Wortsman et al. 2022, Robust
    fine-tuning of zero-shot models).
    """

    def __init__(self, module: Any, *, adapter: LoraAdapter | None, interpolation: float) -> None:
        """module (TrainableModule): The module before training, without the adapter.
        adapter (Optional[LoraAdapter]): The adapter that is trained, if any.
        interpolation (float): The share of the trained weights in the average.
        """
        self._adapter = adapter
        self._interpolation = interpolation
        self._initial = (
            {}
            if interpolation == 1
            else {name: each.detach().clone() for name, each in module.named_parameters()}
        )

    def __call__(self, module: Any) -> Any:
        """module (TrainableModule): The module in training.
        RETURNS (TrainableModule): The module with its final weights: itself if nothing is merged or
            averaged, else a copy.
        """
        if self._adapter is not None:
            module = self._adapter.merged(module)
        elif self._initial:
            module = deepcopy(module)
        with torch.no_grad():
            for name, each in module.named_parameters() if self._initial else ():
                each.lerp_(self._initial[name].to(each.device), 1 - self._interpolation)
        return module
