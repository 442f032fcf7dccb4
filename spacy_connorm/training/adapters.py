"""The final weights of an encoder: low-rank adapters (Hu et al. 2021) through PEFT, merged at the
end, and the average with the initial weights.
"""

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from ..errors import Errors, require_installed, require_range


@dataclass(frozen=True, slots=True, kw_only=True)
class LoraAdapter:
    """`spacy-connorm.LoraAdapter.v1`: only a few weights are trained, the others are frozen.
    SapBERT's adapters (Liu et al. 2021, appendix) had about 1 % and 13 % of the weights; the rank
    determines the share.

    rank (int): The rank of the change of each weight matrix.
    alpha (float): The change is scaled by alpha / rank.
    RAISES (ConnormError): CN006 for an invalid setting.
    """

    rank: int = 32
    alpha: float = 64.0

    def __post_init__(self) -> None:
        require_range(least=1, rank=self.rank)
        require_range(above=0, alpha=self.alpha)

    def add(self, module: Any) -> None:
        """Add the adapter to all linear layers of a transformer's module, and freeze everything
        else.

        module (TrainableModule): Changed in place.
        RAISES (ConnormError): CN126 if PEFT is missing, CN825 if the encoder is not a transformer.
        """
        require_installed("An adapter", "train", "peft")
        from peft import LoraConfig, get_peft_model

        from ..encoders.transformer_module import TransformerModule

        if not isinstance(module, TransformerModule):
            raise Errors.CN825()
        # PEFT divides only alpha.
        scale: Any = self.alpha
        config = LoraConfig(r=self.rank, lora_alpha=scale, target_modules="all-linear")
        module.transformer = get_peft_model(module.transformer, config)


class FinalWeights:
    """Merges an adapter, and averages the trained weights with the initial ones. The average
    preserves what the encoder knew about texts that it is not trained on (Wortsman et al. 2022,
    Robust fine-tuning of zero-shot models).
    """

    def __init__(self, module: Any, *, adapter: LoraAdapter | None, interpolation: float) -> None:
        """Keep the initial weights, if they are needed.

        module (TrainableModule): The module before training, without the adapter.
        adapter (Optional[LoraAdapter]): The adapter to train, if any.
        interpolation (float): The share of the trained weights in the average.
        """
        self._adapter = adapter
        self._share = interpolation
        averaged = module.named_parameters() if interpolation < 1 else ()
        self._initial = {name: weights.detach().clone() for name, weights in averaged}

    def __call__(self, module: Any) -> Any:
        """Compute the final weights.

        module (TrainableModule): The module in training.
        RETURNS (TrainableModule): The module with its final weights: the same one if nothing is
            merged or averaged, otherwise a copy.
        """
        if self._adapter is None and not self._initial:
            return module
        module = deepcopy(module)
        if self._adapter is not None:
            module.transformer = module.transformer.merge_and_unload()
        for name, weights in module.named_parameters() if self._initial else ():
            weights.data.lerp_(self._initial[name].to(weights.device), 1 - self._share)
        return module


def trained_share(module: Any) -> float:
    """Compute the share of a module's weights that are trained.

    RETURNS (float): 0 to 1.
    """
    sizes = [(weights.numel(), weights.requires_grad) for weights in module.parameters()]
    return sum(size for size, trained in sizes if trained) / max(1, sum(size for size, _ in sizes))
