package runs

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/toolcrib/toolcrib/internal/input"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
	"github.com/toolcrib/toolcrib/wire"
)

// MaxResultBytes bounds the result of a call that is answered from outside.
const MaxResultBytes = 1 << 20

// Submission is the result of a call that is answered from outside.
type Submission struct {
	Principal tool.Principal // Who submits. Its tenant is required.
	// ID is that of the call's invocation; or RunID and CallID name the call, as the run and
	// its caller know it.
	ID            string
	RunID, CallID string
	Result        json.RawMessage // As [wait.ReadResult] takes it. Required.
	IsError       bool            // The result says why the call failed.
	ByLink        bool            // A visitor of a link submits: the result taints the run that gets it.
}

// Submitted is a call with its result.
type Submitted struct {
	wait.Call
	// Repeated says that the call had a result before, which it keeps.
	Repeated bool
}

// SubmitResult records the result of a call, and tells the workflow that waits for it. A
// call keeps its first result: submitting another, or the same again, changes nothing.
//
// It fails with tool.NotFound for a call that the tenant does not have, with tool.Denied for
// who lacks [wait.SubmitPermission], with tool.Invalid for a result that breaks the tool's
// output schema or the form of a request for input, and with tool.Conflict for a call that
// takes no result any more, or where several calls of the run have the call id.
func (s *Service) SubmitResult(ctx context.Context, sub Submission) (Submitted, error) {
	const op = "runs.SubmitResult"
	if !sub.Principal.May(wait.SubmitPermission) {
		lacking := &tool.PermissionError{Permissions: []string{wait.SubmitPermission}}
		return Submitted{}, &tool.Error{Kind: tool.Denied, Op: op, Msg: lacking.Error(), Err: lacking}
	}
	called, err := s.submittedTo(ctx, sub)
	if err != nil {
		return Submitted{}, err
	}
	if called.Status == wait.CallResolved {
		return Submitted{Call: called, Repeated: true}, nil
	}
	checked := wait.Submission{Result: &tool.Result{}}
	if called.Status.Open() { // Otherwise the store says why it takes none.
		if checked, err = s.checkedResult(ctx, &called, sub); err != nil {
			return Submitted{}, err
		}
	}
	checked.Tenant, checked.ID, checked.Subject = sub.Principal.Tenant, called.ID, sub.Principal.Subject
	checked.ByLink = sub.ByLink
	resolved, first, err := s.cfg.Store.SubmitResult(ctx, checked)
	if err != nil {
		return Submitted{Call: resolved}, fmt.Errorf("recording the result: %w", err)
	}
	if first && !resolved.Late {
		s.deliverResult(context.WithoutCancel(ctx), resolved)
	}
	return Submitted{Call: resolved, Repeated: !first}, nil
}

// maxSameCallID bounds the calls of a run with one call id that are looked at: some models
// number the calls of each turn anew.
const maxSameCallID = 500

// submittedTo finds the call that a result is for.
func (s *Service) submittedTo(ctx context.Context, sub Submission) (wait.Call, error) {
	const op = "runs.SubmitResult"
	tenant := sub.Principal.Tenant
	if sub.ID != "" {
		found, err := s.cfg.Store.FindCall(ctx, tenant, sub.ID)
		if err != nil {
			return found, fmt.Errorf("finding the call: %w", err)
		}
		return found, nil
	}
	if sub.CallID == "" {
		return wait.Call{}, invalidResult("/call_id", "a result needs the id of its call")
	}
	run, err := s.cfg.Store.FindRun(ctx, tenant, sub.RunID)
	if err != nil {
		return wait.Call{}, fmt.Errorf("finding the run: %w", err)
	}
	found, err := s.cfg.Store.ListCalls(ctx, wait.CallQuery{
		Tenant: tenant, RunID: run.ID, CallID: sub.CallID, Limit: maxSameCallID,
	})
	if err != nil {
		return wait.Call{}, fmt.Errorf("finding the call: %w", err)
	}
	var open []wait.Call
	for _, c := range found {
		if c.Status.Open() {
			open = append(open, c)
		}
	}
	switch {
	case len(found) == 0:
		return wait.Call{}, &tool.Error{
			Kind: tool.NotFound, Op: op, Path: "/call_id",
			Msg: fmt.Sprintf("the run has no call %q that is answered from outside", tool.Clip(sub.CallID, 64)),
		}
	case len(open) > 1:
		return wait.Call{}, &tool.Error{
			Kind: tool.Conflict, Op: op, Path: "/call_id",
			Msg: fmt.Sprintf("%d calls that have this id take a result: submit to one of them, such as the newest, "+
				"/v1/pending-tool-calls/%s/result", len(open), open[0].ID),
		}
	case len(open) == 1:
		return open[0], nil
	default:
		return found[0], nil
	}
}

