package views

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/access"
	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/uuid7"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/view"
	"github.com/toolcrib/toolcrib/wait"
)

// Record has what views show. [store.Store] implements it.
type Record interface {
	FindRun(ctx context.Context, tenant tool.TenantID, id string) (agent.Run, error)
	FindCallEnd(ctx context.Context, tenant tool.TenantID, runID string) (agent.CallEnd, error)
	FindInvocation(ctx context.Context, tenant tool.TenantID, id string) (tool.Invocation, error)
	FindCall(ctx context.Context, tenant tool.TenantID, id string) (wait.Call, error)
}

// Tools finds tools. [resolver.Resolver] implements it.
type Tools interface {
	Resolve(ctx context.Context, req resolver.Request) (*resolver.Resolved, error)
	Version(ctx context.Context, tenant tool.TenantID, toolID, digest string) (*tool.Version, error)
}

// Runs takes responses. [runs.Service] implements it.
type Runs interface {
	SubmitResult(ctx context.Context, s runs.Submission) (runs.Submitted, error)
}

// Config holds the dependencies of a [Service]. All are required, but Now.
type Config struct {
	Views  view.Views
	Record Record
	Tools  Tools
	Runs   Runs
	// Now returns the current time. Defaults to [time.Now].
	Now func() time.Time
}

// Service publishes views and takes responses. It is safe for concurrent use.
type Service struct{ cfg Config }

