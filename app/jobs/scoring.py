"""Scores posts: each has a job, and a job takes along others of its community that wait at the same time.

Posts are classified outside of any transaction, and all of a batch are stored in one. If that fails or the process
dies, every post still has its own job, which ends only when its post is scored.
"""

import logging
import threading
import time
import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from app.core import tracing
from app.core.classify import Classifier
from app.core.classify.language import detect
from app.core.classify.together import waits
from app.core.models import Request
from app.core.requests import following, post_facts, score_rows, scoring, submitting, waiting
from app.core.requests.post_facts import ReadFacts
from app.core.requests.scoring import Classified
from app.core.requests.waiting import Found, Waiting
from app.core.vocabulary import ServiceMode
from app.wiring import Wiring

log = logging.getLogger(__name__)

MOST = 20
"""How many posts a job takes along."""
CLASSIFY_SECONDS = 0.1
"""After this many seconds no further text of a batch is classified, so that one with slow rules does not delay all."""
_ALONE_KEPT = 1_000


class Scorer:
    """Scores the posts that the jobs of one process are about, one batch of a community at a time.

    ``seconds``: see ``CLASSIFY_SECONDS``. One thread computes for a community, so that its backlog leaves others their
    share of the processor; posts that wait for a service take no turn.
    """

    def __init__(self, wiring: Wiring, *, seconds: float = CLASSIFY_SECONDS) -> None:
        self._wiring = wiring
        self._seconds = seconds
        self._turns: defaultdict[uuid.UUID, threading.Lock] = defaultdict(threading.Lock)
        self._alone: set[uuid.UUID] = set()

    def score(self, request_id: uuid.UUID) -> None:
        """Score a request, and others of its community that wait. Of one that is scored already, only the others."""
        with self._wiring.database.reading() as session:
            found = waiting.find(session, request_id)
            if found is None or (found.is_over and not found.others_wait):
                return
            classifiers = self._wiring.classifiers_for(session, found.community_id, found.own)
        has_services, post = found.own.has_services, found.post
        is_slow = has_services or any(waits(classifier) for classifier in classifiers)
        if not found.is_over and (has_services or post is None):
            _score_slowly(self._wiring, request_id, has_others=found.has_others)
        elif post is not None and (is_slow or not found.others_wait or post.id in self._alone):
            _score_alone(self._wiring, post, classifiers)
        elif not is_slow:
            self._score_batch(found, classifiers)

    def _score_batch(self, found: Found, classifiers: Sequence[Classifier]) -> None:
        own, community_id, database = found.post, found.community_id, self._wiring.database
        with self._turns[community_id]:
            with database.writing() as session:
                leased = waiting.lease(
                    session, community_id, found.own, own, most=MOST, without=tuple(self._alone)
                )
            stored = self._score_together(leased, classifiers) if leased else set()
        if own is None or own.id in stored:
            return
        if own in leased:
            _score_alone(self._wiring, own, classifiers)
            return
        with database.reading() as session:
            again = waiting.find(session, own.id)
        if again is not None and not again.is_over:
            # Another process has leased it. Should that die, this post still has a job.
            with database.writing() as session:
                submitting.enqueue_scoring(session, own.id, community_id, delay=waiting.LEASE.total_seconds())

    def _score_together(self, leased: Sequence[Waiting], classifiers: Sequence[Classifier]) -> set[uuid.UUID]:
        """Classify and store leased posts, release those that were not, and return the ids of those that were."""
        classified = self._classified(leased, classifiers)
        stored = {post.request_id for post in classified}
        left = [post.id for post in leased if post.id not in stored]
        try:
            with self._wiring.database.writing() as session:
                waiting.release(session, left)
                if classified:
                    scoring.record_several(session, classified)
        except Exception as error:
            # Whichever of them it was: each goes its own way, and the one that fails does so in its own job.
            log.warning(
                "%d posts could not be stored together, and are scored one by one: %s",
                len(classified),
                type(error).__name__,
            )
            self._leave_alone(stored)
            with self._wiring.database.writing() as session:
                waiting.release(session, [post.id for post in leased])
            return set()
        return stored

    def _classified(self, leased: Sequence[Waiting], classifiers: Sequence[Classifier]) -> list[Classified]:
        """What the classifiers say about posts, of those that they could read in time."""
        classified = []
        traces = _traces(self._wiring, [post.id for post in leased])
        facts = _facts(self._wiring, [post.id for post in leased])
        end = time.monotonic() + self._seconds
        for post in leased:
            language = detect(post.content)
            try:
                with tracing.span("score", traces.get(post.id), request_id=str(post.id)):
                    scorings = scoring.classify(classifiers, post, language, facts.get(post.id))
            except Exception as error:
                log.warning("Post %s is left to its own job: %s", post.id, type(error).__name__)
                self._leave_alone([post.id])
                continue
            classified.append(Classified(post.id, scorings, language, facts.get(post.id)))
            if time.monotonic() >= end:
                break
        return classified

    def _leave_alone(self, request_ids: Iterable[uuid.UUID]) -> None:
        if len(self._alone) >= _ALONE_KEPT:
            self._alone.clear()
        self._alone.update(request_ids)


