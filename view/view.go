// Package view is the contract of published views: what a tenant shows, behind a link with a secret token, to people
// without a login.
//
// A published view displays, and does nothing else: it takes no answer and starts nothing. Package store implements
// the contract; package platform/views publishes views and serves their pages.
package view

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/tool"
)

// Kind is what a view shows.
type Kind string

// Kinds of views.
const (
	Result Kind = "result" // The recorded result of a call.
	Tool   Kind = "tool"   // The description of a tool, and what it takes.
	Form   Kind = "form"   // A form that takes an answer. It is never published: see [Kind.CheckDisplay].
)

// Kinds returns those that can be published.
func Kinds() []Kind { return []Kind{Result, Tool} }

// CheckDisplay is the guard of published views: it fails with tool.Invalid for a view that takes input, whose output
// would be durable, and for an unknown kind.
func (k Kind) CheckDisplay() error {
	switch k {
	case Result, Tool:
		return nil
	case Form:
		return invalid("/kind", "a published view displays only: a form takes input, and its answer would be durable. "+
			"A request for input has a page of its own: POST /v1/input-requests/{view}/link makes a link to it")
	default:
		return invalid("/kind", `expected "result" or "tool"`)
	}
}

// Bounds of a view.
const (
	MaxTitle       = 200  // Characters.
	MaxDescription = 2000 // Characters.
	MaxLive        = 1000 // Views of a tenant whose links are good.

	DefaultKeep = 7 * 24 * time.Hour
	MaxKeep     = 365 * 24 * time.Hour
	MinKeep     = time.Minute
)

// View is a published view.
type View struct {
	ID          string
	Tenant      tool.TenantID
	Title       string
	Description string
	Kind        Kind

	tool.VersionIdentity        // The tool whose result, or description, is shown.
	RunID                string // Of the call whose result is shown; empty for another kind.

	ExpiresAt time.Time
	RevokedAt *time.Time
	Rotations int // How often it got another token.
	CreatedBy string
	ChangedBy string
	CreatedAt time.Time
	UpdatedAt time.Time

	// Suspended says that the link shows nothing while the tool is disabled, deleted or quarantined. Stores fill it.
	Suspended bool
	// Expired says that the link was good until [View.ExpiresAt]. Stores fill it.
	Expired bool
}

// Status is what the link of a view does.
type Status string

// Statuses of a view.
const (
	Live      Status = "live"
	Expired   Status = "expired"
	Revoked   Status = "revoked"
	Suspended Status = "suspended" // Its tool is disabled, deleted or quarantined.
)

// Statuses returns all of them.
func Statuses() []Status { return []Status{Live, Expired, Revoked, Suspended} }

// Status returns what the link of the view does.
func (v *View) Status() Status {
	switch {
	case v.RevokedAt != nil:
		return Revoked
	case v.Expired:
		return Expired
	case v.Suspended:
		return Suspended
	default:
		return Live
	}
}

// Check fails with tool.Invalid, and the path of the field, for a view that cannot be published.
func (v *View) Check() error {
	if err := v.Kind.CheckDisplay(); err != nil {
		return err
	}
	switch {
	case v.Title == "" || utf8.RuneCountInString(v.Title) > MaxTitle:
		return invalid("/title", fmt.Sprintf("a view has a title of at most %d characters", MaxTitle))
	case utf8.RuneCountInString(v.Description) > MaxDescription:
		return invalid("/description", fmt.Sprintf("the description has more than %d characters", MaxDescription))
	case v.Kind == Result && !tool.ValidID(v.RunID):
		return invalid("/run_id", "a view of a result needs the id of the run of the call")
	case v.Kind != Result && v.RunID != "":
		return invalid("/run_id", "only a view of a result has a run")
	}
	return nil
}

// CheckKeep fails with tool.Invalid for a time that a link cannot be good for.
func CheckKeep(keep time.Duration) error {
	if keep < MinKeep || keep > MaxKeep {
		return invalid("/expires_in_seconds", fmt.Sprintf("a link is good for %d to %d seconds", int(MinKeep/time.Second),
			int(MaxKeep/time.Second)))
	}
	return nil
}

func invalid(path, msg string) error {
	return &tool.Error{Kind: tool.Invalid, Op: "view.Check", Path: path, Msg: msg}
}

// Views is the record of published views. Package store implements it. Those of other tenants are tool.NotFound.
type Views interface {
	// PublishingEnabled reports whether the tenant may publish views. It fails with tool.NotFound.
	PublishingEnabled(ctx context.Context, tenant tool.TenantID) (bool, error)
	// CreateView stores a new view with its id, whose link is good for a time. secretHash is [Token.Hash] of its
	// token. It fails with tool.Denied where the tenant's switch is off, and with tool.Conflict beyond [MaxLive] and
	// for a tool that is disabled, deleted or quarantined.
	CreateView(ctx context.Context, v View, secretHash []byte, keep time.Duration) (View, error)
	// FindView returns a view.
	FindView(ctx context.Context, tenant tool.TenantID, id string) (View, error)
	// ListViews returns a page, newest first.
	ListViews(ctx context.Context, tenant tool.TenantID, before string, limit int) ([]View, error)
	// OpenView returns the view that a token opens. It fails with tool.NotFound for an unknown token, for a view
	// that expired or was revoked, and while its tool is disabled, deleted or quarantined, or its tenant is
	// suspended. Whether the tenant switched the tool off for its own callers makes no difference.
	OpenView(ctx context.Context, tenant tool.TenantID, id string, secretHash []byte) (View, error)
	// RevokeView makes the link of a view useless for good. Doing so again changes nothing.
	RevokeView(ctx context.Context, tenant tool.TenantID, id, by string) (View, error)
	// RotateView gives a view another token and time; the old token opens nothing. It fails with tool.Conflict for a
	// view that was revoked, for one that expired beyond [MaxLive] and for a tool that is disabled, deleted or
	// quarantined, and with tool.Denied where the tenant's switch is off.
	RotateView(
		ctx context.Context, tenant tool.TenantID, id, by string, secretHash []byte, keep time.Duration,
	) (View, error)
}
