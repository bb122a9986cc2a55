package sessions

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/uuid7"
	"github.com/toolcrib/toolcrib/platform/publiccall"
	"github.com/toolcrib/toolcrib/platform/publicform"
	"github.com/toolcrib/toolcrib/policy"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolsession"
	"github.com/toolcrib/toolcrib/wire"
)

// Record has how calls ended. [store.Store] implements it.
type Record interface {
	FindCallEnd(ctx context.Context, tenant tool.TenantID, runID string) (agent.CallEnd, error)
}

// Config holds the dependencies of a [Service]. All are required.
type Config struct {
	Sessions toolsession.Store
	Record   Record
	Calls    *publiccall.Caller
}

// Service makes sessions and takes submissions. It is safe for concurrent use.
type Service struct {
	cfg Config
}

// New returns a service.
func New(cfg Config) (*Service, error) {
	if cfg.Sessions == nil || cfg.Record == nil || cfg.Calls == nil {
		return nil, errors.New("sessions: Config.Sessions, Record and Calls are required")
	}
	return &Service{cfg}, nil
}

// Request asks for a session.
type Request struct {
	Principal tool.Principal
	Tool      tool.Ref
	Title     string // Defaults to the name of the tool.
	Entities  []string
	Config    json.RawMessage
}

// Create makes a session of the version that the principal may call now. It fails with tool.Invalid for a tool that
// is not collaborative, and otherwise as the resolver and [toolsession.Store] do.
func (s *Service) Create(ctx context.Context, r Request) (toolsession.Session, error) {
	resolved, err := s.cfg.Calls.Tools.Resolve(ctx, resolver.Request{
		Principal: r.Principal, Ref: r.Tool, Mode: tool.Production, Outside: true, New: true,
	})
	if err != nil {
		return toolsession.Session{}, err //nolint:wrapcheck // Its words are the caller's.
	}
	d := &resolved.Version.Snapshot.Definition
	if !d.Interaction.Collaborative {
		return toolsession.Session{}, invalid("/tool",
			"the tool %q takes no sessions: its definition lacks collaborative: true",
			resolved.Tool.Slug)
	}
	made := toolsession.Session{
		Tenant: r.Principal.Tenant, Title: strings.TrimSpace(r.Title), Entities: r.Entities, Config: r.Config,
		Aggregate: d.Interaction.Aggregate, Permission: resolved.Tool.RequiredPermission, CreatedBy: r.Principal.Subject,
		VersionIdentity: tool.VersionIdentity{
			ToolID: resolved.Tool.ID, Slug: resolved.Tool.Slug, Version: resolved.Version.Number,
			Digest: resolved.Version.Digest,
		},
	}
	if made.Title == "" {
		made.Title = d.Name
	}
	if err := made.Check(); err != nil {
		return toolsession.Session{}, err //nolint:wrapcheck // Its words are the caller's.
	}
	fixed, err := made.Fixed()
	if err != nil {
		return toolsession.Session{}, err //nolint:wrapcheck // Its words are the caller's.
	}
	if err := known(d.InputSchema, fixed); err != nil {
		return toolsession.Session{}, err
	}
	if made.ID, err = uuid7.New(); err != nil {
		return toolsession.Session{}, fmt.Errorf("making an id: %w", err)
	}
	return s.cfg.Sessions.CreateToolSession(ctx, made) //nolint:wrapcheck // Its words are the caller's.
}

// Linked is a session with the token of its link, which is not stored.
type Linked struct {
	toolsession.Session
	Token string
}

// Path returns the path of the page, with the token.
func (l *Linked) Path() string { return toolsession.Path + l.Token }

// Link gives a session a link, good for a time of keep; zero for [toolsession.DefaultKeep]. The link that it had
// opens nothing any more. It fails as the resolver does for a tool that the principal may not call, with tool.Denied
// for one whose calls need an approval, and with tool.Invalid for a form that cannot be filled in by people without an
// account, or asks them for secrets.
func (s *Service) Link(ctx context.Context, p tool.Principal, id string, keep time.Duration) (Linked, error) {
	if keep == 0 {
		keep = toolsession.DefaultKeep
	}
	if err := toolsession.CheckKeep(keep); err != nil {
		return Linked{}, err //nolint:wrapcheck // Its words are the caller's.
	}
	session, err := s.cfg.Sessions.FindToolSession(ctx, p.Tenant, id)
	if err != nil {
		return Linked{}, err //nolint:wrapcheck // Its words are the caller's.
	}
	resolved, err := s.open(ctx, &session)
	if err != nil {
		return Linked{}, err
	}
	if _, err := s.resolve(ctx, p, &session); err != nil { // A link lends no permission that its maker lacks.
		return Linked{}, err
	}
	if err := checkForm(&session, &resolved.Version.Snapshot.Definition); err != nil {
		return Linked{}, err
	}
	token, err := toolsession.NewToken(p.Tenant, session.ID)
	if err != nil {
		return Linked{}, err //nolint:wrapcheck // Its words are the caller's.
	}
	made, err := s.cfg.Sessions.LinkToolSession(ctx, p.Tenant, session.ID, p.Subject, token.Hash(), keep)
	made.Submissions = session.Submissions
	return Linked{made, token.Text()}, err //nolint:wrapcheck // Its words are the caller's.
}