// checkedResult reads a result, and checks it by the form of a request for input, or the output
// schema of the version called.
func (s *Service) checkedResult(ctx context.Context, called *wait.Call, sub Submission) (wait.Submission, error) {
	if len(sub.Result) == 0 {
		return wait.Submission{}, invalidResult("/result", "a submission needs a result: null if there is nothing to say")
	}
	most := MaxResultBytes
	if called.Implementation == tool.Input {
		most += input.MaxDrawing // What is drawn is stored as a file.
	}
	if len(sub.Result) > most {
		return wait.Submission{}, invalidResult("/result", fmt.Sprintf("the result has more than %d bytes", most))
	}
	if called.Implementation == tool.Input && !sub.IsError {
		return s.answered(ctx, called, sub)
	}
	result, err := s.schemaResult(ctx, called, sub)
	return wait.Submission{Result: result}, err
}

// schemaResult reads a result, and checks it by the output schema of the version called.
func (s *Service) schemaResult(ctx context.Context, called *wait.Call, sub Submission) (*tool.Result, error) {
	result, err := wait.ReadResult(sub.Result)
	if err != nil {
		return nil, invalidResult("/result", tool.AsError(err).Msg)
	}
	if result.IsError = sub.IsError; result.IsError {
		return result, nil
	}
	version, err := s.cfg.Resolver.Version(ctx, sub.Principal.Tenant, called.ToolID, called.Digest)
	if err != nil {
		return nil, fmt.Errorf("loading %s: %w", called.VersionIdentity, err)
	}
	snapshot := &version.Snapshot
	if len(snapshot.OutputSchema) == 0 {
		return result, nil
	}
	output, err := s.schemas.Compile(snapshot.OutputSchema)
	if err != nil {
		return nil, fmt.Errorf("compiling the output schema of %s: %w", called.VersionIdentity, err)
	}
	if len(result.Structured) == 0 {
		return nil, invalidResult("/result",
			"the tool has an output schema: give the result as a JSON value, not as content blocks")
	}
	err = output.Validate(ctx, result.Structured)
	e, ok := err.(*tool.Error) //nolint:errorlint // A wrapped one is about the schema.
	switch {
	case err == nil:
		return result, nil
	case !ok || e.Kind != tool.Invalid:
		return nil, fmt.Errorf("checking the result: %w", err)
	case snapshot.WarnsOutput():
		result.Mismatch = "the result breaks the tool's output schema: " + e.Msg
		return result, nil
	default:
		return nil, invalidResult("/result"+e.Path, "the result breaks the tool's output schema: "+e.Msg)
	}
}

func invalidResult(path, msg string) error {
	return &tool.Error{Kind: tool.Invalid, Op: "runs.SubmitResult", Path: path, Msg: msg}
}

// deliverResult tells the workflow that waits that a call has its result, and reports whether
// it knows.
func (s *Service) deliverResult(ctx context.Context, c wait.Call) bool {
	err := s.resolve(ctx, c.WorkflowID, wire.Resolution{ID: c.ID, Round: 1, Status: wire.Answered})
	if err == nil || absent(err) || notWaiting(err) {
		err = s.cfg.Store.CallDelivered(ctx, c.Principal.Tenant, c.ID)
	} else {
		s.availability.report(err)
	}
	if err != nil {
		s.log.WarnContext(ctx, "delivering a result to its workflow failed; it is retried",
			slog.String("tenant_id", string(c.Principal.Tenant)), slog.String("run_id", c.RunID),
			slog.String("invocation_id", c.ID), slog.Any("error", err))
	}
	return err == nil
}
