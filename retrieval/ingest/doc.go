// Package ingest brings documents into pipelines, and pipelines to another
// embedding model, in steps that may be repeated.
//
// A step asks the store what is left to do, does some of it, and reports its
// progress. The caller of the steps passes references and counts only; a step
// that was interrupted is begun again and resumes where the store says.
package ingest
