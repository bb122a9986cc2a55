// Package recall measures retrieval quality: how well documents are found by
// questions whose answers are marked.
package recall
