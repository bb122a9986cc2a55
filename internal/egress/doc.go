// Package egress sends all outgoing requests of the process. It creates every HTTP
// client and dialer, so that one guard checks every connection.
//
// The guard is the dialer's control function and checks the resolved address at the
// moment it is dialed, which defeats DNS rebinding. It allows global unicast addresses
// outside IANA's special blocks, on ports 80 and 443, and further ones by a tenant's
// [Policy]. Every redirect is checked again. There is no system proxy unless an operator
// configures one.
//
// A request also passes the checks of [Access]: the egress class of the call,
// and the hosts its credential may be sent to.
//
// Requests use HTTP/1.1, one at a time per connection, so that whether a request was
// sent is known exactly: see [tool.Error].Sent.
package egress
