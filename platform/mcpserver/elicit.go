package mcpserver

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib/internal/input"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/tool"
)

// Actions of an answer to an elicitation.
const (
	actionAccept  = "accept"
	actionDecline = "decline"
)

// takeBackGrace is how long the answer of a call waits for the library to tell the client that a question is
// taken back, which it does in a goroutine of its own: the answer ends the stream on which the client hears it.
const takeBackGrace = 50 * time.Millisecond

// maxTypedReason bounds the reason that a person types with a confirmation, in bytes.
const maxTypedReason = 2000

// reply is what came of asking a person by way of their client.
type reply struct {
	taken bool   // The answer was taken: the record tells what follows.
	note  string // Why it was not.
}

// asking is a question that is open at a client.
type asking struct {
	question *question
	link     string
	replies  chan reply
	stop     context.CancelFunc
}

// ended returns the channel of the reply; nil for no question.
func (a *asking) ended() <-chan reply {
	if a == nil {
		return nil
	}
	return a.replies
}

// cancel takes the question back, where there is one.
func (a *asking) cancel() {
	if a != nil {
		a.stop()
	}
}

// ask asks a question in a goroutine of its own, by answer, for the time that clients have.
func (s *Server) ask(ctx context.Context, q *question, link string, answer func(ctx context.Context) reply) *asking {
	a := &asking{question: q, link: link, replies: make(chan reply, 1)}
	ctx, a.stop = context.WithTimeout(ctx, s.cfg.ElicitWait)
	go func() {
		defer a.stop()
		a.replies <- answer(ctx)
	}()
	return a
}

// elicit asks the client of a session. A client that does not answer in time, or answers with what was not
// asked for, has not answered.
func (s *Server) elicit(ctx context.Context, c *Caller, w waiting, q *question) reply {
	answer, err := w.session.Elicit(ctx, q.params)
	switch {
	case ctx.Err() != nil:
		time.Sleep(takeBackGrace)
		return reply{note: "The client did not answer in time"}
	case err != nil:
		s.log.DebugContext(ctx, "a client did not answer a question", slog.String("run_id", w.call.RunID),
			slog.String("tenant_id", string(c.Principal.Tenant)))
		return reply{note: "The client gave no answer that fits the question"}
	}
	said := s.take(ctx, c, q, answer)
	if q.params.Mode == "url" && answer.Action == actionAccept && errors.Is(ctx.Err(), context.Canceled) {
		// The page was dealt with, which a client that shows it may want to know. One that has gone misses nothing.
		_ = w.session.NotifyElicitationComplete(context.WithoutCancel(ctx),
			&mcp.ElicitationCompleteParams{ElicitationID: q.params.ElicitationID})
	}
	return said
}

// take takes an answer of a person. It decides nothing by itself: the use cases of package runs do, for the
// key of the request, which is looked at again.
func (s *Server) take(ctx context.Context, c *Caller, q *question, answer *mcp.ElicitResult) reply {
	switch {
	case answer.Action == actionDecline:
		return reply{note: "The person at the client declined to answer"}
	case answer.Action != actionAccept:
		return reply{note: "The person at the client gave no answer"}
	}
	if q.params.Mode == "url" {
		<-ctx.Done() // The page takes the answer, and ends the question.
		return reply{note: "The page was not answered in time"}
	}
	if err := c.Check(ctx); err != nil {
		return reply{note: "The answer was not taken"}
	}
	// What a person has answered is recorded whole, also where the client goes.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTimeout)
	defer cancel()
	var err error
	operation := "submitResult"
	if q.hold.asked != nil {
		operation = "approve"
		err = s.confirm(ctx, c, q, answer.Content)
	} else {
		err = s.submit(ctx, c, q, answer.Content)
	}
	if err == nil {
		return reply{taken: true}
	}
	if c.Refused != nil {
		err = c.Refused(ctx, operation, q.hold.invocation, err)
	}
	s.report(ctx, c, methodCallTool, err)
	e, own := errors.AsType[*tool.Error](err)
	if !own || e.Kind == tool.InternalError {
		return reply{note: "The answer could not be recorded"}
	}
	return reply{note: "The answer was not taken: " + words(e)}
}

// confirm decides the caller's own call by the form of a confirmation.
func (s *Server) confirm(ctx context.Context, c *Caller, q *question, content map[string]any) error {
	yes, ok := content[confirmMember].(bool)
	reason, typed := content[reasonMember].(string)
	if _, given := content[reasonMember]; !ok || given && !typed || len(reason) > maxTypedReason {
		return &tool.Error{
			Kind: tool.Invalid, Op: "mcpserver.confirm",
			Msg: "expected confirm as true or false, and a reason of at most 500 letters",
		}
	}
	decided, err := s.cfg.Runs.Decide(ctx, runs.Decision{
		Principal: c.Principal, ID: q.hold.asked.ApprovalID, Approve: yes, Reason: reason, Seen: q.seen,
	})
	if err == nil && !decided.Status.Final() {
		return &tool.Error{
			Kind: tool.Conflict, Op: "mcpserver.confirm",
			Msg: "the confirmation counts, and others have to approve the call too",
		}
	}
	return err //nolint:wrapcheck // Its words are the client's.
}

