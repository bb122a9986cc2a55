// Package retrieval finds passages of a tenant's documents. It defines
// pipelines, their documents and queries, and how the results of two search
// methods are merged.
//
// A pipeline holds documents. Each is ingested once: read, cut into chunks,
// and, where the pipeline has an embedding model, embedded. From then on its
// chunks are found by full-text search, by vector search, or by both. A
// document that is replaced stays searchable with its old content until the new
// content is ready, and then changes atomically.
//
// The package depends on neither SQL nor Temporal nor HTTP: a [Store] stores,
// an [Embedder] embeds, and both are passed in. Sub-packages read documents
// (extract), cut them (chunk) and speak to embedding models (embed).
package retrieval
