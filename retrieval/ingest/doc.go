// Package ingest brings documents into pipelines, and pipelines to another embedding model, in
// idempotent steps.
//
// A step reads the remaining work from the store, does a part of it, and reports its progress. The
// caller passes references and counts only; an interrupted step is retried and resumes from the
// stored state.
package ingest