// guest is who submits by a link: the session itself, with what the tool asked for when it was made.
func guest(session *toolsession.Session) tool.Principal {
	p := tool.Principal{Tenant: session.Tenant, Subject: toolsession.Subject(session.ID), Permissions: []string{}}
	if session.Permission != "" {
		p.Permissions = append(p.Permissions, session.Permission)
	}
	return p
}

// ref names the version of a session.
func ref(session *toolsession.Session) tool.Ref {
	return tool.Ref{ID: session.ToolID, Constraint: session.Version}
}

// resolve returns the version of a session for a principal who may call it.
func (s *Service) resolve(
	ctx context.Context, p tool.Principal, session *toolsession.Session,
) (*resolver.Resolved, error) {
	return s.cfg.Calls.Resolve(ctx, p, ref(session))
}

// open returns the version that the link of a session calls. It fails with tool.Denied where a call of it would be
// refused, or would need an approval: a link starts nothing that a person has to decide about.
func (s *Service) open(ctx context.Context, session *toolsession.Session) (*resolver.Resolved, error) {
	const op = "sessions.open"
	p := guest(session)
	resolved, err := s.resolve(ctx, p, session)
	if err != nil {
		return nil, err
	}
	d := policy.Decide(policy.Input{Principal: p, Policy: resolved.Tool.Policy})
	if d.Verdict == policy.Allow && resolved.Version.Snapshot.Interaction.Confirmation != nil {
		return nil, &tool.Error{Kind: tool.Denied, Op: op, Path: "/tool", Msg: "calls of the tool may need an approval: " +
			"they are not made by a link"}
	}
	if d.Verdict != policy.Allow {
		return nil, &tool.Error{Kind: tool.Denied, Op: op, Path: "/tool", Msg: "calls of the tool are not made " +
			"by a link: " + strings.Join(d.Texts(), "; ")}
	}
	return resolved, nil
}

// Input is what is submitted to a session.
type Input struct {
	Session *toolsession.Session
	// Principal submits. Nil for a submission by the link.
	Principal *tool.Principal
	Link      []byte // The digest of the token of the link.
	Guest     string // The name that a person gave on the page of the link.
	Nonce     string // Of the request, which submits once. Generated when empty.
	Input     json.RawMessage
	Request   runs.Request
}

// Submit stores a submission and makes its call, and waits for its end for as long. It fails with tool.Invalid, and the
// path of the input, for one that does not fit, with tool.Conflict for a session that has ended, and with tool.Denied
// for a call that the submitter may not make. Repeated says that the request had submitted before.
func (s *Service) Submit(
	ctx context.Context, in Input, wait time.Duration,
) (made toolsession.Submission, repeated bool, err error) {
	session := in.Session
	p := guest(session)
	var resolved *resolver.Resolved
	if in.Principal != nil {
		p = *in.Principal
		resolved, err = s.resolve(ctx, p, session)
	} else {
		resolved, err = s.open(ctx, session)
	}
	if err != nil {
		return toolsession.Submission{}, false, err
	}
	arguments, err := s.arguments(ctx, session, resolved, in)
	if err != nil {
		return toolsession.Submission{}, false, err
	}
	submission := toolsession.Submission{
		Tenant: session.Tenant, SessionID: session.ID, Subject: p.Subject, Guest: in.Guest, ByLink: in.Principal == nil,
		Link: in.Link, Input: in.Input, Nonce: in.Nonce,
	}
	if submission.ID, err = uuid7.New(); err != nil {
		return toolsession.Submission{}, false, fmt.Errorf("making an id: %w", err)
	}
	if submission.Nonce == "" {
		submission.Nonce = submission.ID
	}
	made, repeated, err = s.cfg.Sessions.AddSubmission(ctx, submission)
	switch {
	case err != nil:
		return made, repeated, err //nolint:wrapcheck // Its words are the caller's.
	case repeated && (made.Subject != submission.Subject || made.ByLink != submission.ByLink):
		return toolsession.Submission{}, false, &tool.Error{
			Kind: tool.Conflict, Op: "sessions.Submit", Msg: "the id of the request is that of another one",
		}
	case repeated && made.Status != toolsession.Running:
		return made, true, nil
	case repeated: // The call is made of what was stored: another request may be making it.
		in.Input = made.Input
		if arguments, err = s.arguments(ctx, session, resolved, in); err != nil {
			return made, true, nil //nolint:nilerr // It was submitted, and is settled when it is listed.
		}
	}
	call, err := s.cfg.Calls.Runs.Call(ctx, runs.NewCall{
		Request: runs.Request{ID: made.ID, TraceID: in.Request.TraceID}, Principal: p, ByLink: in.Principal == nil,
		Node: wire.Node{Tool: ref(session), Arguments: arguments},
	})
	if err != nil {
		return s.refused(context.WithoutCancel(ctx), made, repeated, err), repeated, nil
	}
	if wait > 0 {
		s.cfg.Calls.Await(ctx, call, wait)
	}
	settled, err := s.Settle(ctx, made)
	if err != nil {
		return made, repeated, nil //nolint:nilerr // It was submitted, and is settled when it is listed.
	}
	return settled, repeated, nil
}

