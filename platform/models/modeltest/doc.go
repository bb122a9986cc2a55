// Package modeltest is the conformance suite of models: what every
// implementation of [agent.Model] must do, whoever is behind it.
//
// Models of a provider are tested against exchanges in files, which a real
// HTTP server on loopback plays: the request that is expected, the answer in
// one piece, and the same answer as a stream. Such a file is of our own making,
// in the shapes that the provider documents.
package modeltest