// submit answers a request for input by its form.
func (s *Server) submit(ctx context.Context, c *Caller, q *question, content map[string]any) error {
	result, err := input.Result(q.hold.input.PendingID, content)
	if err != nil {
		return fmt.Errorf("writing an answer: %w", err)
	}
	_, err = s.cfg.Runs.SubmitResult(ctx, runs.Submission{
		Principal: c.Principal, ID: q.hold.input.PendingID, Result: result,
	})
	return err //nolint:wrapcheck // Its words are the client's.
}

// requestState is what a client of a revision without sessions hands back with its answers. It gives no
// rights: the key of the request could name the call by its id, and decides by the same rules elsewhere.
type requestState struct {
	Call     string `json:"call,omitempty"` // The id of a call that its client did not name.
	Name     string `json:"name,omitempty"` // The id that the client gave the call; one of the two is set.
	Question string `json:"question"`       // The key of the question that was asked.
	Seen     string `json:"seen,omitempty"` // The binding of what was shown.
}

// stateCallPattern is what calls are named that their clients did not name.
var stateCallPattern = regexp.MustCompile(`^[A-Z2-7]{26}$`)

func (st requestState) String() string {
	raw, _ := json.Marshal(st) // Strings: it cannot fail.
	return base64.RawURLEncoding.EncodeToString(raw)
}

// stateOf reads the state that a request hands back; nil for none.
func stateOf(req *mcp.CallToolRequest) (*requestState, error) {
	if req.Params.RequestState == "" {
		return nil, nil
	}
	var st requestState
	raw, err := base64.RawURLEncoding.DecodeString(req.Params.RequestState)
	if err != nil || json.Unmarshal(raw, &st) != nil || !st.names() {
		return nil, &tool.Error{
			Kind: tool.Invalid, Op: "mcpserver.callTool", Path: "/requestState",
			Msg: "expected the requestState of the answer that asked for input, unchanged",
		}
	}
	return &st, nil
}

// names reports whether a state names a call in one way. Earlier versions did not name a call by its client's
// id, which its request has to have then.
func (st *requestState) names() bool {
	switch {
	case st.Call != "":
		return st.Name == "" && stateCallPattern.MatchString(st.Call)
	case st.Name != "":
		return callIDPattern.MatchString(st.Name)
	}
	return true
}

// resumes takes the id of its call from a state. It fails where the request is one of another call: that would be
// made beside the one that waits, and the answer to its question would be lost.
func (w *waiting) resumes(st *requestState) error {
	w.state = st
	switch {
	case st == nil:
		return nil
	case w.callID == "":
		w.callID = st.Name // The client left its id out, as it may.
		if st.Name != "" || st.Call != "" {
			return nil
		}
	case st.Call == "" && (st.Name == "" || st.Name == w.callID):
		return nil
	}
	return &tool.Error{
		Kind: tool.Invalid, Op: "mcpserver.callTool", Path: "/requestState",
		Msg: "expected the requestState of the same call: its " + metaCallID + " is another",
	}
}

// given returns the answer of a request to a question; nil where it has none, or one to another question.
func (w *waiting) given(q *question) *mcp.ElicitResult {
	if w.state == nil || w.state.Question != q.key || w.state.Seen != q.seen {
		return nil
	}
	answer, _ := w.responses[q.key].(*mcp.ElicitResult)
	return answer
}

// inputRequired is the answer that asks a client of a revision without sessions for its person's answer. The
// library writes it for tools of its own alone.
type inputRequired struct {
	*mcp.CallToolResult
}

// required returns the answer that asks a question.
func (q *question) required(w waiting) inputRequired {
	state := requestState{Call: w.unnamed, Name: w.callID, Question: q.key, Seen: q.seen}
	return inputRequired{&mcp.CallToolResult{
		Meta: mcp.Meta{metaRunID: w.call.RunID}, RequestState: state.String(),
		InputRequests: mcp.InputRequestMap{q.key: q.params},
	}}
}

// MarshalJSON implements [json.Marshaler].
func (r inputRequired) MarshalJSON() ([]byte, error) {
	raw, err := json.Marshal(struct {
		Meta          mcp.Meta            `json:"_meta,omitempty"` //nolint:tagliatelle // The protocol's name.
		ResultType    string              `json:"resultType"`      //nolint:tagliatelle // The protocol's name.
		InputRequests mcp.InputRequestMap `json:"inputRequests"`   //nolint:tagliatelle // The protocol's name.
		RequestState  string              `json:"requestState"`    //nolint:tagliatelle // The protocol's name.
	}{r.Meta, "input_required", r.InputRequests, r.RequestState})
	if err != nil {
		return nil, fmt.Errorf("writing a question: %w", err)
	}
	return raw, nil
}