// refused settles a submission whose call was refused, unless it was recorded, and so may be made, or another request
// may be making it.
func (s *Service) refused(
	ctx context.Context, made toolsession.Submission, repeated bool, err error,
) toolsession.Submission {
	if repeated {
		return made
	}
	if _, unknown := s.cfg.Record.FindCallEnd(ctx, made.Tenant, made.ID); tool.KindOf(unknown) != tool.NotFound {
		return made
	}
	failed := made
	failed.Status, failed.Error = toolsession.Failed, words(err)
	settled, later := s.cfg.Sessions.SettleSubmission(ctx, failed)
	if later != nil {
		s.cfg.Calls.Logger.WarnContext(ctx, "a submission was not settled", slog.Any("error", later))
		return made
	}
	return settled
}

// arguments returns what the tool is called with: what was submitted, and what the session fixes.
func (s *Service) arguments(
	ctx context.Context, session *toolsession.Session, resolved *resolver.Resolved, in Input,
) (json.RawMessage, error) {
	if len(in.Input) > toolsession.MaxInput {
		return nil, invalid("/input", "the input has %d bytes, and %d are allowed", len(in.Input), toolsession.MaxInput)
	}
	given := map[string]json.RawMessage{}
	if !bytes.HasPrefix(bytes.TrimSpace(in.Input), []byte("{")) || json.Unmarshal(in.Input, &given) != nil {
		return nil, invalid("/input", "expected an object, by the names of inputs")
	}
	definition := &resolved.Version.Snapshot.Definition
	var asked publicform.Form // Of a guest.
	if in.Principal == nil {
		var err error
		if asked, err = Fields(session, definition); err != nil {
			return nil, err
		}
		for name := range given {
			if !asked.Has(name) {
				return nil, invalid("/input", "the form has no field %.80q", name)
			}
		}
	}
	fixed, err := session.Fixed()
	if err != nil {
		return nil, err //nolint:wrapcheck // Its words are the caller's.
	}
	for name, value := range fixed {
		if _, twice := given[name]; twice {
			return nil, invalid("/input/"+publicform.Pointer(name), "the session has fixed %.80q", name)
		}
		given[name] = value
	}
	raw, err := json.Marshal(given)
	if err != nil {
		return nil, fmt.Errorf("writing arguments: %w", err)
	}
	prepared, err := s.cfg.Calls.Prepare(ctx, definition.InputSchema, raw)
	if err != nil {
		return nil, err //nolint:wrapcheck // Its words are the caller's.
	}
	if path := asked.Unasked(prepared); path != "" && len(definition.InputSchema) > 0 {
		return nil, invalid("/input"+path, "the form does not ask for that")
	}
	return prepared, nil
}

// lost is how long after a submission its call has begun, or never does.
const lost = 2 * time.Minute

// Settle stores how the call of a submission ended, where it has.
func (s *Service) Settle(ctx context.Context, b toolsession.Submission) (toolsession.Submission, error) {
	if b.Status != toolsession.Running {
		return b, nil
	}
	end, err := s.cfg.Record.FindCallEnd(ctx, b.Tenant, b.ID)
	switch {
	case err != nil && tool.KindOf(err) == tool.NotFound && s.cfg.Calls.Now().Sub(b.CreatedAt) < lost:
		return b, nil
	case err != nil && tool.KindOf(err) == tool.NotFound:
		b.Status, b.Error = toolsession.Failed, "the call was not begun"
	case err != nil:
		return b, fmt.Errorf("reading how a call ended: %w", err)
	case !end.Status.Final():
		return b, nil
	case end.Result == nil:
		b.Status, b.Error = toolsession.Failed, clipped(firstOf(end.CallMsg, end.Msg, "the call ended without a result"))
	default:
		b.Status, b.Output = toolsession.Done, outputOf(end.Result)
		if end.Result.IsError {
			b.Status = toolsession.Failed
			b.Error = clipped(firstOf(publicform.Text(end.Result), "the tool answered no"))
		}
	}
	return s.cfg.Sessions.SettleSubmission(ctx, b) //nolint:wrapcheck // Its words are the caller's.
}

// List returns a page of submissions, settled.
func (s *Service) List(ctx context.Context, q toolsession.SubmissionQuery) ([]toolsession.Submission, error) {
	found, err := s.cfg.Sessions.ListSubmissions(ctx, q)
	if err != nil {
		return nil, err //nolint:wrapcheck // Its words are the caller's.
	}
	for i := range found {
		if found[i], err = s.Settle(ctx, found[i]); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func invalid(path, format string, args ...any) error {
	return &tool.Error{Kind: tool.Invalid, Op: "sessions", Path: path, Msg: fmt.Sprintf(format, args...)}
}
