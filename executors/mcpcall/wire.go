package mcpcall

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// Headers of the protocol.
const (
	sessionHeader     = "Mcp-Session-Id"
	protocolHeader    = "Mcp-Protocol-Version"
	idempotencyHeader = "Idempotency-Key"
)

// Methods that wire and peer handle specially.
const (
	methodInitialize  = "initialize"
	methodInitialized = "notifications/initialized"
	methodDiscover    = "server/discover"
	methodList        = "tools/list"
	methodCall        = "tools/call"
	methodRead        = "resources/read"
	methodCancelled   = "notifications/cancelled"
)

// wire sends the HTTP requests of one connection through the egress guard. It
// manages the session: the SDK above it never sees the session's id, so its errors
// cannot quote it.
type wire struct {
	gate       *egress.Gate
	access     egress.Access
	url        *url.URL
	header     http.Header
	effectID   string
	repeatable bool  // Whether the call may be written twice by the transport.
	limit      int64 // Of an answer to tools/call.

	mu        sync.Mutex
	session   string
	protocol  string // Once negotiated, of a server with sessions.
	exchanges map[string]*exchange
}

// exchange is the state of the last request of a method.
type exchange struct {
	status     int
	retryAfter time.Duration
	failed     *tool.Error    // Why there was no complete answer.
	overflow   int64          // The limit that the answer exceeded; zero for none.
	endless    bool           // Its end was not found either.
	lost       bool           // The server no longer knows the session.
	refusal    *jsonrpc.Error // The JSON-RPC error of a failure status.
}

// RoundTrip implements [http.RoundTripper].
func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := readBody(req)
	if err != nil {
		return nil, err
	}
	method := methodOf(req, body)
	at := &exchange{}
	w.mu.Lock()
	w.exchanges[method] = at
	w.mu.Unlock()
	resp, err := w.send(req, method, body)
	if err != nil {
		w.note(func() { at.failed = tool.AsError(err) })
		return nil, err
	}
	w.mu.Lock()
	at.status, at.retryAfter = resp.StatusCode, egress.RetryAfter(resp.Header, time.Now())
	at.lost = w.session != "" && method != methodInitialize &&
		(resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusBadRequest)
	w.mu.Unlock()
	if err := w.begin(method, resp); err != nil {
		_ = resp.Body.Close()
		w.note(func() { at.failed = tool.AsError(err) })
		return nil, err
	}
	resp.Header.Del(sessionHeader)
	w.read(at, resp)
	resp.Body = &bounded{
		ReadCloser: resp.Body, wire: w, at: at, limit: w.limitOf(method), left: w.limitOf(method),
		streamed: strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream"),
	}
	return resp, nil
}

// read parses the JSON-RPC error of a failure status, and restores the body.
func (w *wire) read(at *exchange, resp *http.Response) {
	if resp.StatusCode < http.StatusBadRequest {
		return
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxRefusalBytes))
	_ = resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(raw))
	var m struct {
		Error *jsonrpc.Error `json:"error"`
	}
	if err == nil && json.Unmarshal(raw, &m) == nil && m.Error != nil {
		w.note(func() { at.refusal = m.Error })
	}
}

// send sends a request through the gate.
func (w *wire) send(req *http.Request, method string, body []byte) (*http.Response, error) {
	if req.URL.Scheme != w.url.Scheme || req.URL.Host != w.url.Host {
		return nil, &tool.Error{
			Kind: tool.Denied, Op: "mcpcall",
			Msg: "the server names an endpoint at another origin than its own, which is not followed",
		}
	}
	header := req.Header.Clone()
	maps.Copy(header, w.header)
	w.mu.Lock()
	if w.session != "" && method != methodInitialize && method != methodDiscover {
		header.Set(sessionHeader, w.session)
	}
	if w.protocol != "" && header.Get(protocolHeader) == "" && method != methodInitialize {
		header.Set(protocolHeader, w.protocol)
	}
	w.mu.Unlock()
	if method == methodCall && w.effectID != "" {
		header.Set(idempotencyHeader, w.effectID)
	}
	// The egress class of a call is checked by its message: the protocol uses POST
	// for everything, reading included.
	return w.gate.Stream(req.Context(), w.access.Handshake(w.access.Credential),
		&egress.Request{
			Method: req.Method, URL: req.URL.String(), Header: header, Body: body,
			Repeatable: method != methodCall || w.repeatable,
		})
}

