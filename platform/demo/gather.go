package demo

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
)

// gather lists the calls of a run in call order, each followed by those that it
// is made of: the steps of a composition, and the calls of an agent's run. The
// id of one below another begins with the id of that, and a slash.
func gather(ctx context.Context, api *client.Client, runID string) ([]v1.Invocation, error) {
	page, err := api.ListInvocations(ctx, client.InvocationQuery{Run: runID, Page: client.Page{Limit: 200}})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(page.Items, inCallOrder)
	return below(ctx, api, "", "", page.Items)
}

// below lists the calls of a run that are steps of the invocation parent, or of
// none. Prefix goes before their ids.
func below(
	ctx context.Context, api *client.Client, parent, prefix string, all []v1.Invocation,
) ([]v1.Invocation, error) {
	var out []v1.Invocation
	for _, inv := range all {
		if inv.ParentID != parent {
			continue
		}
		steps, err := below(ctx, api, inv.ID, prefix, all)
		if err != nil {
			return nil, err
		}
		inv.CallID = prefix + inv.CallID
		out = append(append(out, inv), steps...)
		asked, ok := runOf(inv)
		if !ok {
			continue
		}
		calls, err := gather(ctx, api, asked)
		if err != nil {
			return nil, err
		}
		for _, call := range calls {
			call.CallID = inv.CallID + "/" + call.CallID
			out = append(out, call)
		}
	}
	return out, nil
}

// runOf returns the run of an agent that a call is.
func runOf(inv v1.Invocation) (string, bool) {
	if inv.Implementation != tool.AgentCall || inv.Output == nil {
		return "", false
	}
	var answer struct {
		RunID string `json:"run_id"`
	}
	err := json.Unmarshal(inv.Output.Structured, &answer)
	return answer.RunID, err == nil && answer.RunID != ""
}

// inCallOrder compares the calls of one run. Steps are ordered at the place of
// the call that made them, in the order in which they were made.
func inCallOrder(a, b v1.Invocation) int {
	return cmp.Or(a.Turn-b.Turn, a.Position-b.Position, a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
}
