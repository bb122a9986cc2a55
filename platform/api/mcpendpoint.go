package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/go-chi/chi/v5"

	"github.com/toolcrib/toolcrib/platform/mcpserver"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolset"
)

// registerMCP mounts the MCP server of the tools. It is no endpoint of the description: its clients
// know it by their protocol.
func (s *server) registerMCP(router chi.Router) error {
	served, err := mcpserver.New(mcpserver.Config{
		Tools: s.cfg.Resolver, Runs: s.runs, Record: s.cfg.Store, Wakes: s.hub, Views: s.views,
		ListPermission: ToolsRead, CallPermission: RunsWrite, DecidePermission: ApprovalsRead,
		AgentPermission: AgentsRead, PublishPermission: ViewsWrite, Stopping: stopping,
		MaxBodyBytes: s.cfg.MaxBodyBytes, Heartbeat: s.cfg.Streams.Heartbeat, WriteTimeout: s.cfg.Streams.WriteTimeout,
		ElicitWait: s.cfg.ElicitWait, TaskAfter: s.cfg.TaskAfter, Version: s.cfg.Version, Logger: s.log,
		AuthorizationServers: s.issuers(),
	})
	if err != nil {
		return fmt.Errorf("api: %w", err)
	}
	metadata := func(w http.ResponseWriter, r *http.Request) {
		served.ServeMetadata(w, s.base(r), chi.URLParam(r, toolsetParam))
	}
	router.Get(mcpserver.MetadataPath, metadata)
	router.Get(mcpserver.MetadataPath+mcpserver.Path, metadata)
	router.Get(mcpserver.MetadataPath+mcpserver.ToolsetPath("{"+toolsetParam+"}"), metadata)
	serve := func(w http.ResponseWriter, r *http.Request) { s.serveMCP(served, w, r) }
	router.HandleFunc(mcpserver.Path, serve)
	router.HandleFunc(mcpserver.ToolsetPath("{"+toolsetParam+"}"), serve)
	return nil
}

// toolsetParam is the part of an address of the MCP server that is the slug of a toolset.
const toolsetParam = "toolset"

// serveMCP authenticates a request of an MCP client and passes it on, as one of the requests that its
// tenant may have, or as one of its streams.
func (s *server) serveMCP(served *mcpserver.Server, w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	if err := mcpserver.CheckPlace(r, s.cfg.AllowedOrigins, s.cfg.PublicURL); err != nil {
		writeProblem(w, r, refusal(string(tool.Denied), err.Error()))
		return
	}
	slug := chi.URLParam(r, toolsetParam)
	at := place{mcp: true, toolset: slug}
	p, sh, err := s.admit(ctx, r.Header.Get("Authorization"), at)
	if sh != nil {
		s.shares.headers(sh, w.Header())
	}
	if sh != nil && err == nil {
		defer s.count(sh, r, recordOf(ctx))()
	}
	var offer *toolset.Offer
	if err == nil && slug != "" {
		offer, err = s.offer(ctx, p, slug)
	}
	if err != nil {
		problem := s.problem(ctx, "mcp", err)
		if problem.Status == http.StatusUnauthorized {
			presented := r.Header.Get("Authorization") != ""
			w.Header().Set("WWW-Authenticate", mcpserver.Challenge(s.base(r), slug, presented))
		}
		writeProblem(w, r, problem)
		return
	}
	recordOf(ctx).tenant = p.Tenant
	// An answer of a person, or a cancellation, ends what waits: it finds a place where all wait.
	taken := s.messages
	if asksForStream(r) || mcpserver.Listens(r) {
		taken = s.streams
	}
	end, refused := taken.begin(p.Tenant)
	if refused != nil {
		writeProblem(w, r, refused)
		return
	}
	end = sync.OnceFunc(end)
	defer end()
	served.Serve(w, r, mcpserver.Caller{
		Principal: p, TraceID: traceID(ctx), Base: s.base(r), Offer: offer,
		Refused: func(ctx context.Context, operation, object string, err error) error {
			return s.auditRefusal(ctx, operation, p, err, object)
		},
		Wait: func(w http.ResponseWriter, r *http.Request) (func(), bool) {
			leave, refused := s.requests.begin(p.Tenant)
			if refused != nil {
				writeProblem(w, r, refused)
				return nil, false
			}
			end()
			return leave, true
		},
		Check: func(ctx context.Context) error {
			_, err := s.bearer(ctx, r.Header.Get("Authorization"), at)
			if problemOf(err).Status == http.StatusUnauthorized {
				return &tool.Error{Kind: tool.Denied, Op: "api.serveMCP", Msg: "the key is valid no more", Err: err}
			}
			return err
		},
	})
}

// offer returns the toolset that a client uses.
func (s *server) offer(ctx context.Context, p tool.Principal, slug string) (*toolset.Offer, error) {
	if !toolset.ValidSlug(slug) {
		return nil, noToolset(slug)
	}
	found, err := s.cfg.Store.FindOffer(ctx, p.Tenant, slug)
	if tool.KindOf(err) == tool.NotFound {
		err = noToolset(slug)
	}
	return &found, err
}

// noToolset is the answer for a toolset that is not there, is disabled, or is another key's.
func noToolset(slug string) error {
	return &tool.Error{
		Kind: tool.NotFound, Op: "api.serveMCP", Msg: fmt.Sprintf("there is no toolset %q", tool.Clip(slug, maxObjectName)),
	}
}

// issuers lists the issuers whose tokens are accepted.
func (s *server) issuers() []string {
	if s.cfg.Issuers == nil {
		return nil
	}
	return s.cfg.Issuers.URLs()
}

// isMCP reports whether a request is one of an MCP client.
func isMCP(r *http.Request) bool {
	return r.URL.Path == mcpserver.Path || strings.HasPrefix(r.URL.Path, mcpserver.Path+"/")
}

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