// NewService returns a service.
func NewService(cfg Config) (*Service, error) {
	if cfg.Views == nil || cfg.Record == nil || cfg.Tools == nil || cfg.Runs == nil {
		return nil, errors.New("views: Config.Views, Record, Tools and Runs are required")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Service{cfg}, nil
}

// Request asks for a view to be published.
type Request struct {
	Principal   tool.Principal
	Title       string // Defaults to the name of the tool.
	Description string
	Kind        view.Kind
	RunID       string        // Of a [view.Result].
	Tool        tool.Ref      // Of a [view.Tool].
	Keep        time.Duration // How long the link is good. Defaults to [view.DefaultKeep].
	// Own limits results to those of calls that the principal made. Others take the permission to see runs.
	Own bool
	// Sees, unless nil, reports whether a tool that the principal may call is one that it is shown.
	Sees func(t *tool.Tool) bool
}

// mayRead fails where a principal may not see what calls returned: who has the link of a result sees it.
func mayRead(p tool.Principal, op string) error {
	if p.May(access.RunsRead) {
		return nil
	}
	lacking := &tool.PermissionError{Permissions: []string{access.RunsRead}}
	return &tool.Error{Kind: tool.Denied, Op: op, Msg: lacking.Error(), Err: lacking}
}

// Published is a view with its token, which is not stored.
type Published struct {
	view.View
	Token string
}

// Path returns the path of the page, with the token.
func (p *Published) Path() string { return view.Path + p.Token }

// Enabled reports whether a tenant may publish views.
func (s *Service) Enabled(ctx context.Context, tenant tool.TenantID) (bool, error) {
	return s.cfg.Views.PublishingEnabled(ctx, tenant) //nolint:wrapcheck // Its words are the caller's.
}

// Publish publishes a view. It fails with tool.Invalid for a view that does not only display, with tool.NotFound for
// a run or a tool that the principal does not have, with tool.Conflict for a call without a result and a tool that
// is disabled, and with tool.Denied where the tenant does not publish, or the principal may not see the run.
func (s *Service) Publish(ctx context.Context, r Request) (Published, error) {
	if err := r.Kind.CheckDisplay(); err != nil {
		return Published{}, err //nolint:wrapcheck // Its words are the caller's.
	}
	if r.Keep == 0 {
		r.Keep = view.DefaultKeep
	}
	if err := view.CheckKeep(r.Keep); err != nil {
		return Published{}, err //nolint:wrapcheck // Its words are the caller's.
	}
	v := view.View{
		Tenant: r.Principal.Tenant, Title: strings.TrimSpace(r.Title), Description: r.Description, Kind: r.Kind,
		CreatedBy: r.Principal.Subject,
	}
	var err error
	if v.Kind == view.Result {
		v.RunID = r.RunID
		v.VersionIdentity, err = s.ofResult(ctx, r)
	} else {
		v.VersionIdentity, err = s.ofTool(ctx, r)
	}
	if err != nil {
		return Published{}, err
	}
	if v.Title == "" {
		v.Title = v.Slug
	}
	if v.ID, err = uuid7.New(); err != nil {
		return Published{}, fmt.Errorf("making an id: %w", err)
	}
	token, err := view.NewToken(v.Tenant, v.ID)
	if err != nil {
		return Published{}, err //nolint:wrapcheck // Its words are the caller's.
	}
	made, err := s.cfg.Views.CreateView(ctx, v, token.Hash(), r.Keep)
	return Published{made, token.Text()}, err //nolint:wrapcheck // Its words are the caller's.
}

// Rotate gives a view another token, and a time of keep; zero for [view.DefaultKeep]. It fails with tool.Denied for
// the result of a call where the principal may not see runs.
func (s *Service) Rotate(ctx context.Context, p tool.Principal, id string, keep time.Duration) (Published, error) {
	if keep == 0 {
		keep = view.DefaultKeep
	}
	if err := view.CheckKeep(keep); err != nil {
		return Published{}, err //nolint:wrapcheck // Its words are the caller's.
	}
	found, err := s.cfg.Views.FindView(ctx, p.Tenant, id)
	if err != nil {
		return Published{}, err //nolint:wrapcheck // Its words are the caller's.
	}
	if found.Kind == view.Result {
		if err := mayRead(p, "views.Rotate"); err != nil {
			return Published{}, err
		}
	}
	token, err := view.NewToken(p.Tenant, found.ID)
	if err != nil {
		return Published{}, err //nolint:wrapcheck // Its words are the caller's.
	}
	rotated, err := s.cfg.Views.RotateView(ctx, p.Tenant, found.ID, p.Subject, token.Hash(), keep)
	return Published{rotated, token.Text()}, err //nolint:wrapcheck // Its words are the caller's.
}

// ofResult returns the tool whose result is shown. A call that has not ended has none: what is still to come is not
// published.
func (s *Service) ofResult(ctx context.Context, r Request) (tool.VersionIdentity, error) {
	const op = "views.Publish"
	if !r.Own {
		if err := mayRead(r.Principal, op); err != nil {
			return tool.VersionIdentity{}, err
		}
	}
	unknown := &tool.Error{Kind: tool.NotFound, Op: op, Path: "/run_id", Msg: "run not found"}
	if !tool.ValidID(r.RunID) {
		return tool.VersionIdentity{}, unknown
	}
	run, err := s.cfg.Record.FindRun(ctx, r.Principal.Tenant, r.RunID)
	switch {
	case tool.KindOf(err) == tool.NotFound && err != nil,
		err == nil && r.Own && run.Principal.Subject != r.Principal.Subject:
		return tool.VersionIdentity{}, unknown
	case err != nil:
		return tool.VersionIdentity{}, fmt.Errorf("finding a run: %w", err)
	case run.Kind != agent.RunKindToolCall:
		return tool.VersionIdentity{}, &tool.Error{
			Kind: tool.Invalid, Op: op, Path: "/run_id",
			Msg: "only results of calls of tools are published: this is a run of an agent",
		}
	}
	end, err := s.cfg.Record.FindCallEnd(ctx, r.Principal.Tenant, r.RunID)
	switch {
	case err != nil:
		return tool.VersionIdentity{}, fmt.Errorf("reading how a call ended: %w", err)
	case !end.Status.Final():
		return tool.VersionIdentity{}, &tool.Error{
			Kind: tool.Conflict, Op: op, Path: "/run_id", Msg: "the call has no result yet: wait for its end",
		}
	case end.Result == nil || end.InvocationID == "":
		return tool.VersionIdentity{}, &tool.Error{
			Kind: tool.Conflict, Op: op, Path: "/run_id", Msg: "the call ended without a result",
		}
	}
	called, err := s.cfg.Record.FindInvocation(ctx, r.Principal.Tenant, end.InvocationID)
	if err != nil {
		return tool.VersionIdentity{}, fmt.Errorf("finding a call: %w", err)
	}
	return called.VersionIdentity, nil
}

// ofTool returns the version of a tool whose description is shown: what the principal may call, and is shown.
func (s *Service) ofTool(ctx context.Context, r Request) (tool.VersionIdentity, error) {
	if r.Tool.Name() == "" {
		return tool.VersionIdentity{}, &tool.Error{
			Kind: tool.Invalid, Op: "views.Publish", Path: "/tool", Msg: "a view of a tool needs its slug or id",
		}
	}
	found, err := s.cfg.Tools.Resolve(ctx, resolver.Request{
		Principal: r.Principal, Ref: r.Tool, Mode: tool.Production, Outside: true,
	})
	switch {
	case err != nil && (tool.KindOf(err) == tool.NotFound || tool.KindOf(err) == tool.Denied),
		err == nil && r.Sees != nil && !r.Sees(&found.Tool):
		return tool.VersionIdentity{}, &tool.Error{
			Kind: tool.NotFound, Op: "views.Publish", Path: "/tool",
			Msg: fmt.Sprintf("tool %q not found", tool.Clip(r.Tool.Name(), 64)),
		}
	case err != nil:
		return tool.VersionIdentity{}, err //nolint:wrapcheck // Its words are the caller's.
	}
	return tool.VersionIdentity{
		ToolID: found.Tool.ID, Slug: found.Tool.Slug, Version: found.Version.Number, Digest: found.Version.Digest,
		Implementation: found.Tool.ImplementationType(),
	}, nil
}
