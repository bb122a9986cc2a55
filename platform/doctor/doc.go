// Package doctor checks the platform's dependencies, as they are reached from
// the command line, and reports for each what was found and how to fix it.
//
// It changes nothing, ends in time even if a dependency does not answer, and
// reports no secrets.
package doctor
