"""The recipe: everything that decides how a model comes out, as one tree of frozen dataclasses.

Every default lives here and nowhere else. A setting of `None` is chosen to suit corpus and machine
(`dragoman.training.sizes` chooses); the recipe that is copied into a model has no such gaps. The docstring under a
field is its documentation: `docs/recipes.md` is made from it.
"""

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Cleaning:
    """Which pairs are dropped before training; `dragoman check` shows what each filter would drop."""

    max_characters: int = 1000
    """A side longer than this is dropped."""
    max_ratio: float = 4.0
    """The longer side may have this many times the characters of the shorter one."""
    keep_copies: bool = False
    """Keep pairs whose two sides are the same text."""
    check_numbers: bool = True
    """Drop pairs whose two sides hold different numbers."""
    deduplicate: bool = True
    """Drop a pair that has been seen before, to the letter."""
    dev_pairs: int = 1000
    """About this many pairs are held out to judge the model by, if no dev set is given; never over a twentieth."""


@dataclass(frozen=True)
class Pieces:
    """How text is cut into pieces (sentencepiece, unigram, one vocabulary for both languages)."""

    size: int | None = None
    """Number of pieces in the vocabulary."""
    sampling: float | None = None
    """Subword sampling while training: 0 always takes the best cut, 0.1 draws cuts freely, 0.5 near the best."""
    max_length: int = 128
    """A side of more pieces than this is dropped from training; the translator splits such sentences."""
    learned_from: int = 5_000_000
    """The vocabulary is learned from about so many characters of the corpus, drawn at random."""


@dataclass(frozen=True)
class Model:
    """The shape of the network."""

    kind: Literal["transformer", "recurrent"] = "transformer"
    """The family of the model."""
    encoder_layers: int | None = None
    """Layers of the encoder."""
    decoder_layers: int | None = None
    """Layers of the decoder."""
    width: int | None = None
    """Width of a position's vector (d); in a recurrent model, of the encoder's states."""
    heads: int | None = None
    """Transformer: attention heads (h); each has width d / h."""
    feed_forward: int | None = None
    """Transformer: width of the feed-forward network's inner layer (f)."""
    dropout: float | None = None
    """Share of values dropped from embeddings, layers' outputs and the feed-forward's inner layer while training; the
    more, the smaller the corpus is and the more often it will be seen."""
    norm: Literal["pre", "post", "none"] = "pre"
    """Transformer: normalisation before each sub-layer, after each residual sum as in the paper of 2017 (post), or, for
    study and by the plain engine, nowhere."""
    residual: bool = True
    """Transformer: what a sub-layer makes of its input is added to the input; without that, for study and by the plain
    engine, it takes its place."""
    scores: Literal["scaled-dot", "dot", "cosine", "additive", "linear"] = "scaled-dot"
    """Transformer: how a query is compared with a key. All but the first are for study, and run by the plain engine."""
    positions: Literal["sinusoidal", "learned", "rotary", "none"] = "sinusoidal"
    """Transformer: how a position is told to the model; rotary ones are run by the plain engine."""
    position_base: float = 10_000.0
    """Transformer: sinusoidal and rotary positions have wavelengths from 2π to 2π times this."""
    tied: bool = True
    """One embedding for source, target and output, or three."""
    cell: Literal["lstm", "gru"] = "lstm"
    """Recurrent: what is repeated from step to step."""
    two_way: bool = True
    """Recurrent: the encoder reads forwards and backwards, each way with half its width."""
    look: Literal["last", "mean", "fixed", "dot", "bilinear", "mlp", "cosine"] = "mlp"
    """Recurrent: what the decoder sees of the source: its last state, the mean, or a mean weighted by place; or
    attention with one of four kinds of score."""
    attend: Literal["before", "after"] = "before"
    """Recurrent: the decoder looks at the source before it goes a step on, or after."""
    input_feeding: bool = False
    """Recurrent: the decoder reads its last output beside the last piece."""
    decoder_width: int = 0
    """Recurrent: width of the decoder's states; 0 is that of the encoder's."""


