"""A random program: a handful of motifs over values that exist already."""

from __future__ import annotations

import random

from .maker import Flavour, Graph, Maker
from .motifs import motifs


def random_graph(seed: int, flavour: Flavour = "any") -> Graph:
    """Returns the program of a seed: three to seven motifs."""
    choose = random.Random(seed)
    maker = Maker(choose, flavour, seed)
    known = motifs(flavour)
    for _ in range(choose.randrange(3, 8)):
        (motif,) = choose.choices(list(known), weights=list(known.values()))
        motif(maker)
    return maker.finish()
