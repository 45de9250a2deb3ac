"""Learning: a community's own model, trained from its own decisions (docs/moderate/learning.md).

``labels`` reads which decisions count and caps them; ``training`` fits a model and a blend with the other classifiers'
scores (both in ``logistic``), and judges them on the newest decisions; ``schedule`` says when a community is due and
stores the result; ``versions`` puts versions in force, takes them back, and removes what was learned from erased
content; ``standing`` says how far a community is and switches learning off and on; ``scorer`` scores posts with the
versions in force, and tries a version on stored posts.
"""
