"""Each objective's equation in plain loops over texts, for vectors in float64.

An anchor counts if it has a positive and a negative. `hard` is the online condition, by its
definition over triplets.
"""

import torch
from torch import exp, log


def parts(concepts):
    """Anchors with their positives and negatives."""
    size = range(len(concepts))
    found = {}
    for a in size:
        positives = [j for j in size if j != a and set(concepts[j]) & set(concepts[a])]
        negatives = [j for j in size if not set(concepts[j]) & set(concepts[a])]
        if positives and negatives:
            found[a] = (positives, negatives)
    return found


def hard(vectors, concepts, margin):
    if margin is None:
        return parts(concepts)
    kept = {}
    for a, (positives, negatives) in parts(concepts).items():
        triplets = [
            (p, n)
            for p in positives
            for n in negatives
            if normalized_euclidean(vectors, a, p) + margin >= normalized_euclidean(vectors, a, n)
        ]
        if triplets:
            kept[a] = (sorted({p for p, _ in triplets}), sorted({n for _, n in triplets}))
    return kept


def euclidean(vectors, i, j):
    return (vectors[i] - vectors[j]).square().sum().sqrt()


def cos(vectors, i, j):
    lengths = vectors[i].square().sum().sqrt() * vectors[j].square().sum().sqrt()
    return (vectors[i] * vectors[j]).sum() / lengths


def cosine(vectors, i, j):
    return 1 - cos(vectors, i, j)


def normalized_euclidean(vectors, i, j):
    one, other = (vectors[k] / vectors[k].square().sum().sqrt() for k in (i, j))
    return (one - other).square().sum().sqrt()


def mean(losses):
    return sum(losses) / len(losses)


def batch_hard_triplet(vectors, concepts):
    losses = []
    for a, (positives, negatives) in parts(concepts).items():
        farthest = max(euclidean(vectors, a, p) for p in positives)
        nearest = min(euclidean(vectors, a, n) for n in negatives)
        losses.append(log(1 + exp(farthest - nearest)))
    return mean(losses)


def multi_similarity(vectors, concepts, *, alpha=2.0, beta=50.0, base=0.5, mining_margin=0.2):
    losses = []
    for a, (positives, negatives) in hard(vectors, concepts, mining_margin).items():
        of_positives = sum(exp(-alpha * (cos(vectors, a, p) - base)) for p in positives)
        of_negatives = sum(exp(beta * (cos(vectors, a, n) - base)) for n in negatives)
        losses.append(log(1 + of_positives) / alpha + log(1 + of_negatives) / beta)
    return sum(losses) / len(concepts)


def supervised_contrastive(vectors, concepts, *, temperature=0.05):
    losses = []
    for a, (positives, negatives) in parts(concepts).items():
        total = sum(exp(cos(vectors, a, j) / temperature) for j in positives + negatives)
        losses.append(
            mean([-log(exp(cos(vectors, a, p) / temperature) / total) for p in positives])
        )
    return mean(losses)


def info_nce(vectors, concepts, *, temperature=0.07, mining_margin=None):
    losses = []
    for a, (positives, negatives) in hard(vectors, concepts, mining_margin).items():
        total = sum(exp(cos(vectors, a, n) / temperature) for n in negatives)
        for p in positives:
            own = exp(cos(vectors, a, p) / temperature)
            losses.append(-log(own / (own + total)))
    return mean(losses)


def dot(vectors, i, j):
    return (vectors[i] * vectors[j]).sum()


SIMILARITIES = {"cosine": cos, "inner_product": dot}


def score(vectors, lists, m, c, *, similarity, temperature, weight):
    dense = SIMILARITIES[similarity](vectors, lists.mentions[m], lists.candidates[m][c])
    return (dense + weight * lists.lexical[m][c]) / temperature


def softmax(scores):
    total = sum(exp(score) for score in scores)
    return [exp(score) / total for score in scores]


def bcnh(vectors, lists, weight, *, similarity="cosine", temperature=0.05, norm_weight=1.0):
    losses = []
    for m in range(len(lists.mentions)):
        among = range(len(lists.candidates[m]))
        options = {"similarity": similarity, "temperature": temperature, "weight": weight}
        wanted = softmax([lists.relevance[m][c].double() for c in among])
        found = softmax([score(vectors, lists, m, c, **options) for c in among])
        losses.append(-sum(wanted[c] * log(found[c]) for c in among))
    return mean(losses) + norm_weight * norms(vectors, lists)


def biosyn(vectors, lists, weight, *, similarity="cosine", temperature=0.05, norm_weight=0.0):
    losses = []
    for m in range(len(lists.mentions)):
        among = range(len(lists.candidates[m]))
        options = {"similarity": similarity, "temperature": temperature, "weight": weight}
        found = softmax([score(vectors, lists, m, c, **options) for c in among])
        synonyms = [found[c] for c in among if lists.relevance[m][c] == 2]
        if synonyms:
            losses.append(-log(sum(synonyms)))
    return mean(losses) + norm_weight * norms(vectors, lists)


def norms(vectors, lists):
    losses = []
    for m, mention in enumerate(lists.mentions):
        hypernyms = [h for h in lists.hypernyms[m] if h >= 0]
        if hypernyms:
            own = vectors[mention].square().sum().sqrt()
            above = [vectors[h].square().sum().sqrt() for h in hypernyms]
            losses.append(mean([(own - each) / (own + each) for each in above]))
    return mean(losses)


def conceptual_grounding(vectors, groundings, prototypes, *, margin=0.1):
    triplets = []
    for a, p, n in zip(groundings.anchors, groundings.positives, groundings.negatives, strict=True):
        gap = cosine(vectors, a, p) - cosine(vectors, a, n) + margin
        triplets.append(gap.clamp(min=0))
    concepts = []
    for number, prototype in enumerate(prototypes[groundings.concepts].double()):
        own = [
            vectors[row]
            for row, owner in zip(groundings.members, groundings.owners, strict=True)
            if owner == number
        ]
        concepts.append(cosine(torch.stack([sum(own) / len(own), prototype]), 0, 1))
    return mean(triplets) + mean(concepts)
