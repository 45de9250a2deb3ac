"""Several classifiers on one text: those of this process one after the other, connected services at the same time."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from app.core.classify import Classifier, Context, Result

THREADS = 8
"""How many connected services are asked at once about one text."""


def waits(classifier: Classifier) -> bool:
    """Whether a classifier waits on the network: a connected service, and a built-in one that asks a service."""
    return not classifier.local or bool(getattr(classifier, "waits", False))


def score_each(classifiers: Sequence[Classifier], text: str, context: Context) -> list[Result]:
    """Return one result for each classifier, in their order. Call it outside of any transaction.

    Services wait on the network, so they are asked in threads, the cheapest first; each ends by its own deadline.
    """
    results: dict[int, Result] = {}
    remote = [place for place, classifier in enumerate(classifiers) if waits(classifier)]
    for place, classifier in enumerate(classifiers):
        if not waits(classifier):
            results[place] = classifier.score([text], context)[0]
    if len(remote) == 1:
        results[remote[0]] = classifiers[remote[0]].score([text], context)[0]
    elif remote:
        remote.sort(key=lambda place: classifiers[place].cost)
        with ThreadPoolExecutor(min(THREADS, len(remote)), thread_name_prefix="services") as pool:
            asked = {place: pool.submit(classifiers[place].score, [text], context) for place in remote}
            results |= {place: future.result()[0] for place, future in asked.items()}
    return [results[place] for place in range(len(classifiers))]
