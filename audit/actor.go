package audit

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/toolcrib/toolcrib/tool"
)

// Kind is the kind of an actor.
type Kind string

// Kinds of actors.
const (
	Key      Kind = "key"      // A caller with an API key.
	Token    Kind = "token"    // A caller with a token for one call.
	User     Kind = "user"     // A person or program that a host names.
	CLI      Kind = "cli"      // An operator at a command that opens the database itself.
	System   Kind = "system"   // The platform on its own, such as a sweep.
	Database Kind = "database" // A login that changed the database past the platform.
)

// Kinds lists the kinds of actors.
func Kinds() []Kind { return []Kind{Key, Token, User, CLI, System, Database} }

// Actor is who changes something.
type Actor struct {
	Kind    Kind
	Subject string // As in [tool.Principal]; of an operator, the name at the operating system.
	KeyID   string // Id of the API key, if it is one.
	// RequestID leads to the request's log and trace: the X-Request-Id of its answer, or the
	// id of the run whose call changes something.
	RequestID string
	// Reason is kept with changes that succeed, such as the call of an agent and who approved it.
	// Empty for none. It is not read back: see [Entry].
	Reason string
}

// maxSubject bounds what is kept of a subject, a reason and a request's id, in bytes.
const maxSubject = 400

// prefixes of subjects, as keys and tokens have them.
const (
	keyPrefix   = "key:"
	tokenPrefix = "token:"
)

// ActorOf returns the actor that a principal is.
func ActorOf(p tool.Principal, requestID string) Actor {
	a := Actor{Kind: User, Subject: p.Subject, RequestID: requestID}
	if id, ok := strings.CutPrefix(p.Subject, keyPrefix); ok && tool.ValidID(id) {
		a.Kind, a.KeyID = Key, id
	} else if strings.HasPrefix(p.Subject, tokenPrefix) {
		a.Kind = Token
	}
	return a
}

type actorKey struct{}

// held is an actor in a context, with its setting.
type held struct {
	actor   Actor
	setting string
}

var system = hold(Actor{Kind: System, Subject: "toolcrib"})

func hold(a Actor) *held {
	raw, _ := json.Marshal(struct { // Strings: it cannot fail.
		Kind    Kind   `json:"kind"`
		Subject string `json:"subject"`
		KeyID   string `json:"key_id,omitempty"`
		Request string `json:"request_id,omitempty"`
		Reason  string `json:"reason,omitempty"`
	}{a.Kind, cut(a.Subject), a.KeyID, cut(a.RequestID), cut(a.Reason)})
	return &held{a, string(raw)}
}

func cut(s string) string {
	s = strings.ReplaceAll(s, "\x00", "\uFFFD")
	if len(s) > maxSubject {
		s = s[:maxSubject]
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// With returns a context whose changes are by a.
func With(ctx context.Context, a Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, hold(a))
}

// ActorFrom returns who changes something in ctx: the platform, unless [With] was used.
func ActorFrom(ctx context.Context) Actor { return of(ctx).actor }

// ActorSetting returns the actor of ctx as the database gets it.
func ActorSetting(ctx context.Context) string { return of(ctx).setting }

func of(ctx context.Context) *held {
	if h, ok := ctx.Value(actorKey{}).(*held); ok {
		return h
	}
	return system
}
