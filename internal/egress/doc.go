// Package egress is the only place from which the process calls out. It builds
// every HTTP client and dialer, so that one guard decides on every connection.
//
// The guard sits in the dialer's control function and judges the address that
// a name resolved to, at the moment it is dialed: a name that changes its
// address between check and use gains nothing. It lets through global unicast
// addresses less IANA's special blocks, on ports 80 and 443, and what an
// operator allows beyond that in a tenant's [Policy]. Every redirect is decided
// again. There is no system proxy unless an operator configures one.
//
// A request also passes the checks of [Access]: the egress class of the call,
// and the hosts its credential may be sent to.
//
// Requests go over HTTP/1.1, one at a time on a connection, so that whether
// one was sent is a fact and not a guess: see [tool.Error].Sent.
package egress
