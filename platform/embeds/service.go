// Package embeds makes the tokens of embeds and serves the page that shows a tool in a frame of another site.
//
// The page is no part of the console: it has no cookie and no login, and its script is a few kilobytes. It asks the
// page around it for a token, which runs one version of one tool, as the caller that the host's backend named, and does
// nothing else: no endpoint of the API takes it.
package embeds

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/uuid7"
	"github.com/toolcrib/toolcrib/platform/publiccall"
	"github.com/toolcrib/toolcrib/platform/publicform"
	"github.com/toolcrib/toolcrib/policy"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolembed"
	"github.com/toolcrib/toolcrib/wire"
)

// Record has calls and how they ended. [store.Store] implements it.
type Record interface {
	FindRunOfWorkflow(ctx context.Context, tenant tool.TenantID, workflowID string) (agent.Run, error)
	FindCallEnd(ctx context.Context, tenant tool.TenantID, runID string) (agent.CallEnd, error)
	ListInvocations(ctx context.Context, tenant tool.TenantID, q store.InvocationQuery) ([]tool.Invocation, error)
}

// Config holds the dependencies of a [Service]. All are required.
type Config struct {
	Embeds toolembed.Store
	Record Record
	Calls  *publiccall.Caller
}

// Service makes tokens and the calls with them. It is safe for concurrent use.
type Service struct {
	cfg Config
}

// New returns a service.
func New(cfg Config) (*Service, error) {
	if cfg.Embeds == nil || cfg.Record == nil || cfg.Calls == nil {
		return nil, errors.New("embeds: Config.Embeds, Record and Calls are required")
	}
	return &Service{cfg}, nil
}

// Request asks for a token.
type Request struct {
	Principal tool.Principal // Of an API key.
	Tool      tool.Ref
	Origin    string // Of the page that frames the tool.
	Caller    string // Whom the calls are made for.
}

// Made is a grant with its token, which is not stored.
type Made struct {
	toolembed.Grant
	Token string
}

// Make makes a token for the version that the principal may call now. It fails with tool.Denied for a principal without
// an API key, for an origin that the tenant does not allow, and for a tool that the principal may not call; and with
// tool.Invalid for a form that cannot be filled in by people without an account, or asks them for secrets.
func (s *Service) Make(ctx context.Context, r Request) (Made, error) {
	key, ok := strings.CutPrefix(r.Principal.Subject, "key:")
	if !ok || !tool.ValidID(key) {
		return Made{}, &tool.Error{Kind: tool.Denied, Op: "embeds.Make", Msg: "a token is made with an API key, which it " +
			"needs as long as it is good: use one of a service account of your backend"}
	}
	if err := toolembed.CheckOrigin(r.Origin); err != nil {
		return Made{}, err //nolint:wrapcheck // Its words are the caller's.
	}
	if err := toolembed.CheckCaller(r.Caller); err != nil {
		return Made{}, err //nolint:wrapcheck // Its words are the caller's.
	}
	resolved, err := s.resolve(ctx, r.Principal, r.Tool)
	if err != nil {
		return Made{}, err
	}
	form, err := publicform.Of(resolved.Version.Snapshot.InputSchema, nil)
	if err != nil {
		return Made{}, err //nolint:wrapcheck // Its words are the caller's.
	}
	if name := form.Missing(); name != "" {
		return Made{}, invalid("/tool", "the form does not ask for %q, which the tool requires: give it a default", name)
	}
	if name := form.Secret(); name != "" {
		return Made{}, invalid("/tool", "the field %q asks for a secret, such as a password or a card number: "+
			"a page of ours never does", name)
	}
	g := toolembed.Grant{
		Tenant: r.Principal.Tenant, Origin: r.Origin, Caller: r.Caller, KeyID: key,
		Permission: resolved.Tool.RequiredPermission,
		VersionIdentity: tool.VersionIdentity{
			ToolID: resolved.Tool.ID, Slug: resolved.Tool.Slug, Version: resolved.Version.Number,
			Digest: resolved.Version.Digest,
		},
	}
	if g.ID, err = uuid7.New(); err != nil {
		return Made{}, fmt.Errorf("making an id: %w", err)
	}
	token, err := toolembed.NewToken(g.Tenant, g.ID)
	if err != nil {
		return Made{}, err //nolint:wrapcheck // Its words are the caller's.
	}
	g, err = s.cfg.Embeds.CreateEmbedToken(ctx, g, token.Hash())
	return Made{g, token.Text()}, err //nolint:wrapcheck // Its words are the caller's.
}

