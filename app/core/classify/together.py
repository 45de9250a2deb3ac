"""Several classifiers on one text: those of this process one after the other, connected services at the same time."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from app.core.classify import SHIPPED_MODEL, Classifier, Context, Result

THREADS = 8
"""How many connected services are asked at once about one text."""
UNSURE = (0.2, 0.8)
"""The scores of the shipped model, both ends included, that leave open whether a category applies."""


def waits(classifier: Classifier) -> bool:
    """Whether a classifier waits on the network: a connected service, and a built-in one that asks a service."""
    return not classifier.local or bool(getattr(classifier, "waits", False))


def needs_asking(classifier: Classifier, shipped: Mapping[str, float] | None) -> bool:
    """Whether a classifier must be asked about a text that the shipped model gave these scores; None: it gave none.

    One with ``only_if_unsure`` is left out where the shipped model is sure about every category that it would score.
    A category that the shipped model does not score, at all or in this language, leaves it unsure.
    """
    if shipped is None or not getattr(classifier, "only_if_unsure", False):
        return True
    least, most = UNSURE
    return any(least <= shipped.get(category, least) <= most for category in classifier.categories)


def score_each(classifiers: Sequence[Classifier], text: str, context: Context) -> list[Result]:
    """Return one result for each classifier, in their order: one without scores for a service that was not asked.

    Call it outside of any transaction. Services wait on the network, so they are asked in threads, the cheapest first;
    each ends by its own deadline.
    """
    results: dict[int, Result] = {}
    shipped: Mapping[str, float] | None = None
    for place, classifier in enumerate(classifiers):
        if not waits(classifier):
            results[place] = classifier.score([text], context)[0]
            if classifier.name == SHIPPED_MODEL:
                shipped = results[place].scores
    remote = []
    for place, classifier in enumerate(classifiers):
        if place not in results and needs_asking(classifier, shipped):
            remote.append(place)
        elif place not in results:
            results[place] = Result()
    if remote:
        remote.sort(key=lambda place: classifiers[place].cost)
        with ThreadPoolExecutor(min(THREADS, len(remote)), thread_name_prefix="services") as pool:
            asked = {place: pool.submit(classifiers[place].score, [text], context) for place in remote}
            results |= {place: future.result()[0] for place, future in asked.items()}
    return [results[place] for place in range(len(classifiers))]
