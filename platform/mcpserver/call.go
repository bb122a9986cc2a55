package mcpserver

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// Members of _meta, in requests and answers.
const (
	metaCallID  = "toolcrib/call-id" // Of a request: its id, which makes the call once.
	metaRunID   = "toolcrib/run-id"  // Of an answer: the run of the call.
	metaKind    = "toolcrib/kind"    // Of an answer: why there is no result, as a [tool.Kind].
	metaVersion = "toolcrib/version" // Of a tool: the version that a call runs.
	// metaApproval and metaInput are, of an answer, the id of the approval, or of the request for input, that
	// the call waits for.
	metaApproval = "toolcrib/approval-id"
	metaInput    = "toolcrib/input-id"
	// metaRejoin is true in the answer to a named call that the server stopped waiting for: sending the call
	// again, to another server or a little later, waits for it.
	metaRejoin = "toolcrib/rejoin"
	// metaGoesOn is true in the answer to a call that has not ended.
	metaGoesOn = "toolcrib/goes-on"
)

var callIDPattern = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,128}$`)

// cancelTimeout bounds a request to cancel a run whose client has gone.
const cancelTimeout = 10 * time.Second

// callTool makes a call, or joins the one that was made under its id, and waits for its end. What keeps
// a call from answering is an answer that a model can act on; only a tool that the caller does not have
// is an error of the protocol.
func (s *Server) callTool(
	ctx context.Context, of *session, c *Caller, req *mcp.CallToolRequest,
) (mcp.Result, error) {
	w, refusal, err := s.begin(ctx, of, c, req)
	switch {
	case err != nil:
		return nil, err
	case refusal != nil:
		return refusal, nil
	}
	return s.await(ctx, of, c, w), nil
}

// begin makes a call, or joins the one that was made under its id. It returns an answer where the call was refused.
func (s *Server) begin(
	ctx context.Context, of *session, c *Caller, req *mcp.CallToolRequest,
) (w waiting, refusal *mcp.CallToolResult, err error) {
	if err := may(c, s.cfg.CallPermission); err != nil {
		return w, nil, c.refusal(ctx, req.Params.Name, err)
	}
	callID, err := callIDOf(req)
	if err != nil {
		return w, nil, err
	}
	w = waiting{
		callID: callID, token: req.Params.GetProgressToken(), session: req.Session, alone: of == nil,
		modes: modesOf(req), revision: req.ProtocolVersion(), responses: req.Params.InputResponses, tasks: hasTasks(req),
	}
	state, err := stateOf(req)
	if err == nil {
		err = w.resumes(state)
	}
	if err != nil {
		return w, nil, err
	}
	w.called, err = s.finds(ctx, c, req.Params.Name)
	if err != nil {
		return w, nil, err
	}
	if w.failed != nil {
		s.report(ctx, c, methodCallTool, w.failed)
		return w, refused(w.failed, ""), nil //nolint:nilerr // The refusal is the answer.
	}
	c.out.begin()
	asked := runs.NewCall{
		Request: runs.Request{TraceID: c.TraceID}, Principal: c.Principal,
		Node: wire.Node{Tool: w.ref, Arguments: req.Params.Arguments, ID: w.nodeID(c)},
	}
	if len(asked.Node.Arguments) == 0 {
		asked.Node.Arguments = []byte("{}")
	}
	if w.token != nil {
		asked.FollowFor = s.cfg.CallWait
	}
	if w.call, err = s.cfg.Runs.Call(ctx, asked); err != nil {
		err = c.refusal(ctx, req.Params.Name, err)
		s.report(ctx, c, methodCallTool, err)
		return w, refused(err, ""), nil
	}
	return w, nil, nil
}

// refusal records that a call was denied, and returns the failure to answer with: err, unless the record
// could not be written.
func (c *Caller) refusal(ctx context.Context, name string, err error) error {
	if c.Refused == nil {
		return err
	}
	return c.Refused(ctx, "callTool", name, err)
}

// called is what the answer of a tool depends on.
type called struct {
	typed  bool // It has an output schema.
	nests  bool // Its calls may start runs of their own.
	inline int  // The largest answer that is given whole, in bytes of text and JSON.
	ref    tool.Ref
	failed error // Why it cannot be called now; nil where it can.
}

// finds finds a tool. It fails with an error of the protocol for one that the caller does not have.
func (s *Server) finds(ctx context.Context, c *Caller, name string) (called, error) {
	none := called{inline: tool.MaxInlineResult, ref: tool.Ref{Slug: name}}
	unknown := &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("unknown tool %q", clip(name))}
	if !tool.ValidSlug(name) {
		return none, unknown
	}
	asked := resolver.Request{
		Principal: c.Principal, Ref: none.ref, Mode: tool.Production, Outside: true, Within: c.within(),
	}
	found, err := s.cfg.Tools.Resolve(ctx, asked)
	switch {
	case err == nil && !offered(&found.Tool):
		return none, unknown
	case tool.KindOf(err) == tool.NotFound:
		return none, unknown
	case tool.KindOf(err) == tool.Denied: // What the caller may not use is absent, as in the list.
		if failed := c.refusal(ctx, name, err); tool.KindOf(failed) != tool.Denied {
			return none, failed
		}
		return none, unknown
	case tool.KindOf(err) == tool.Conflict: // Why a tool may not run now is an answer of the call.
		why, failed := s.cfg.Tools.Explain(ctx, asked)
		if failed != nil {
			return none, failed //nolint:wrapcheck // Its words are the client's.
		}
		if why.Tool == nil || !offered(why.Tool) {
			return none, unknown
		}
		none.failed = err
		return none, nil
	case err != nil:
		return none, err //nolint:wrapcheck // Its words are the client's.
	}
	d := &found.Version.Snapshot
	out := none
	out.typed, out.inline = len(d.OutputSchema) > 0, cmp.Or(d.Execution.InlineBytes, none.inline)
	out.nests = nests(d.ImplementationType())
	if c.Offer != nil { // By id: the name may be another tool's by the time that the call is made.
		out.ref = tool.Ref{ID: found.Tool.ID, Constraint: c.Offer.Tools[found.Tool.ID]}
	}
	return out, nil
}

// clip shortens a name that a client made up.
func clip(name string) string {
	const most = 64
	if len(name) > most {
		from, to := tool.CutText(name, 0, most)
		return name[from:to] + "…"
	}
	return name
}

// callIDOf returns the id that the client gave its call; empty for none.
func callIDOf(req *mcp.CallToolRequest) (string, error) {
	given, has := req.Params.GetMeta()[metaCallID]
	if !has || given == nil {
		return "", nil
	}
	id, ok := given.(string)
	if !ok || !callIDPattern.MatchString(id) {
		return "", &tool.Error{
			Kind: tool.Invalid, Op: "mcpserver.callTool", Path: "/_meta/" + metaCallID,
			Msg: "expected 1 to 128 letters, digits, dots, underscores, colons or hyphens",
		}
	}
	return id, nil
}

// ownID returns the id of a call that a client named. Ids of different keys are different: the answer to
// one is not given to another.
func ownID(subject, id string) string {
	sum := sha256.Sum256([]byte(subject + "\n" + id))
	return "mcp-" + hex.EncodeToString(sum[:16])
}

// waiting is a call that is waited for.
type waiting struct {
	call    runs.Call
	callID  string // The client's own; empty for none.
	token   any    // Of progress notifications; nil for none.
	called         // Its tool.
	session *mcp.ServerSession

	alone    bool          // The request stands alone: its client is asked by an answer.
	patient  bool          // The end is waited for, also while a person has to decide elsewhere.
	tasks    bool          // The client takes a task for an answer.
	within   time.Duration // How long it is waited for; zero for the server's own time.
	modes    modes
	revision string
	// unnamed is the id of a call that its client did not name, which lets its next request join it.
	unnamed   string
	state     *requestState // That the request handed back; nil for none.
	responses mcp.InputResponseMap
}

// nodeID returns the id that makes a call once; empty for none. A call that may have to ask its client by an
// answer is named, so that the next request joins it.
func (w *waiting) nodeID(c *Caller) string {
	switch {
	case w.callID != "":
		return ownID(c.Principal.Subject, w.callID)
	case w.state != nil && w.state.Call != "":
		w.unnamed = w.state.Call
	case w.alone && (w.modes.form || w.modes.url):
		w.unnamed = rand.Text()
	default:
		return ""
	}
	return ownID(c.Principal.Subject, "unnamed "+w.unnamed)
}

// ended is how a call ended, as [runs.Service.Wait] tells it.
type ended struct {
	result *tool.Result
	over   bool
	err    error
}

// await waits for the end of a call, and for what keeps it from ending soon. While it waits for the person
// at the client, they are asked there.
func (s *Server) await(ctx context.Context, of *session, c *Caller, w waiting) mcp.Result {
	following, stop := context.WithCancel(ctx)
	defer stop()
	done, held := make(chan ended, 1), make(chan *hold)
	go func() {
		result, over, err := s.cfg.Runs.Wait(following, w.call, cmp.Or(w.within, s.cfg.CallWait), s.cfg.Wakes)
		done <- ended{result, over, err}
	}()
	go s.follow(following, c, w, held)
	var closing, gone <-chan struct{}
	if of != nil {
		closing, gone = of.closing, c.gone
	}
	var unread, late <-chan time.Time
	if w.tasks {
		timer := time.NewTimer(s.cfg.TaskAfter)
		defer timer.Stop()
		late = timer.C
	}
	var open *asking
	for {
		select {
		case end := <-done:
			switch {
			case ctx.Err() != nil && !end.over:
				return s.abandon(ctx, of, c, w)
			case !end.over && end.err == nil && open != nil && !w.patient:
				return open.question.hold.answer(w, "", open.link)
			}
			return s.finished(ctx, c, w, end)
		case h := <-held:
			open.cancel()
			if open = nil; h == nil {
				continue
			}
			if w.tasks && w.state == nil { // The task says what it asks.
				return s.created(ctx, c, w)
			}
			var answer mcp.Result
			if open, answer = s.heldUp(following, c, w, h); answer != nil && !w.patient {
				return answer
			}
		case r := <-open.ended():
			if !r.taken && !w.patient {
				return open.question.hold.answer(w, r.note, open.link)
			}
			open = nil
		case <-gone: // Its client may cancel the call by another request; its answer is not read.
			gone, unread = nil, time.After(goneGrace)
		case <-unread:
			return goesOn(w, "the connection ended while the call was running")
		case <-closing:
			return goesOn(w, "the session ended while the call was running")
		case <-late:
			return s.created(ctx, c, w)
		case <-s.cfg.Stopping(ctx):
			if w.tasks {
				return s.created(ctx, c, w)
			}
			out := goesOn(w, "the server stops for a restart while the call is running")
			if w.callID != "" {
				out.Meta[metaRejoin] = true
			}
			return out
		case <-ctx.Done():
			return s.abandon(ctx, of, c, w)
		}
	}
}

// heldUp asks the person at the client what a call waits for. It returns the answer of the call where they
// cannot be asked, or are asked by that answer.
func (s *Server) heldUp(ctx context.Context, c *Caller, w waiting, h *hold) (*asking, mcp.Result) {
	q, link, err := s.question(ctx, c, w, h)
	if err != nil {
		s.report(ctx, c, methodCallTool, err)
	}
	switch {
	case q == nil:
		return nil, h.answer(w, "", link)
	case !w.alone:
		return s.ask(ctx, q, link, func(ctx context.Context) reply { return s.elicit(ctx, c, w, q) }), nil
	}
	if given := w.given(q); given != nil {
		return s.ask(ctx, q, link, func(ctx context.Context) reply { return s.take(ctx, c, q, given) }), nil
	}
	return nil, q.required(w)
}

// goneGrace is how long a call of a session is waited for after its request ended.
const goneGrace = 5 * time.Second

// abandon cancels a call that its client gave up, and returns an answer that is not read. A session that
// ended gave up nothing, nor does a request that stands alone and named its call: its client comes back.
func (s *Server) abandon(ctx context.Context, of *session, c *Caller, w waiting) *mcp.CallToolResult {
	ending := s.cfg.Stopping(ctx)
	if of != nil {
		ending = of.closing
	}
	select {
	case <-ending:
		return goesOn(w, "the connection ended while the call was running")
	default:
	}
	if of == nil && (w.callID != "" || w.state != nil) || w.patient {
		return goesOn(w, "the connection ended while the call was running")
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTimeout)
	defer cancel()
	_, err := s.cfg.Runs.Cancel(ctx, c.Principal.Tenant, w.call.RunID)
	if err != nil && tool.KindOf(err) != tool.Conflict { // It may have ended.
		s.log.WarnContext(ctx, "cancelling the run of a call failed", slog.String("tenant_id", string(c.Principal.Tenant)),
			slog.String("run_id", w.call.RunID), slog.String("trace_id", c.TraceID), slog.Any("error", err))
	}
	return refused(&tool.Error{Kind: tool.Cancelled, Msg: "the call was cancelled"}, w.call.RunID)
}

// finished returns the answer of a call that has ended, or is not waited for any longer.
func (s *Server) finished(ctx context.Context, c *Caller, w waiting, end ended) *mcp.CallToolResult {
	switch {
	case end.err != nil:
		s.report(ctx, c, methodCallTool, end.err)
		return refused(end.err, w.call.RunID)
	case !end.over:
		return goesOn(w, "the call has not ended yet")
	}
	if end.result == nil {
		return refused(&tool.Error{Kind: tool.InternalError}, w.call.RunID)
	}
	if !referred(end.result) {
		return answered(end.result, w)
	}
	whole, err := s.cfg.Record.FindCallEnd(ctx, c.Principal.Tenant, w.call.RunID)
	if err == nil && whole.Result != nil {
		end.result = whole.Result
	}
	return answered(end.result, w)
}

// referred reports whether a result only refers to all of it: it was too large for a history.
func referred(r *tool.Result) bool {
	return slices.ContainsFunc(r.Content, func(c tool.Content) bool {
		return c.Type == tool.ContentResource && strings.HasPrefix(c.URI, tool.ResultURI(""))
	})
}

// goesOn answers for a call that is still running.
func goesOn(w waiting, why string) *mcp.CallToolResult {
	text := why + "; it goes on as run " + w.call.RunID + ". "
	if w.callID != "" {
		text += "The same call with the same " + metaCallID + " waits for it again, and is not made twice. "
	}
	text += "Its result can be read at " + runURI(w.call.RunID) + ". Do not make the call anew."
	out := failed(text, tool.Timeout, w.call.RunID)
	out.Meta[metaGoesOn] = true
	return out
}

// refused answers for a call without a result.
func refused(err error, runID string) *mcp.CallToolResult {
	e := tool.AsError(err)
	if _, own := errors.AsType[*tool.Error](err); !own {
		e = &tool.Error{Kind: tool.InternalError}
	}
	return failed(words(e), e.Kind, runID)
}

// failed is an answer that says no.
func failed(text string, kind tool.Kind, runID string) *mcp.CallToolResult {
	out := &mcp.CallToolResult{
		IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: text}}, Meta: mcp.Meta{metaKind: string(kind)},
	}
	if runID != "" {
		out.Meta[metaRunID] = runID
	}
	return out
}
