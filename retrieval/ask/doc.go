// Package ask is how a tool asks a pipeline: its configuration, the arguments of
// its calls, and the answer with its citations. Tools of the type rag_retrieval
// and the built-in retrieval_pipeline share it.
//
// What it returns of documents is text of others: it is passed on as it was
// ingested, and decides nothing.
package ask
