package mcpcall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// peer is between the SDK and its transport, and parses every message first.
// Untrusted messages stop here: the SDK receives answers of a known shape, and
// the raw ones are kept for the caller.
type peer struct {
	transport mcp.Transport
	inner     mcp.Connection
	resumed   bool                       // Whether known has the handshake.
	known     map[string]json.RawMessage // Cached answers, by method.
	grace     time.Duration              // After which server/discover is unsupported; zero for never.

	ctx     context.Context //nolint:containedctx // The connection's.
	cancel  context.CancelFunc
	local   chan jsonrpc.Message // From known.
	arrived chan arrival
	replies sync.WaitGroup

	mu       sync.Mutex
	pending  map[jsonrpc.ID]string
	answers  map[string]answer // The last one of each method.
	written  map[string]bool
	notices  int
	requests int
	stale    bool            // The server has notified a change of its tools.
	watch    context.Context //nolint:containedctx // Of the current call, for its progress.
	fault    *tool.Error
	broke    bool // Reading has failed.
}

// answer is what a server answered to a request.
type answer struct {
	result json.RawMessage
	err    error // A *jsonrpc.Error, or why there is no answer.
}

type arrival struct {
	msg jsonrpc.Message
	err error
}

// progressToken is the token of the current call of a connection.
const progressToken = "call"

// newPeer returns a peer. ctx bounds only the start of its connection, which
// outlives it. If known has the handshake, it is skipped.
func newPeer(ctx context.Context, t mcp.Transport, known map[string]json.RawMessage) *peer {
	p := &peer{
		transport: t, resumed: len(known) > 0, known: make(map[string]json.RawMessage),
		local: make(chan jsonrpc.Message, 4), arrived: make(chan arrival),
		pending: make(map[jsonrpc.ID]string), answers: make(map[string]answer), written: make(map[string]bool),
	}
	maps.Copy(p.known, known)
	p.ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return p
}

// Connect implements [mcp.Transport].
func (p *peer) Connect(ctx context.Context) (mcp.Connection, error) {
	stop := context.AfterFunc(ctx, p.cancel)
	defer stop()
	inner, err := p.transport.Connect(p.ctx) //nolint:contextcheck // It outlives ctx.
	if err != nil {
		return nil, err
	}
	p.inner = inner
	go p.pump()
	return p, nil
}

// pump forwards messages until the connection ends.
func (p *peer) pump() {
	for {
		msg, err := p.inner.Read(p.ctx)
		if err != nil {
			p.mu.Lock()
			p.broke = true
			p.mu.Unlock()
		}
		select {
		case p.arrived <- arrival{msg, err}:
		case <-p.ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// SessionID implements [mcp.Connection]: it hides the session from the SDK.
func (p *peer) SessionID() string { return "" }

// Close implements [mcp.Connection].
func (p *peer) Close() error {
	p.cancel()
	if p.inner == nil {
		return nil
	}
	err := p.inner.Close()
	p.replies.Wait()
	return err
}

// Write implements [mcp.Connection].
func (p *peer) Write(ctx context.Context, msg jsonrpc.Message) error {
	req, ok := msg.(*jsonrpc.Request)
	if !ok {
		return p.inner.Write(ctx, msg)
	}
	p.mu.Lock()
	result, known := p.known[req.Method]
	switch {
	case req.IsCall() && known:
	case req.Method == methodInitialized && p.resumed:
	case req.Method == methodCancelled: // See [peer.cancelCall].
	default:
		if req.IsCall() {
			p.pending[req.ID] = req.Method
		}
		if req.Method == methodDiscover && p.grace > 0 {
			time.AfterFunc(p.grace, func() { p.giveUp(req.ID) })
		}
		p.written[req.Method] = true
		p.mu.Unlock()
		return p.inner.Write(ctx, msg)
	}
	p.mu.Unlock()
	if req.IsCall() {
		p.local <- &jsonrpc.Response{ID: req.ID, Result: result}
	}
	return nil
}

// giveUp returns an error to the SDK for a request that the server ignores.
func (p *peer) giveUp(id jsonrpc.ID) {
	p.mu.Lock()
	_, waits := p.pending[id]
	delete(p.pending, id)
	p.mu.Unlock()
	if !waits {
		return
	}
	select {
	case p.local <- &jsonrpc.Response{
		ID: id, Error: &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "no answer"},
	}:
	case <-p.ctx.Done():
	}
}

// Read implements [mcp.Connection].
func (p *peer) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		select {
		case msg := <-p.local:
			return msg, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-p.ctx.Done():
			return nil, io.EOF
		case a := <-p.arrived:
			if a.err != nil {
				return nil, a.err
			}
			msg, err := p.take(a.msg) //nolint:contextcheck // Replies to the server end with the connection.
			if msg != nil || err != nil {
				return msg, err
			}
		}
	}
}

// take handles a message, and returns what to pass on to the SDK; nil for nothing.
func (p *peer) take(msg jsonrpc.Message) (jsonrpc.Message, error) {
	switch msg := msg.(type) {
	case *jsonrpc.Response:
		return p.answered(msg), nil
	case *jsonrpc.Request:
		if msg.IsCall() {
			return p.asked(msg)
		}
		return nil, p.noticed(msg)
	default:
		return nil, nil
	}
}

// answered keeps an expected answer, and drops any other.
func (p *peer) answered(r *jsonrpc.Response) jsonrpc.Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	method, ok := p.pending[r.ID]
	if !ok {
		return nil
	}
	delete(p.pending, r.ID)
	p.answers[method] = answer{result: r.Result, err: r.Error}
	if r.Error != nil {
		return &jsonrpc.Response{ID: r.ID, Error: plainError(r.Error)}
	}
	shape, err := shapeOf(method, r.Result)
	if err != nil {
		return &jsonrpc.Response{
			ID: r.ID, Error: &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "malformed answer"},
		}
	}
	return &jsonrpc.Response{ID: r.ID, Result: shape}
}

