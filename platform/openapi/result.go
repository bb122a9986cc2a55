package openapi

import (
	"github.com/toolcrib/toolcrib/executors/httpcall"
	"github.com/toolcrib/toolcrib/registry/definition"
)

// State is the outcome of an operation.
type State string

// States.
const (
	Mapped     State = "mapped"
	WithLosses State = "mapped_with_losses"
	Skipped    State = "skipped"
)

// Result is the result of mapping a document.
type Result struct {
	Name       string // See [Options.Name].
	Title      string
	Version    string // Of the document, as declared.
	OpenAPI    string // The version of OpenAPI; "2.0" for Swagger.
	Digest     string // SHA-256 of the document's bytes, in hexadecimal.
	Operations []Operation
	Notes      []Loss   // Parts of the document as a whole that were not mapped.
	Needs      []Need   // Credentials that were not named.
	Hosts      []string // Scheme, host and port that the tools call.
	Unselected int      // Operations that the options left out.

	all []key // Of all operations, unselected ones too.
}

// Operation is one operation of a document.
type Operation struct {
	ID      string // The operationId, if it has one.
	Method  string
	Path    string
	Pointer string // JSON Pointer within the document.
	State   State
	Losses  []Loss
	Reason  string               // Why it was skipped.
	Spec    *definition.ToolSpec // Nil when it was skipped. A draft: it asks for no publishing.
	// Pagination is the kind of pagination, as in [httpcall.Pagination]; empty for
	// one page.
	Pagination string
	// Warnings list what is mapped and should be reviewed, such as a slug that
	// another operation already has.
	Warnings []string

	// Known is the slug of the tool that an earlier import made of the
	// operation, set by [Result.Reconcile].
	Known string

	name    string         // The preferred slug.
	scheme  string         // The security scheme of its credential.
	needs   Need           // The credential it lacks; zero for none.
	lacking *httpcall.Auth // How that credential would be sent.
	tags    []string
	open    bool // The document declares no authentication that a request can carry.
}

// Need is a security scheme without a credential.
type Need struct {
	Scheme     string // Its name in the document.
	Kind       string // What the credential must hold.
	Operations int    // How many need it.
}

// Needs returns the security scheme for which a credential must be named; empty
// if none is needed, or one was named.
func (o *Operation) Needs() string { return o.needs.Scheme }

// key identifies an operation.
type key struct{ id, method, path string }

func (o *Operation) key() key { return key{o.ID, o.Method, o.Path} }
