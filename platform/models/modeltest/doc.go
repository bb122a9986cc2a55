// Package modeltest is the conformance suite of models: what every
// implementation of [agent.Model] must do, for any provider.
//
// Models of a provider are tested against exchanges in files, which a real HTTP
// server on loopback replays: the expected request, the answer in one piece,
// and the same answer as a stream. The files are written by hand, in the format
// that the provider documents.
package modeltest
