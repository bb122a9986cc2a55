package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/toolcrib/toolcrib/platform/mcpserver"
	"github.com/toolcrib/toolcrib/tool"
)

// registerMCP mounts the MCP server of the tools. It is no endpoint of the description: its clients
// know it by their protocol.
func (s *server) registerMCP(router chi.Router) error {
	served, err := mcpserver.New(mcpserver.Config{
		Tools: s.cfg.Resolver, Runs: s.runs, Record: s.cfg.Store, Wakes: s.hub,
		ListPermission: ToolsRead, CallPermission: RunsWrite, DecidePermission: ApprovalsRead, Stopping: stopping,
		MaxBodyBytes: s.cfg.MaxBodyBytes, Heartbeat: s.cfg.Streams.Heartbeat, WriteTimeout: s.cfg.Streams.WriteTimeout,
		ElicitWait: s.cfg.ElicitWait, Version: s.cfg.Version, Logger: s.log,
	})
	if err != nil {
		return fmt.Errorf("api: %w", err)
	}
	metadata := func(w http.ResponseWriter, r *http.Request) { served.ServeMetadata(w, s.base(r)) }
	router.Get(mcpserver.MetadataPath, metadata)
	router.Get(mcpserver.MetadataPath+mcpserver.Path, metadata)
	router.HandleFunc(mcpserver.Path, func(w http.ResponseWriter, r *http.Request) { s.serveMCP(served, w, r) })
	return nil
}

// serveMCP authenticates a request of an MCP client and passes it on, as one of the requests that its
// tenant may have, or as one of its streams.
func (s *server) serveMCP(served *mcpserver.Server, w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	if err := mcpserver.CheckPlace(r, s.cfg.AllowedOrigins, s.cfg.PublicURL); err != nil {
		writeProblem(w, r, refusal(string(tool.Denied), err.Error()))
		return
	}
	p, err := s.bearer(ctx, r.Header.Get("Authorization"), false)
	if err != nil {
		problem := s.problem(ctx, "mcp", err)
		if problem.Status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", mcpserver.Challenge(s.base(r), r.Header.Get("Authorization") != ""))
		}
		writeProblem(w, r, problem)
		return
	}
	recordOf(ctx).tenant = p.Tenant
	taken := s.requests
	if asksForStream(r) {
		taken = s.streams
	}
	end, refused := taken.begin(p.Tenant)
	if refused != nil {
		writeProblem(w, r, refused)
		return
	}
	defer end()
	served.Serve(w, r, mcpserver.Caller{
		Principal: p, TraceID: traceID(ctx), Base: s.base(r),
		Refused: func(ctx context.Context, operation, object string, err error) error {
			return s.auditRefusal(ctx, operation, p, err, object)
		},
		Check: func(ctx context.Context) error {
			_, err := s.bearer(ctx, r.Header.Get("Authorization"), false)
			if problemOf(err).Status == http.StatusUnauthorized {
				return &tool.Error{Kind: tool.Denied, Op: "api.serveMCP", Msg: "the key is valid no more", Err: err}
			}
			return err
		},
	})
}

// isMCP reports whether a request is one of an MCP client.
func isMCP(r *http.Request) bool { return r.URL.Path == mcpserver.Path }

// base returns the scheme and host by which a client reaches the server.
func (s *server) base(r *http.Request) string {
	if s.cfg.PublicURL != "" {
		return strings.TrimSuffix(s.cfg.PublicURL, "/")
	}
	scheme := "http"
	if r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https") {
		scheme = "https"
	}
	return scheme + "://" + r.Host
}