@dataclass(frozen=True)
class Training:
    """How the network learns."""

    seed: int = 1
    """All randomness follows from it: data order, initial weights, dropout, subword sampling."""
    initial: Literal["silent", "glorot"] = "silent"
    """Transformer: the weights to begin with. Matrices are drawn after Glorot and Bengio (2010), all of them, or all
    but those that lead back to a residual path. These begin at zero (silent), so that no layer adds anything until it
    has something to say, which is learned faster."""
    optimiser: Literal["muon", "adamw"] = "muon"
    """Muon for the matrices inside the layers and AdamW for the rest, or AdamW for all."""
    momentum: float = 0.95
    """Muon's memory of the gradient."""
    batch_pieces: int | None = None
    """Most target pieces in a batch, padding included."""
    joined: float = 0.0
    """Share of the examples that are two pairs or more, drawn anew in every epoch and joined into one of up to
    pieces.max_length: for a corpus of short sentences, whose translator falls apart on long ones. A joined example has
    many pairs: a share of 0.05 takes about a third of the pairs of such a corpus, 0.2 two thirds. An epoch still shows
    every pair once; it takes a Transformer hardly more time, a recurrent model about twice as much."""
    peak_rate: float | None = None
    """The learning rate after warm-up."""
    schedule: Literal["warm-flat-decay", "inverse-root"] = "warm-flat-decay"
    """Warm-up, flat, decay to zero over the last part; or the paper's: warm-up, then the inverse square root."""
    warmup_updates: int | None = None
    """Updates until the peak rate is reached."""
    decay_share: float = 0.5
    """Share of the updates over which warm-flat-decay sinks to zero, at the end."""
    forcing: Literal["teacher", "scheduled", "professor"] = "teacher"
    """What the decoder reads while it learns: what a person wrote (teacher), or more and more its own guesses instead
    (scheduled sampling; in a Transformer in two passes), or each by itself, while a critic tells them apart (professor
    forcing, recurrent only)."""
    forcing_decay: Literal["linear", "exponential", "inverse-sigmoid"] = "inverse-sigmoid"
    """How the share of what a person wrote sinks (scheduled sampling); how much the critic counts, grows alike
    (professor forcing)."""
    forcing_updates: int = 1000
    """Updates until that share is a half."""
    label_smoothing: float = 0.1
    """Share of the probability that the target spreads evenly over all pieces."""
    agreement: float = 0.0
    """R-Drop (Liang et al. 2021), teacher forcing only: each batch passes twice, with other values dropped, and what is
    learned from is ½ (loss₁ + loss₂ + α · ½ (KL(p₁‖p₂) + KL(p₂‖p₁))), half of the paper's, where this is α. The paper
    takes 5 for translation. An update takes about twice as long."""
    weight_decay: float = 0.01
    """Decoupled weight decay (AdamW), on matrices only."""
    adam_betas_first: float = 0.9
    """AdamW's memory of the gradient."""
    adam_betas_second: float = 0.98
    """AdamW's memory of the squared gradient."""
    clip_norm: float = 1.0
    """Gradients longer than this are shortened to it."""
    average: float = 0.998
    """Decay of the running average of the weights (EMA) that is scored and kept."""
    score_pairs: int = 300
    """How many dev pairs are translated at each scoring."""
    judge_pairs: int | None = None
    """How many dev pairs the finished model is judged by: its scores and its report, whether int8 and a shortlist do.
    Of a training of a few minutes fewer than of a longer one."""
    scorings: int = 12
    """How often the dev set is scored, evenly over the run."""
    save_seconds: float = 60.0
    """How often the state is saved; at most this much work is done again after a crash."""
    device: Literal["cpu", "cuda"] = "cpu"
    """Where it learns: on the cores, or on a graphics card (written, but never measured)."""
    precision: Literal["float32", "bfloat16"] | None = None
    """What products of matrices are computed with; sums, weights and the optimiser's memory stay in float32. With
    bfloat16 they take half the time where the processor has instructions for it (AVX-512 BF16, AMX; a graphics card);
    there it is the default. Part of what fixes the result."""
    processes: int | None = None
    """Processes that share each batch; as many as there are cores, at most four. Part of what fixes the result."""
    patience: int = 0
    """Scorings without a better chrF after which the decay begins early; 0 never stops early."""


@dataclass(frozen=True)
class Search:
    """How a translation is looked for; the same meaning in both engines."""

    beam: int = 5
    """Hypotheses kept side by side; 1 is greedy."""
    best: int = 1
    """How many of the best hypotheses are returned."""
    length_penalty: float = 1.0
    """The score is the sum of log-probabilities divided by length to this power."""
    temperature: float = 1.0
    """Sampling only: below 1 is more careful, above 1 bolder."""
    top_k: int = 1
    """Sampling only: draw from this many best pieces; 1 switches sampling off, 0 draws from all."""
    top_p: float = 1.0
    """Sampling only: draw from the smallest set of best pieces that holds this probability."""
    seed: int = 1
    """Sampling only: the same seed draws the same translation."""
    max_length: int = 256
    """A translation of this many pieces is stopped and flagged as truncated."""


@dataclass(frozen=True)
class Recipe:
    """Everything that decides how a model comes out."""

    task: Literal["translation"] = "translation"
    """What the model does."""
    source_language: str = ""
    """The language translated from, as a BCP 47 code such as en or pt-BR."""
    target_language: str = ""
    """The language translated into."""
    cleaning: Cleaning = field(default_factory=Cleaning)
    pieces: Pieces = field(default_factory=Pieces)
    model: Model = field(default_factory=Model)
    training: Training = field(default_factory=Training)
    search: Search = field(default_factory=Search)
