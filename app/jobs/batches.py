"""Posts of one community that wait at the same time are scored together (docs/decisions/0060).

A scoring job that has its turn takes along posts of its community whose jobs wait in the queue. Each is classified
outside of any transaction; all are stored in one, which also deletes the jobs of those that came along. If that fails
or the process dies, all is as before: every post still has its own job.
"""

import logging
import threading
import time
import uuid
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from app.core.classify.language import detect
from app.core.classify.together import waits
from app.core.requests import scoring, submitting, waiting
from app.core.requests.scoring import Classified
from app.core.requests.waiting import Waiting
from app.wiring import JobEngine, Wiring

log = logging.getLogger(__name__)

MOST = 20
"""How many posts a job takes along."""
CLASSIFY_SECONDS = 0.1
"""After so many seconds no further text is classified, so that one with slow rules does not hold the turn for all."""
_ALONE_KEPT = 1_000


class Batches:
    """What the threads of a process score together. ``seconds``: see ``CLASSIFY_SECONDS``."""

    def __init__(self, wiring: Wiring, jobs: JobEngine, *, seconds: float = CLASSIFY_SECONDS) -> None:
        self._wiring = wiring
        self._jobs = jobs
        self._seconds = seconds
        self._lock = threading.Lock()
        self._in_hand: Counter[uuid.UUID] = Counter()
        self._taken: dict[uuid.UUID, set[uuid.UUID]] = {}
        self._alone: OrderedDict[uuid.UUID, None] = OrderedDict()

    @contextmanager
    def in_hand(self, community_id: uuid.UUID) -> Iterator[None]:
        """Count a job of this community that scores, or waits for its turn to."""
        with self._lock:
            self._in_hand[community_id] += 1
        try:
            yield
        finally:
            with self._lock:
                self._in_hand[community_id] -= 1
                if not self._in_hand[community_id]:
                    del self._in_hand[community_id]

    def score(self, first: Waiting) -> bool:
        """Score a post together with others that wait. False if nothing was stored, so that it is to be scored alone.

        A post that comes alone costs nothing here: where others wait in the queue, this process has more than one in
        hand.
        """
        if self._in_hand[first.community_id] < 2 or first.id in self._alone:
            return False
        with self._chosen(first) as others:
            posts = self._classified(first, others) if others else []
            if not posts or posts[0].request_id != first.id:
                return False
            try:
                try:
                    self._store(posts)
                except scoring.Overtaken:
                    self._store(posts, is_locked_first=True)
            except Exception as error:
                # Whichever of them it was: each goes its own way, and the one that fails does so in its own job.
                log.warning(
                    "%d posts could not be stored together, and are scored one by one: %s",
                    len(posts),
                    type(error).__name__,
                )
                self._leave_alone(post.request_id for post in posts)
                return False
        return True

    @contextmanager
    def _chosen(self, first: Waiting) -> Iterator[Sequence[uuid.UUID]]:
        """Choose posts that wait, and keep the other threads of this process from choosing them too."""
        community_id = first.community_id
        with self._lock:
            taken = self._taken.setdefault(community_id, set())
            with self._wiring.database.reading() as session:
                keys = self._jobs.waiting(session, submitting.SCORE_JOB, str(community_id), MOST + len(taken))
            ids = [uuid.UUID(key) for key in keys]
            chosen = [one for one in ids if one not in taken and one not in self._alone and one != first.id][
                :MOST
            ]
            taken.update(chosen)
        try:
            yield chosen
        finally:
            with self._lock:
                taken.difference_update(chosen)
                if not taken and self._taken.get(community_id) is taken:
                    del self._taken[community_id]

    def _classified(self, first: Waiting, others: Sequence[uuid.UUID]) -> list[Classified]:
        """What the classifiers say about the first post and those that came along; those that can come along."""
        community_id = first.community_id
        with self._wiring.database.reading() as session:
            posts = waiting.read_several(session, community_id, [first.id, *others])
            if not posts or posts[0].own.has_services:
                return []
            classifiers = self._wiring.classifiers_for(session, community_id, posts[0].own)
        if any(waits(classifier) for classifier in classifiers):
            return []
        classified = []
        end = time.monotonic() + self._seconds
        for post in posts:
            language = detect(post.content)
            try:
                scorings = scoring.classify(classifiers, post, language)
            except Exception as error:
                log.warning("Post %s is left to its own job: %s", post.id, type(error).__name__)
                self._leave_alone([post.id])
                continue
            classified.append(Classified(post.id, scorings, language))
            if time.monotonic() >= end:
                break
        return classified

    def _store(self, posts: Sequence[Classified], *, is_locked_first: bool = False) -> None:
        first, *others = posts
        keys = [str(post.request_id) for post in others]
        with self._wiring.database.writing() as session:
            mine = self._jobs.take(session, submitting.SCORE_JOB, keys)
            kept = [first, *(post for post in others if str(post.request_id) in mine)]
            scoring.record_several(session, kept, is_locked_first=is_locked_first)

    def _leave_alone(self, request_ids: Iterable[uuid.UUID]) -> None:
        with self._lock:
            for request_id in request_ids:
                self._alone[request_id] = None
            while len(self._alone) > _ALONE_KEPT:
                self._alone.popitem(last=False)