// begin stores the id of a new session.
func (w *wire) begin(method string, resp *http.Response) error {
	id := resp.Header.Get(sessionHeader)
	if method != methodInitialize || id == "" || resp.StatusCode >= http.StatusMultipleChoices {
		return nil
	}
	if len(id) > maxSessionIDBytes || strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return &tool.Error{
			Kind: tool.Unavailable, Op: "mcpcall", Sent: true, Answered: true,
			Msg: fmt.Sprintf(
				"the server starts a session with an invalid id: want at most %d visible ASCII characters",
				maxSessionIDBytes,
			),
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.session = id
	return nil
}

// end ends the server's session, and ignores the answer.
func (w *wire) end(ctx context.Context) {
	w.mu.Lock()
	known := w.session != ""
	w.mu.Unlock()
	if !known {
		return
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, w.url.String(), nil)
	if err != nil {
		return
	}
	if resp, err := w.send(req, http.MethodDelete, nil); err == nil {
		_ = resp.Body.Close()
	}
}

// of returns the state of the last request of a method.
func (w *wire) of(method string) exchange {
	w.mu.Lock()
	defer w.mu.Unlock()
	if at := w.exchanges[method]; at != nil {
		return *at
	}
	return exchange{}
}

func (w *wire) note(write func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	write()
}

// resume sets the session.
func (w *wire) resume(s *Session) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.session, w.protocol = s.ID.Reveal(), s.Protocol
}

// negotiated sets the protocol version of all further requests.
func (w *wire) negotiated(version string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.protocol = version
}

// sessionID returns the session's id, if there is one.
func (w *wire) sessionID() secret.Value {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.session == "" {
		return secret.Value{}
	}
	return secret.NewValue(w.session)
}

func (w *wire) limitOf(method string) int64 {
	const notices = 256 << 10 // For notifications with an answer.
	switch method {
	case methodCall, methodRead:
		return w.limit + notices
	case http.MethodGet: // A stream of any messages.
		return max(w.limit, maxListBytes) + notices
	case methodList:
		return maxListBytes
	default:
		return maxHandshakeBytes
	}
}

// bounded limits a body, and records whether it ended.
type bounded struct {
	io.ReadCloser

	wire        *wire
	at          *exchange
	limit, left int64
	streamed    bool // It ends when the server closes it, not with the answer.
}

var errOverflow = errors.New("the answer is too long")

// Read implements [io.Reader].
func (b *bounded) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		endless := b.streamed || !b.ends()
		b.wire.note(func() { b.at.overflow, b.at.endless = b.limit, endless })
		return 0, errOverflow
	}
	if err != nil && err != io.EOF {
		b.wire.note(func() { b.at.failed = tool.AsError(err) })
	}
	return n, err
}

// ends discards the rest, up to a bound, and reports whether the body ended: a
// complete answer was given even if it is too long.
func (b *bounded) ends() bool {
	n, err := io.Copy(io.Discard, io.LimitReader(b.ReadCloser, maxDiscardedBytes))
	return err == nil && n < maxDiscardedBytes
}

func readBody(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, nil
	}
	defer func() { _ = req.Body.Close() }()
	return io.ReadAll(req.Body)
}

// methodOf returns the JSON-RPC method of a request, or else HTTP's.
func methodOf(req *http.Request, body []byte) string {
	var m struct {
		Method string `json:"method"`
	}
	if len(bytes.TrimSpace(body)) > 0 && json.Unmarshal(body, &m) == nil && m.Method != "" {
		return m.Method
	}
	return req.Method
}
