// Package peers runs the work of the benchmarks on other durable engines:
// LangGraph.js, DBOS, Mastra and Restate.
//
// Each engine is an npm package, used by a module of a few lines beside this
// file. [Install] installs the versions of package-lock.json in a folder,
// [Installation.Start] starts a Node process for one engine, and [Process.Do] has
// it do a round of work and checks that the work was done.
//
// An engine that can't run here fails with an [*UnavailableError], which says
// what is missing: callers leave it out.
package peers