// resolve returns a version that calls of the principal are not refused of.
func (s *Service) resolve(ctx context.Context, p tool.Principal, ref tool.Ref) (*resolver.Resolved, error) {
	resolved, err := s.cfg.Calls.Resolve(ctx, p, ref)
	if err != nil {
		return nil, err //nolint:wrapcheck // Its words are the caller's.
	}
	if d := policy.Decide(policy.Input{Principal: p, Policy: resolved.Tool.Policy}); d.Verdict == policy.Deny {
		return nil, &tool.Error{
			Kind: tool.Denied, Op: "embeds.resolve", Path: "/tool",
			Msg: "the tool may not be called: " + strings.Join(d.Texts(), "; "),
		}
	}
	return resolved, nil
}

// open returns the version of a token as its calls see it.
func (s *Service) open(ctx context.Context, g *toolembed.Grant) (*resolver.Resolved, error) {
	return s.resolve(ctx, g.Principal(), tool.Ref{ID: g.ToolID, Constraint: g.Version})
}

// acts reports whether a call may change something, so that a person confirms it first.
func acts(r *resolver.Resolved) bool {
	class := r.Tool.EgressClass
	return class == tool.EgressWrite || !r.Version.Snapshot.Execution.Pure && class != tool.EgressReadOnly
}

// callID names the call of a page: the same person has another one with another tool, and cannot name those of others.
func callID(g *toolembed.Grant, once string) string {
	sum := sha256.Sum256([]byte(g.Principal().Subject + "\n" + g.ToolID + "\n" + once))
	return "embed-" + hex.EncodeToString(sum[:16])
}

// arguments returns what the tool is called with, of an input that has the fields of the form alone. What a text became
// is looked at again: it may be an object with what the form does not ask for.
func (s *Service) arguments(
	ctx context.Context, r *resolver.Resolved, form *publicform.Form, input map[string]json.RawMessage,
) (json.RawMessage, error) {
	raw, err := json.Marshal(input)
	if err != nil {
		return nil, fmt.Errorf("writing arguments: %w", err)
	}
	if len(raw) > toolembed.MaxInput {
		return nil, invalid("/input", "the input has %d bytes, and %d are allowed", len(raw), toolembed.MaxInput)
	}
	prepared, err := s.cfg.Calls.Prepare(ctx, r.Version.Snapshot.InputSchema, raw)
	if err != nil {
		return nil, err //nolint:wrapcheck // Its words are the caller's.
	}
	if path := form.Unasked(prepared); path != "" {
		return nil, invalid("/input"+path, "the form does not ask for that")
	}
	return prepared, nil
}

// confirmation is what a person confirms: this call, with these arguments.
func confirmation(id string, arguments json.RawMessage) (string, error) {
	digest, err := tool.Digest(arguments)
	if err != nil {
		return "", err //nolint:wrapcheck // It has an operation of its own.
	}
	sum := sha256.Sum256([]byte(id + "\n" + digest))
	return hex.EncodeToString(sum[:]), nil
}

// call makes the call of a page, once, as the caller of the token, and waits for its end for as long.
func (s *Service) call(
	ctx context.Context, g *toolembed.Grant, id string, arguments json.RawMessage, wait time.Duration,
) (outcome, error) {
	made, err := s.cfg.Calls.Runs.Call(ctx, runs.NewCall{
		Principal: g.Principal(), ByLink: true,
		Node: wire.Node{
			ID: id, Tool: tool.Ref{ID: g.ToolID, Constraint: g.Version}, Arguments: bytes.Clone(arguments),
		},
	})
	if err != nil {
		return outcome{}, err //nolint:wrapcheck // Its words are the caller's.
	}
	s.cfg.Calls.Await(ctx, made, wait)
	return s.outcome(ctx, g, made.RunID)
}

// find returns what became of the call of a page, and waits for its end for as long.
func (s *Service) find(ctx context.Context, g *toolembed.Grant, id string, wait time.Duration) (outcome, error) {
	run, err := s.cfg.Record.FindRunOfWorkflow(ctx, g.Tenant, wire.CallWorkflowID(g.Tenant, id))
	if err != nil {
		return outcome{}, err //nolint:wrapcheck // Its words are the caller's.
	}
	if !run.Status.Final() {
		s.cfg.Calls.Await(ctx, runs.Recorded(run), wait)
	}
	return s.outcome(ctx, g, run.ID)
}

func invalid(path, format string, args ...any) error {
	return &tool.Error{Kind: tool.Invalid, Op: "embeds", Path: path, Msg: fmt.Sprintf(format, args...)}
}
