// Package ingest brings documents into pipelines, and pipelines to another
// embedding model, in steps that may be repeated.
//
// A step asks the store what is left to do, does some of it, and says how far it
// came. Whoever orders the steps carries references and counts; a step that was
// cut short is begun again and goes on where the store says.
package ingest
