// Package retrieval finds passages of a tenant's documents: what a pipeline is,
// what it is fed, how it is asked, and how the answers of two ways of searching
// become one.
//
// A pipeline holds documents. Each is ingested once: read, cut into chunks, and,
// where the pipeline has an embedding model, embedded. From then on its chunks
// are found by their words, by their meaning, or by both. A document that is
// replaced stays as it was for those who search until its new content is ready,
// and then changes at once.
//
// The package knows neither SQL nor Temporal nor HTTP: a [Store] keeps, an
// [Embedder] embeds, and both are handed in. Sub-packages read documents
// (extract), cut them (chunk) and speak to embedding models (embed).
package retrieval
