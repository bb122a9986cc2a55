package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.opentelemetry.io/otel/trace"

	"github.com/toolcrib/toolcrib/audit"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolset"
)

// Methods of the protocol.
const (
	methodInitialize = "initialize"
	methodCallTool   = "tools/call"
	methodListen     = "subscriptions/listen"
)

// shortTimeout bounds a request that is no call.
const shortTimeout = 30 * time.Second

// receive answers the methods that depend on who asks. The library's own lists of tools and resources
// stay empty.
func (s *Server) receive(of *session) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (result mcp.Result, err error) {
			// This is not the goroutine of an HTTP request, whose panics are caught.
			defer func() {
				if v := recover(); v != nil {
					s.log.ErrorContext(ctx, "a handler of MCP panicked", slog.String("method", method),
						slog.String("panic", fmt.Sprintf("%T", v)), slog.String("stack", string(debug.Stack())))
					result, err = nil, protocolError(&tool.Error{Kind: tool.InternalError})
				}
			}()
			c, ok := callerOf(req)
			if !ok {
				return next(ctx, method, req)
			}
			if !strings.HasPrefix(method, notifications) {
				if !c.handlers.begin() {
					return nil, protocolError(&tool.Error{Kind: tool.Cancelled, Msg: "the request has ended"})
				}
				defer c.handlers.done()
			}
			// The context of a session is that of the request which opened it.
			ctx = audit.With(trace.ContextWithSpanContext(ctx, c.span), audit.ActorOf(c.Principal, c.TraceID))
			result, err = s.answer(ctx, of, c, method, req, next)
			if theirs, ok := errors.AsType[*libraryError](err); ok {
				return nil, theirs.err
			}
			if err != nil {
				s.report(ctx, c, method, err)
				return nil, protocolError(err)
			}
			return completed(result, req), nil
		}
	}
}

// answer answers a request of a caller.
func (s *Server) answer(
	ctx context.Context, of *session, c *Caller, method string, req mcp.Request, next mcp.MethodHandler,
) (mcp.Result, error) {
	if call, ok := req.(*mcp.CallToolRequest); ok && method == methodCallTool {
		switch {
		case c.extension:
			return s.answerExtension(ctx, c, call)
		case c.task != "":
			return s.answerTask(ctx, of, c, call)
		}
		return s.call(ctx, of, c, call)
	}
	if !served(of, method) {
		return nil, &libraryError{&jsonrpc.Error{
			Code: jsonrpc.CodeMethodNotFound, Message: fmt.Sprintf("method not found: %q", clip(method)),
		}}
	}
	switch req := req.(type) {
	case *mcp.ListToolsRequest:
		ctx, cancel := c.short(ctx)
		defer cancel()
		result, err := s.listTools(ctx, c, req)
		if list, ok := result.(*mcp.ListToolsResult); ok && c.tasks {
			return asTasks{list}, err
		}
		return result, err
	case *mcp.ReadResourceRequest:
		ctx, cancel := c.short(ctx)
		defer cancel()
		return s.readResource(ctx, c, req)
	case *mcp.ListResourceTemplatesRequest:
		return templates(), nil
	case *mcp.ListPromptsRequest:
		ctx, cancel := c.short(ctx)
		defer cancel()
		return s.listPrompts(ctx, c, req)
	case *mcp.GetPromptRequest:
		ctx, cancel := c.short(ctx)
		defer cancel()
		return s.getPrompt(ctx, c, req)
	case *mcp.CompleteRequest:
		ctx, cancel := c.short(ctx)
		defer cancel()
		return s.complete(ctx, c, req)
	}
	result, err := next(ctx, method, req)
	if err != nil {
		return nil, &libraryError{err}
	}
	instruct(result, c.Offer)
	if found, ok := result.(*mcp.DiscoverResult); ok {
		extended(found)
	}
	if method == methodInitialize && of != nil {
		if opened, ok := result.(*mcp.InitializeResult); ok && opened.ProtocolVersion == tasksRevision {
			result = withTasks{opened}
		}
		return result, s.open(of, c, req)
	}
	return result, nil
}

// instruct adds the instructions of a toolset to what a client is shown of the server.
func instruct(result mcp.Result, of *toolset.Offer) {
	if of == nil || of.Instructions == "" {
		return
	}
	switch result := result.(type) {
	case *mcp.InitializeResult:
		result.Instructions = of.Instructions + "\n\n" + result.Instructions
	case *mcp.DiscoverResult:
		result.Instructions = of.Instructions + "\n\n" + result.Instructions
	}
}

// libraryError is a refusal of the library, which speaks of the protocol alone.
type libraryError struct{ err error }

func (e *libraryError) Error() string { return e.err.Error() }

func (e *libraryError) Unwrap() error { return e.err }

// open keeps a session that a client has opened.
func (s *Server) open(of *session, c *Caller, req mcp.Request) error {
	live, ok := req.GetSession().(*mcp.ServerSession)
	if !ok {
		return errors.New("the session is not a server's")
	}
	of.owner, of.live = c.owner(), live
	if !s.sessions.add(of) {
		go of.end()
		return &tool.Error{
			Kind: tool.RateLimited, Op: "mcpserver.open",
			Msg: fmt.Sprintf("the key has %d sessions in use at this server, which is the limit: end one", s.cfg.MaxSessions),
		}
	}
	go func() {
		_ = live.Wait() // How it ended makes no difference.
		s.sessions.remove(of)
	}()
	return nil
}

// report logs a failure of the platform, whose cause the client is not shown.
func (s *Server) report(ctx context.Context, c *Caller, method string, err error) {
	if _, answered := errors.AsType[*jsonrpc.Error](err); answered || tool.KindOf(err) != tool.InternalError {
		return
	}
	if errors.Is(err, context.Canceled) {
		return // Its client has gone.
	}
	s.log.ErrorContext(ctx, "a request of MCP failed", slog.String("method", method),
		slog.String("tenant_id", string(c.Principal.Tenant)), slog.String("trace_id", c.TraceID), slog.Any("error", err))
}

// may fails where the caller lacks a permission.
func may(c *Caller, permission string) error {
	if c.Principal.May(permission) {
		return nil
	}
	return &tool.Error{
		Kind: tool.Denied, Op: "mcpserver", Msg: "this key may not do that: it lacks the permission " + permission,
		Err: &tool.PermissionError{Permissions: []string{permission}},
	}
}
