package api

import (
	"context"
	"net/http"
	"strconv"

	"github.com/toolcrib/toolcrib/graph"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

type listNodesInput struct {
	ID string `path:"id" maxLength:"64"`
	Paging
}

func (s *server) registerNodes() {
	handle(s, route{
		id: "listNodes", method: http.MethodGet, path: "/v1/runs/{id}/nodes", tag: "runs", permission: RunsRead,
		summary: "List the nodes of a run's graphs",
		detail: "Those that have ended, in the order in which they did, and the items of maps, which are pending first. A " +
			"run without graphs has none.",
	}, s.listNodes)
}

func (s *server) listNodes(ctx context.Context, p tool.Principal, in *listNodesInput) (*listed[v1.Node], error) {
	var after int64
	cursor, err := openCursor(in.Cursor)
	if err == nil && cursor != "" {
		after, err = strconv.ParseInt(cursor, 10, 64)
	}
	if err != nil {
		return nil, badCursor()
	}
	if _, err := s.cfg.Store.FindRun(ctx, p.Tenant, in.ID); err != nil {
		return nil, err
	}
	found, err := s.cfg.Store.ListNodes(ctx, p.Tenant, in.ID, after, in.fetch())
	if err != nil {
		return nil, err
	}
	shown, err := s.maskOf(ctx, p.Tenant)
	if err != nil {
		return nil, err
	}
	place := func(r graph.Record) string { return strconv.FormatInt(r.Place, 10) }
	return answer(page(in.Paging, found, shown.node, place)), nil
}
