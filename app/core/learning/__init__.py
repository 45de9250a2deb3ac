"""Learning: a community's own model, trained from its own decisions (docs/moderate/learning.md).

``labels`` reads which decisions count and caps them; ``training`` fits a model and a blend with the other classifiers'
scores, and judges both on the newest decisions (``logistic``, ``blend``, ``duplicates`` and ``words`` are its parts);
``schedule`` says when a community is due and stores the result; ``versions`` puts versions in force and takes them
back, ``switching`` switches learning off and on; ``trials`` compares a version with what is in force; ``erasure``
removes what was learned from erased content; ``scorer`` scores posts with the versions in force.
"""