def _score_slowly(wiring: Wiring, request_id: uuid.UUID, *, has_others: bool) -> None:
    """Score a request that waits for a service, or that people may have restored: it is in progress from here on.

    ``has_others``: there are other requests about its post, which may decide it instead.
    """
    with wiring.database.writing() as session:
        if has_others and not following.keep_up(session, request_id):
            return
        request = scoring.start(session, request_id)
        if request is None:
            return
        classifiers = wiring.classifiers_for(session, request.community_id)
    _score_alone(wiring, request, classifiers)


def _score_alone(wiring: Wiring, post: Waiting | Request, classifiers: Sequence[Classifier]) -> None:
    with tracing.span("score", _traces(wiring, [post.id]).get(post.id), request_id=str(post.id)):
        language = detect(post.content)
        facts = _facts(wiring, [post.id]).get(post.id)
        scorings = scoring.classify(classifiers, post, language, facts)
        with wiring.database.writing() as session:
            scoring.record_scores(session, post.id, scorings, language, facts)
            if isinstance(post, Request):
                score_rows.enqueue_observing(session, post.community_id, post.id)


def _traces(wiring: Wiring, request_ids: Sequence[uuid.UUID]) -> Mapping[uuid.UUID, str]:
    """The traces that requests were submitted in, by request; none where traces are off."""
    if not wiring.settings.tracing:
        return {}
    with wiring.database.reading() as session:
        return waiting.traces(session, request_ids)


def _facts(wiring: Wiring, request_ids: Sequence[uuid.UUID]) -> Mapping[uuid.UUID, ReadFacts]:
    """What rules may ask about these posts, by request."""
    with wiring.database.reading() as session:
        return post_facts.read(session, request_ids)


def follow(wiring: Wiring, request_id: uuid.UUID) -> None:
    """Look after the requests that wait for the outcome of this one, some of them in each transaction."""
    last: uuid.UUID | None = None
    while True:
        with wiring.database.writing() as session:
            request = session.get_one(Request, request_id)
            ids = following.waiting_on(session, request, last)
            for follower_id in ids:
                if following.keep_up(session, follower_id, ended=request):
                    submitting.enqueue_scoring(session, follower_id, request.community_id)
        if len(ids) < following.BATCH:
            return
        last = ids[-1]


def observe(wiring: Wiring, request_id: uuid.UUID) -> None:
    """Ask the services that are only observed about a scored request, and store their scores."""
    with wiring.database.reading() as session:
        request = score_rows.request_to_observe(session, request_id)
        if request is None:
            return
        observed = wiring.services.classifiers(session, request.community_id, ServiceMode.OBSERVE)
    scorings = scoring.classify(observed, request, request.language)
    with wiring.database.writing() as session:
        score_rows.record_observed(session, request_id, scorings)
