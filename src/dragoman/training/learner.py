"""One learner: the network, its optimiser, and the running average of its weights."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from dragoman.config import Recipe
from dragoman.data.batches import Batch
from dragoman.nn.weights import from_arrays, parameters
from dragoman.training.crew import Crew
from dragoman.training.device import put_on
from dragoman.training.gradients import build_pupil, find_gradients
from dragoman.training.muon import Muon


class Learner:
    """Learns from one batch at a time; all that it is can be taken out as arrays and put back."""

    def __init__(self, recipe: Recipe, vocabulary: int, crew: Crew | None = None) -> None:
        settings = recipe.training
        self._settings = settings
        self._pupil = build_pupil(recipe, vocabulary)
        self.network = self._pupil.network
        for part in filter(None, self._pupil):
            put_on(part, settings.device)
        self._named = self._pupil.parameters()
        self.parameters = list(self._named.values())
        self._crew = crew or Crew(1)
        self._crew.sign_on(recipe, vocabulary, self.parameters)
        self._average = {name: p.detach().clone() for name, p in parameters(self.network).items()}
        inner = {name: p for name, p in self._named.items() if _is_inner(name, p)}
        self._muon = Muon(inner if settings.optimiser == "muon" else {}, settings.momentum, settings.weight_decay)
        others = {name: p for name, p in self._named.items() if name not in self._muon.memory}
        self._optimiser = torch.optim.AdamW(
            [
                {"params": [p for p in others.values() if p.ndim > 1], "weight_decay": settings.weight_decay},
                {"params": [p for p in others.values() if p.ndim == 1], "weight_decay": 0.0},
            ],
            betas=(settings.adam_betas_first, settings.adam_betas_second),
            eps=1e-9,
            fused=True,
        )

    def begin(self, weights: Mapping[str, NDArray[np.float32]]) -> None:
        """Begin with a model's weights instead of fresh ones."""
        from_arrays(self.network, weights)
        with torch.no_grad():
            for name, average in self._average.items():
                average.copy_(self._named[name])

    def update(self, batch: Batch, number: int, rate: float, *, meanwhile: Callable[[], None] = lambda: None) -> float:
        """Learn from a batch at a learning rate; return the loss a target piece. Updates are counted from 1.

        `meanwhile` is done where this process would else wait for its helpers.
        """
        own = self._crew.begin(batch, number)
        loss = find_gradients(self._pupil, self._settings, own, number, pieces=batch.pieces)
        meanwhile()
        loss += self._crew.finish(self.parameters)
        for group in self._optimiser.param_groups:
            group["lr"] = rate
        torch.nn.utils.clip_grad_norm_(self.parameters, self._settings.clip_norm)
        self._optimiser.step()
        self._muon.step(rate, self._crew.orthogonalise(self._muon.look_ahead()))
        # A young average follows quickly: the first updates are soon forgotten.
        decay = min(self._settings.average, number / (number + 10))
        with torch.no_grad():
            for name, average in self._average.items():
                average.lerp_(self._named[name], 1 - decay)
        return loss

    def averaged(self) -> dict[str, NDArray[np.float32]]:
        """The averaged weights, which are scored and kept."""
        return {name: average.cpu().numpy().copy() for name, average in self._average.items()}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything that the next update depends on."""
        taken: dict[str, NDArray[Any]] = {}
        for name, parameter in self._named.items():
            taken[f"weight/{name}"] = parameter.detach().cpu().numpy()
            if name in self._average:
                taken[f"average/{name}"] = self._average[name].cpu().numpy()
            if name in self._muon.memory:
                taken[f"momentum/{name}"] = self._muon.memory[name].cpu().numpy()
            for key, value in self._optimiser.state.get(parameter, {}).items():
                taken[f"{key}/{name}"] = value.cpu().numpy()
        return taken

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Put back what `arrays` took out."""
        with torch.no_grad():
            for name, parameter in self._named.items():
                parameter.copy_(torch.from_numpy(arrays[f"weight/{name}"].copy()))
                if name in self._average:
                    self._average[name].copy_(torch.from_numpy(arrays[f"average/{name}"].copy()))
                if name in self._muon.memory:
                    self._muon.memory[name].copy_(torch.from_numpy(arrays[f"momentum/{name}"].copy()))
                else:
                    self._optimiser.state[parameter] = {
                        key: torch.from_numpy(arrays[f"{key}/{name}"].copy()).to(parameter.device)
                        for key in ("step", "exp_avg", "exp_avg_sq")
                    }


def _is_inner(name: str, parameter: torch.nn.Parameter) -> bool:
    """Tell whether a parameter is a matrix inside a layer, and not a table of embeddings or positions."""
    return parameter.ndim == 2 and name.endswith(".weight") and name != "output.weight"
