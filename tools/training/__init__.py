"""Training of the shipped model ``builtin.seed``: data in, one file of weights out (docs/run/model-card.md).

`examples` reads the data and `corpus` the sentences written for this project, `fitting` fits one logistic regression
per category, `reserved` scores every example with a model that has not seen it, `calibrating` turns those
scores into the points between which the service interpolates, and `packing` writes the file. `matcher`, `meaning` and
`spaces` train the matcher of fact-checks in the same way (docs/moderate/fact-checks.md).
"""
