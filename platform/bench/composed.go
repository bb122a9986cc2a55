package bench

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// composedTool is a composition of as many steps as a chain has calls.
const composedTool = "composed"

// publishComposed publishes the chain as a composition: each step is given what
// the one before answered.
func (s *site) publishComposed(ctx context.Context) error {
	type from struct {
		From string `json:"$from"`
	}
	type bound struct {
		ID        string         `json:"id"`
		Tool      string         `json:"tool"`
		Arguments map[string]any `json:"arguments"`
	}
	var config struct {
		Steps  []bound `json:"steps"`
		Output from    `json:"output"`
	}
	arguments, last := map[string]any{"number": 0, "text": stepText}, ""
	for i := range s.lab.size.Turns {
		last = fmt.Sprintf("s%d", i)
		config.Steps = append(config.Steps, bound{last, toolName(advanceFunction, tool.LaneFast), arguments})
		at := "/steps/" + last + "/result/"
		arguments = map[string]any{"number": from{at + "number"}, "text": from{at + "text"}}
	}
	config.Output = from{"/steps/" + last + "/result/number"}
	raw, err := json.Marshal(config)
	if err != nil {
		return fmt.Errorf("writing the composition: %w", err)
	}
	_, _, err = publishTool(ctx, s.Store, s.principal.Tenant, composedTool, tool.Definition{
		Name: composedTool, Implementation: tool.Composition, Config: raw, InputSchema: json.RawMessage(`{"type":"object"}`),
	}, tool.Policy{EgressClass: tool.EgressNone, PermissionPolicy: tool.PermissionAuto})
	return err
}

// composed is a round of single calls of the composition.
func (s *site) composed(ctx context.Context, loops, atOnce int) (sample, error) {
	return repeat(ctx, loops, atOnce, s.lab.size.Turns, s.compose)
}

func (s *site) compose(ctx context.Context) error {
	call, err := s.starts.Call(ctx, runs.NewCall{
		Principal: s.principal, Node: wire.Node{Tool: tool.Ref{Slug: composedTool}},
	})
	if err != nil {
		return fmt.Errorf("starting a composition: %w", err)
	}
	w := s.temporal.GetWorkflow(ctx, call.WorkflowID, "")
	var result tool.Result
	if err := w.Get(ctx, &result); err != nil {
		return fmt.Errorf("running a composition: %w", err)
	}
	var out struct {
		Output int `json:"output"`
	}
	if err := json.Unmarshal(result.Structured, &out); err != nil || out.Output != s.lab.size.Turns {
		return fmt.Errorf("the composition answered %s instead of %d", result.Structured, s.lab.size.Turns)
	}
	return nil
}
