// Package lexical is an embeddings endpoint for trying things out: it needs no
// model and no network, and answers the same text with the same vector for good.
//
// It knows spelling and nothing else. Texts are near each other that share
// words, beginnings of words or parts of them; "car" and "automobile" are
// strangers. What it gives a search is tolerance for typing mistakes and
// inflection. Whoever wants meaning points a pipeline at a model's endpoint,
// which speaks the same protocol.
package lexical
