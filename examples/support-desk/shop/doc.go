// Package shop is the company of the support-desk example: a small HTTP API
// over customers, orders, stock and shipping, with fixed data in memory.
//
// It behaves as such services do. It wants a bearer token, answers "no" with a
// status and a reason, takes its time, and its carrier is down now and then:
// see [Config].
package shop
