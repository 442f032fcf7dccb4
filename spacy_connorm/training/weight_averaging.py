"""What an encoder in training would be if it ended now. Imports torch: import it in functions."""

from copy import deepcopy
from typing import Any

import torch

from .adapters import LoraAdapter


class WeightAverager:
    """Merges adapters, and averages the weights with those that training started from.

    The average keeps what the encoder knew of texts that it is not trained on (Wortsman et al.
    2022, Robust fine-tuning of zero-shot models).
    """

    def __init__(self, module: Any, *, adapter: LoraAdapter | None, interpolation: float) -> None:
        """module (TrainableModule): Before training, and before there is an adapter in it.
        adapter (Optional[LoraAdapter]): What is trained instead of all weights.
        interpolation (float): The share of the trained weights in the average.
        """
        self._adapter = adapter
        self._interpolation = interpolation
        self._start = (
            {}
            if interpolation == 1
            else {name: each.detach().clone() for name, each in module.named_parameters()}
        )

    def __call__(self, module: Any) -> Any:
        """RETURNS (TrainableModule): A copy if there is anything to do, else the module itself."""
        if self._adapter is not None:
            module = self._adapter.merged(module)
        elif self._start:
            module = deepcopy(module)
        with torch.no_grad():
            for name, each in module.named_parameters() if self._start else ():
                each.lerp_(self._start[name].to(each.device), 1 - self._interpolation)
        return module
