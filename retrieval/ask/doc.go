// Package ask searches a pipeline for a tool: its configuration, the arguments of its calls, and the
// result with its citations. Tools of the type rag_retrieval and the built-in retrieval_pipeline
// share it.
//
// Text of documents is untrusted: it is returned as it was ingested, and interpreted nowhere.
package ask
