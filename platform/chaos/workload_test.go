package chaos_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	platformclient "github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
)

// errand is one thing that a driver asks a server for.
type errand struct {
	weight int
	do     func(*site, context.Context, *platformclient.Client, *rand.Rand) error
}

var errands = []errand{
	{25, func(s *site, ctx context.Context, c *platformclient.Client, _ *rand.Rand) error {
		return s.run(ctx, c, "long")
	}},
	{15, func(s *site, ctx context.Context, c *platformclient.Client, _ *rand.Rand) error {
		return s.run(ctx, c, "brief")
	}},
	{20, func(s *site, ctx context.Context, c *platformclient.Client, _ *rand.Rand) error {
		return s.run(ctx, c, "lead")
	}},
	{15, (*site).callTwice},
	{8, func(s *site, ctx context.Context, c *platformclient.Client, _ *rand.Rand) error {
		return s.apply(ctx, c)
	}},
	{7, (*site).disable},
	{10, (*site).cancel},
}

// drive does one errand after another until ctx ends. A refusal is no fault;
// an internal error is.
func (s *site) drive(ctx context.Context, dice *rand.Rand) {
	for ctx.Err() == nil {
		n := dice.IntN(100)
		for _, e := range errands {
			if n -= e.weight; n >= 0 {
				continue
			}
			c := s.clients[dice.IntN(len(s.clients))]
			if err := e.do(s, context.WithoutCancel(ctx), c, dice); err != nil && tool.KindOf(err) == tool.InternalError {
				s.t.Errorf("an internal error: %v", err)
			}
			break
		}
		select {
		case <-time.After(time.Duration(50+dice.IntN(300)) * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

func (s *site) run(ctx context.Context, c *platformclient.Client, name string) error {
	run, err := c.StartRun(ctx, v1.NewRun{Agent: name, Input: []byte(`"go"`)})
	if err == nil {
		s.promise(run.ID)
	}
	return err
}

// callTwice makes a call that must not be made twice, and asks for it again at
// the other server.
func (s *site) callTwice(ctx context.Context, _ *platformclient.Client, dice *rand.Rand) error {
	in := v1.NewCall{ID: fmt.Sprintf("call-%x", dice.Uint64()), Arguments: []byte(`{"q":"x"}`), WaitS: new(float64)}
	var runID string
	var failed error
	for _, c := range s.clients {
		call, err := c.CallTool(ctx, "sendIt", in)
		if err != nil {
			failed = err
			continue
		}
		s.promise(call.RunID)
		if runID != "" && call.RunID != runID {
			s.t.Errorf("the call %s was made twice: %s and %s", in.ID, runID, call.RunID)
		}
		runID = call.RunID
	}
	return failed
}

// disable takes a tool away for a moment.
func (s *site) disable(ctx context.Context, c *platformclient.Client, dice *rand.Rand) error {
	slug := []string{"readIt", "putIt", "sendIt"}[dice.IntN(3)]
	if _, err := c.SetTool(ctx, slug, platformclient.Disable); err != nil {
		return err
	}
	if err := s.run(ctx, c, "long"); err != nil {
		return err
	}
	_, err := c.SetTool(ctx, slug, platformclient.Enable)
	return err
}

// cancel cancels one of the last runs. It may have ended.
func (s *site) cancel(ctx context.Context, c *platformclient.Client, dice *rand.Rand) error {
	runs := s.accepted()
	if len(runs) == 0 {
		return nil
	}
	_, err := c.CancelRun(ctx, runs[len(runs)-1-dice.IntN(min(len(runs), 6))])
	return err
}

// scripts are what the models say. They go on, whatever the tools answer.
var scripts = map[string]string{
	"brief": `turns:
  - call:
      - {id: a, tool: readIt, args: {q: a}}
      - {id: b, tool: readIt, args: {q: b}}
  - say: done
`,
	"long": `turns:
  - call:
      - {id: a, tool: readIt, args: {q: a}}
      - {id: b, tool: sendIt, args: {q: b}}
      - {id: c, tool: putIt, args: {q: c}}
  - call:
      - {id: d, tool: putIt, args: {q: d}}
      - {id: e, tool: readIt, args: {q: e}}
      - {id: f, tool: sendIt, args: {q: f}}
  - call:
      - {id: g, tool: sendIt, args: {q: g}}
  - say: done
`,
	"lead": `turns:
  - call:
      - {id: a, tool: askBrief, args: {prompt: go}}
      - {id: b, tool: chainIt, args: {q: b}}
  - call:
      - {id: c, tool: sendIt, args: {q: c}}
  - say: done
`,
	"refunds": `turns:
  - call:
      - {id: a, tool: refundIt, args: {q: a}}
  - say: done
`,
	"asks": `turns:
  - call:
      - {id: a, tool: askIt, args: {q: a}}
  - say: done
`,
}

// httpTools are the tools that reach the upstream, by how they may be repeated.
var httpTools = map[string]string{
	"readIt": `{"is_pure":true,"timeout_s":2,"max_attempts":6}`,
	"putIt":  `{"idempotent":true,"timeout_s":2,"max_attempts":6}`,
	"sendIt": `{"timeout_s":2,"max_attempts":6}`,
}

// apply publishes the next version of all tools and agents. The version stands
// in the URL, so that the upstream sees which one called.
func (s *site) apply(ctx context.Context, c *platformclient.Client) error {
	s.mu.Lock()
	s.version++
	version := s.version
	s.mu.Unlock()
	var in v1.Apply
	add := func(format string, args ...any) {
		in.Definitions = append(in.Definitions, json.RawMessage(fmt.Sprintf(format, args...)))
	}
	for slug, execution := range httpTools {
		add(`{"kind":"tool","slug":%q,"description":"Version %d.","implementation_type":"http","egress_class":"read_only",
			"implementation_config":{"url":"%s/%s?v=%d"},"publish":true,
			"input_schema":{"type":"object","properties":{"q":{"type":"string"}}},"execution":%s}`,
			slug, version, s.upstream.URL, slug, version, execution)
	}
	for _, name := range []string{"brief", "long"} {
		add(`{"kind":"agent","slug":%q,"instructions":"Version %d.","model":"scripted/%s","tools":["readIt","putIt","sendIt"],"publish":true}`,
			name, version, name)
	}
	add(`{"kind":"tool","slug":"askBrief","description":"Version %d.","implementation_type":"agent_call","egress_class":"none",
		"implementation_config":{"target_agent_slug":"brief"},"publish":true,"execution":{"timeout_s":60}}`, version)
	add(`{"kind":"tool","slug":"chainIt","description":"Version %d.","implementation_type":"composition","egress_class":"none","publish":true,
		"implementation_config":{"steps":[
			{"id":"one","tool":"readIt","arguments":{"q":{"$from":"/input/q"}}},
			{"id":"two","tool":"putIt","arguments":{"q":{"$from":"/input/q"}}}]},
		"input_schema":{"type":"object","properties":{"q":{"type":"string"}}},"execution":{"timeout_s":60}}`, version)
	add(
		`{"kind":"agent","slug":"lead","instructions":"Version %d.","model":"scripted/lead","tools":["askBrief","chainIt","sendIt"],"publish":true}`,
		version,
	)
	applied, err := c.Apply(ctx, in)
	for _, item := range applied.Items {
		if item.Error != nil { // Others change the same; one that is disabled is not published.
			return item.Error.ToolError()
		}
	}
	return err
}
