// Package devstack runs the services Toolcrib needs, a private PostgreSQL cluster and a Temporal server with
// its UI, inside and beside the calling process.
package devstack
