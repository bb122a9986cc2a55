// Package retrieval searches passages of a tenant's documents. It defines pipelines, their
// documents and queries, and the fusion of two search methods' results.
//
// A pipeline contains documents. Each is ingested once: its text is extracted, cut into chunks
// and, if the pipeline has an embedding model, embedded. From then on its chunks are found by
// full-text search, vector search, or both. A document that is replaced stays searchable with
// its old content until the new content is ready, and then changes atomically.
//
// The package depends on neither SQL nor Temporal nor HTTP: a [Store] stores,
// an [Embedder] embeds, and both are passed in. Sub-packages read documents
// (extract), cut them (chunk) and speak to embedding models (embed).
package retrieval
