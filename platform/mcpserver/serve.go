package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"go.opentelemetry.io/otel/trace"

	"github.com/toolcrib/toolcrib/tool"
)

// Headers of the protocol.
const (
	sessionHeader = "Mcp-Session-Id"
	versionHeader = "Mcp-Protocol-Version"
	methodHeader  = "Mcp-Method"
)

// statelessSince is the first revision without sessions.
const statelessSince = "2026-07-28"

// Serve answers a request of a caller who was authenticated, for as long as the client follows.
func (s *Server) Serve(w http.ResponseWriter, r *http.Request, c Caller) {
	c.span = trace.SpanContextFromContext(r.Context())
	ctx, cancel := context.WithCancel(context.WithValue(r.Context(), callerKey{}, &c))
	defer cancel()
	c.gone = ctx.Done()
	c.handlers = &handlers{}
	r = r.WithContext(ctx)
	switch r.Method {
	case http.MethodPost, http.MethodGet, http.MethodDelete:
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		writeError(w, http.StatusMethodNotAllowed, jsonrpc.CodeInvalidRequest,
			"the endpoint has the methods GET, POST and DELETE")
		return
	}
	var err error
	if c.catalogue, err = catalogueOf(r.URL.Query().Get(catalogueQuery), c.Offer); err != nil {
		writeError(w, http.StatusBadRequest, jsonrpc.CodeInvalidRequest, words(tool.AsError(err)))
		return
	}
	listens := Listens(r)
	if r.Method == http.MethodPost {
		waits, ok := s.read(w, r, &c)
		if !ok {
			return
		}
		if waits && !listens && c.Wait != nil {
			leave, ok := c.Wait(w, r)
			if !ok {
				return
			}
			defer leave()
		}
	}
	next := s.stateful
	if version := r.Header.Get(versionHeader); version >= statelessSince {
		next = s.stateless
		if listens {
			c.listener = s.protocol(nil)
			defer s.watches.join(ctx, &session{server: c.listener, owner: c.owner()}, &c)()
		}
	} else if id := r.Header.Get(sessionHeader); id != "" {
		opened, leave, ok := s.sessions.enter(id, c.owner())
		if !ok {
			writeError(w, http.StatusNotFound, codeNoSession, "there is no such session: open one with initialize")
			return
		}
		defer leave()
		if r.Method == http.MethodGet {
			defer s.watches.join(ctx, opened, &c)()
		}
		if r.Method == http.MethodDelete {
			s.sessions.remove(opened)
			opened.end()
			w.WriteHeader(http.StatusNoContent)
			return
		}
	}
	out := &stream{ResponseWriter: w, control: http.NewResponseController(w), timeout: s.cfg.WriteTimeout}
	c.out = out
	// The HTTP server's deadlines are for short requests. Not all connections have deadlines.
	_ = out.control.SetReadDeadline(time.Time{})
	_ = out.control.SetWriteDeadline(time.Time{})
	over := make(chan struct{})
	beaten := make(chan struct{})
	go func() {
		defer close(beaten)
		s.beat(ctx, out, &c, listens || r.Method == http.MethodGet, over, cancel)
	}()
	next.ServeHTTP(out, r)
	close(over)
	<-beaten
	cancel()
	c.handlers.end()
}

// Listens reports whether a request listens to changes, as clients without sessions do. It lasts, as a stream.
func Listens(r *http.Request) bool {
	return r.Method == http.MethodPost && r.Header.Get(versionHeader) >= statelessSince &&
		r.Header.Get(methodHeader) == methodListen
}

// read reads the body of a request, within the server's time, and reports whether its answer is waited for, and
// false where it refused it.
func (s *Server) read(w http.ResponseWriter, r *http.Request, c *Caller) (waits, readable bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.cfg.MaxBodyBytes))
	if err != nil {
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			writeError(w, http.StatusRequestEntityTooLarge, jsonrpc.CodeInvalidRequest,
				fmt.Sprintf("the request has more than %d bytes", s.cfg.MaxBodyBytes))
			return false, false
		}
		writeError(w, http.StatusBadRequest, jsonrpc.CodeParseError, "the body could not be read")
		return false, false
	}
	if bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("[")) {
		writeError(w, http.StatusBadRequest, jsonrpc.CodeInvalidRequest,
			"batches are not served: send one message a request")
		return false, false
	}
	c.tasks = r.Header.Get(versionHeader) == tasksRevision
	if !json.Valid(body) {
		writeError(w, http.StatusBadRequest, jsonrpc.CodeParseError, "the body is not one message in JSON")
		return false, false
	}
	if asks, declares := asksForTasks(r, body); asks && !declares {
		refuse(w, body, lacksTasks())
		return false, false
	}
	var ok bool
	if c.task, body, ok = asExtension(w, r, body); !ok {
		return false, false
	}
	if c.extension = c.task != ""; !c.extension {
		c.task, body = asTask(r, body)
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return asks(body), true
}

// asks reports whether a message asks for an answer. Notifications and the answers of clients do not.
func asks(message []byte) bool {
	var members map[string]json.RawMessage
	if json.Unmarshal(message, &members) != nil {
		return true // It is refused.
	}
	return members["method"] != nil && members["id"] != nil
}

// beat keeps an answer open, and ends it where the key is valid no more. An answer that only follows
// also ends when the process stops.
func (s *Server) beat(
	ctx context.Context, out *stream, c *Caller, follows bool, over <-chan struct{}, end context.CancelFunc,
) {
	var stopping <-chan struct{}
	if follows {
		stopping = s.cfg.Stopping(ctx)
	}
	tick := time.NewTicker(s.cfg.Heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-over:
			return
		case <-ctx.Done():
			return
		case <-stopping:
			end()
			return
		case <-tick.C:
		}
		if err := c.Check(ctx); err != nil && tool.KindOf(err) == tool.Denied {
			end()
			return
		}
		out.alive()
	}
}

// codeNoSession is the code of a request for a session that does not exist.
const codeNoSession = -32001

// writeError answers a request that never comes to the protocol.
func writeError(w http.ResponseWriter, status int, code int64, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{ // An error cannot be reported any more.
		"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": text},
	})
}

// protocolError returns the error of the protocol for a failure. Only the words of a [tool.Error] are
// shown.
func protocolError(err error) error {
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return e
	}
	e := tool.AsError(err)
	code := int64(jsonrpc.CodeInternalError)
	switch e.Kind {
	case tool.Invalid, tool.NotFound:
		code = jsonrpc.CodeInvalidParams
	case tool.Denied, tool.Conflict:
		code = jsonrpc.CodeInvalidRequest
	case tool.RateLimited, tool.Unavailable, tool.Timeout, tool.Unknown, tool.Cancelled, tool.InternalError:
	}
	data, _ := json.Marshal(map[string]any{"kind": e.Kind, "retryable": e.Retryable()})
	return &jsonrpc.Error{Code: code, Message: words(e), Data: data}
}

// words returns what a caller reads of a failure.
func words(e *tool.Error) string {
	text := e.Msg
	if e.Kind == tool.InternalError || text == "" {
		text = "internal error: the operator finds the cause in the server's log"
	}
	if e.Path != "" && !strings.HasPrefix(text, e.Path) {
		text = e.Path + ": " + text
	}
	switch {
	case e.Acted && e.Kind != tool.Unknown:
		text += ". The effect may have happened: check before calling it again"
	case e.RetryAfter > 0:
		text += ". Try again in " + e.RetryAfter.Round(time.Second).String()
	case e.Kind == tool.RateLimited, e.Kind == tool.Unavailable:
		text += ". Try again in a moment"
	}
	return text
}