// plainError returns an error for the SDK: without untrusted text, but with the
// protocol versions that a server supports.
func plainError(err error) error {
	e, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok {
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "no answer"}
	}
	out := &jsonrpc.Error{Code: e.Code, Message: "refused"}
	if e.Code == mcp.CodeUnsupportedProtocolVersion {
		out.Data = e.Data
	}
	return out
}

// shapeOf returns the answer passed on to the SDK instead of the server's.
func shapeOf(method string, raw json.RawMessage) (json.RawMessage, error) {
	switch method {
	case methodCall:
		return json.RawMessage(`{"content":[]}`), nil
	case methodList:
		return json.RawMessage(`{"tools":[]}`), nil
	case methodRead:
		return json.RawMessage(`{"contents":[]}`), nil
	case methodInitialize, methodDiscover:
		h, err := readHandshake(method, raw)
		if err != nil {
			return nil, err
		}
		return h.shape()
	default:
		return json.RawMessage(`{}`), nil
	}
}

// asked refuses a server's requests, except for pings.
func (p *peer) asked(r *jsonrpc.Request) (jsonrpc.Message, error) {
	p.mu.Lock()
	p.requests++
	tooMany := p.requests > maxServerRequests
	p.mu.Unlock()
	if tooMany {
		return nil, p.broken(fmt.Sprintf("the server made more than %d requests of its own", maxServerRequests))
	}
	reply := &jsonrpc.Response{ID: r.ID, Result: json.RawMessage(`{}`)}
	if r.Method != "ping" {
		reply = &jsonrpc.Response{
			ID: r.ID, Error: &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "this client offers nothing to servers"},
		}
	}
	p.replies.Go(func() {
		ctx, cancel := context.WithTimeout(p.ctx, closeTimeout)
		defer cancel()
		_ = p.inner.Write(ctx, reply) // Best effort.
	})
	return nil, nil
}

// noticed handles a notification.
func (p *peer) noticed(r *jsonrpc.Request) error {
	p.mu.Lock()
	p.notices++
	tooMany := p.notices > maxNotifications
	watch := p.watch
	if r.Method == "notifications/tools/list_changed" {
		p.stale = true
	}
	p.mu.Unlock()
	if tooMany {
		return p.broken(fmt.Sprintf("the server sent more than %d notifications", maxNotifications))
	}
	if watch == nil {
		return nil
	}
	switch r.Method {
	case "notifications/progress":
		tellProgress(watch, r.Params)
	case "notifications/message":
		tellMessage(watch, r.Params)
	}
	return nil
}

// broken ends the connection because of a violation by the server.
func (p *peer) broken(msg string) error {
	e := &tool.Error{Kind: tool.Unavailable, Op: "mcpcall", Msg: msg}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = e
	return e
}

// during reports progress to the call of ctx until the returned function is called.
func (p *peer) during(ctx context.Context) func() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watch = ctx
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.watch = nil
	}
}

// seen is the state of the last request of a method.
type seen struct {
	answer   answer
	answered bool
	written  bool
	stale    bool
	fault    *tool.Error
	broke    bool
}

func (p *peer) of(method string) seen {
	p.mu.Lock()
	defer p.mu.Unlock()
	a, ok := p.answers[method]
	return seen{answer: a, answered: ok, written: p.written[method], stale: p.stale, fault: p.fault, broke: p.broke}
}

// cancelCall notifies the server that the call was cancelled.
func (p *peer) cancelCall(ctx context.Context) {
	p.mu.Lock()
	var id jsonrpc.ID
	for pending, method := range p.pending {
		if method == methodCall {
			id = pending
		}
	}
	p.mu.Unlock()
	if !id.IsValid() {
		return
	}
	params, err := json.Marshal(map[string]any{"requestId": id.Raw(), "reason": "the call was stopped"})
	if err != nil {
		return
	}
	_ = p.inner.Write(ctx, &jsonrpc.Request{Method: methodCancelled, Params: params}) // Best effort.
}

// forget resets the state of a method before its next request.
func (p *peer) forget(method string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.answers, method)
	delete(p.written, method)
	p.notices, p.requests = 0, 0
}

// learn caches an answer for the SDK.
func (p *peer) learn(method string, result json.RawMessage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil {
		p.known = make(map[string]json.RawMessage)
	}
	p.known[method] = result
}

// unlearn removes a cached answer.
func (p *peer) unlearn(method string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.known, method)
}

func tellProgress(ctx context.Context, raw json.RawMessage) {
	var n struct {
		Token   any     `json:"progressToken"` //nolint:tagliatelle // The protocol's name.
		Done    float64 `json:"progress"`
		Total   float64 `json:"total"`
		Message string  `json:"message"`
	}
	if json.Unmarshal(raw, &n) == nil && n.Token == progressToken {
		tool.ReportProgress(ctx, tool.Progress{
			Message: redact(secret.RedactorFrom(ctx), n.Message, maxTitleBytes), Done: n.Done, Total: n.Total,
		})
	}
}

func tellMessage(ctx context.Context, raw json.RawMessage) {
	var n struct {
		Data any `json:"data"`
	}
	if json.Unmarshal(raw, &n) != nil {
		return
	}
	if text, ok := n.Data.(string); ok && text != "" {
		tool.AppendOutput(ctx, redact(secret.RedactorFrom(ctx), text, maxDescriptionBytes)+"\n")
	}
}
