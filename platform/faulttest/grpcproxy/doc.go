// Package grpcproxy is a transparent proxy in front of a gRPC server that
// injects faults for tests: methods that are refused, whose answers are lost,
// that are late, or that hang.
//
// It forwards unary calls only, which is all that Temporal's frontend has, and
// passes messages on without decoding them.
package grpcproxy
