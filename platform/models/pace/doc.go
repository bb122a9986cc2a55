// Package pace keeps the requests of a process to a model provider within its
// rate limits: those that an operator configured, and those that the provider
// reports.
//
// A provider counts by key and model, so all requests with one key to one model
// share a lane. In a lane, requests wait in a queue for each tenant, which take
// turns. After the provider limited one of them, no other is sent before the
// time that it asked for; then they follow one another at random distances
// until one is answered, so that they do not all come at once.
//
// Lanes are in memory: processes do not know of one another.
package pace
