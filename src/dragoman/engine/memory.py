"""What was translated of late: a sentence that comes again is answered at once."""

from collections import OrderedDict
from threading import Lock

from dragoman.engine.base import Hypothesis, samples
from dragoman.engine.question import Answers, Manner, Request


class Memory:
    """The latest requests and what the engine answered, all in one manner: the one it was last asked in.

    Several threads may translate with one translator, each in a manner of its own.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = Lock()
        self._manner: Manner | None = None
        self._answers: OrderedDict[Request, list[Hypothesis]] = OrderedDict()

    def recall(self, wanted: set[Request], manner: Manner) -> tuple[list[Request], Answers]:
        """Return what is to be asked of the engine, shortest first and nothing twice, and what is known already."""
        with self._lock:
            found = wanted & self._answers.keys() if manner == self._manner else ()
            known = {request: self._answers[request] for request in found}
        return sorted(wanted - known.keys(), key=lambda request: (len(request[0]), request)), known

    def keep(self, answers: Answers, manner: Manner) -> None:
        """Remember answers; not those that hold attention, which is large, or were drawn, which differ by design."""
        if manner.alignments or samples(manner.search):
            return
        with self._lock:
            if manner != self._manner:  # here, and not when asked: another stream may have been answered since
                self._answers.clear()
            self._manner = manner
            for request, hypotheses in answers.items():
                self._answers[request] = hypotheses
                self._answers.move_to_end(request)
            while len(self._answers) > self._most:
                self._answers.popitem(last=False)
