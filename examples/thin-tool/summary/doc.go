// Package summary is the application of a consultancy: executive summaries of its engagements.
//
// The tool that people and agents call, generateExecutiveSummary, is thin: it checks its input,
// creates one record, and answers with a link. A graph of other tools and an agent fills the record
// behind it: seven fields in two layers, each claim with the entities that it rests on.
package summary
