package e2e_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/examples/thin-tool/summary"
	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// consulting is the application of examples/thin-tool.
type consulting struct {
	*site
	app      *summary.App
	open     chan struct{} // The model answers once it is closed.
	invented atomic.Bool   // Whether the model has cited what is no entity.
}

func newConsulting(t *testing.T) *consulting {
	t.Helper()
	s := newSite(t)
	records, err := summary.Open(t.TempDir(), s.principal.Tenant)
	require.NoError(t, err)
	return &consulting{site: s, open: make(chan struct{}), app: &summary.App{
		Records: records, Site: "http://127.0.0.1:8790", Fill: summary.FillWith(s.temporal, s.queue),
	}}
}

// work starts a worker of the application.
func (c *consulting) work() (stop func()) {
	functions := function.NewRegistry()
	require.NoError(c.t, c.app.Define(functions, c.principal.Tenant))
	return c.host(worker.Config{
		Functions: functions, PublishTo: []string{string(c.principal.Tenant)},
		Models: map[string]agent.Model{"local": agent.ModelFunc(c.compose)},
	}, summary.Register)
}

// compose is the example's own model, which invents a source of the goals at its first answer.
func (c *consulting) compose(ctx context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
	select {
	case <-c.open:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	time.Sleep(100 * time.Millisecond) // As models take their time.
	answer, err := summary.Composer{}.Generate(ctx, req)
	asked := req.Messages[len(req.Messages)-1].Content[0].Text
	if err == nil && strings.Contains(asked, `"field":"goals"`) && c.invented.CompareAndSwap(false, true) {
		answer.Text = strings.ReplaceAll(answer.Text, "ent-goal", "ent-made-up")
	}
	return answer, err
}

// define publishes the definitions of the example.
func (c *consulting) define() {
	c.t.Helper()
	for _, name := range []string{"composer", "write-field", "fill-summary"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "examples", "thin-tool", "definitions", name+".yaml"))
		require.NoError(c.t, err)
		raw, err := yaml.YAMLToJSON(text)
		require.NoError(c.t, err)
		if name == "composer" {
			var spec definition.AgentSpec
			require.NoError(c.t, json.Unmarshal(raw, &spec))
			c.publishAgentAs(spec.Slug, spec.Definition)
			continue
		}
		var spec definition.ToolSpec
		require.NoError(c.t, json.Unmarshal(raw, &spec))
		c.publish(spec.Slug, spec.Definition, spec.Policy)
	}
}

// generate has the thin tool called.
func (c *consulting) generate(engagement string) summary.Answer {
	c.t.Helper()
	w, err := c.temporal.ExecuteWorkflow(c.t.Context(), client.StartWorkflowOptions{TaskQueue: c.queue},
		summary.GenerateWorkflow, summary.GenerateInput{
			Principal: c.principal, Input: summary.Input{EngagementID: engagement},
		})
	require.NoError(c.t, err)
	var a summary.Answer
	require.NoError(c.t, w.Get(c.t.Context(), &a))
	return a
}

func (c *consulting) standing(id string) summary.Summary {
	s, ok := c.app.Records.Summary(id)
	require.True(c.t, ok)
	return s
}

// A thin tool answers while its graph has not asked the model yet, refuses by name, and is not
// there for other tenants. The graph goes on after its worker was replaced, has what cites an
// invented source written again, and completes the record.
func TestThinTool(t *testing.T) {
	t.Parallel()

	c := newConsulting(t)
	stop := c.work()
	c.define()
	began := time.Now()
	a := c.generate("ENG-1")
	t.Logf("the tool answered within %s", time.Since(began).Round(time.Millisecond))
	require.Nil(t, a.Error)
	require.Equal(t, 5, a.SourceCount)
	require.Equal(t, c.app.Site+"/summaries/"+a.EntityID, a.BriefURL)
	require.Equal(t, summary.Filling, c.standing(a.EntityID).Status)

	for engagement, code := range map[string]summary.Code{
		"ENG-7": summary.EngagementNotFound, "ENG-9": summary.ForeignEngagement,
		"ENG-3": summary.ForeignWorkspace, "ENG-2": summary.InsufficientGraph,
	} {
		refused := c.generate(engagement)
		require.NotNil(t, refused.Error, engagement)
		require.Equal(t, code, refused.Error.Code)
	}
	tenant := c.principal.Tenant
	c.principal.Tenant = c.newTenant()
	w, err := c.temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{TaskQueue: c.queue},
		summary.GenerateWorkflow, summary.GenerateInput{
			Principal: c.principal, Input: summary.Input{EngagementID: "ENG-1"},
		})
	require.NoError(t, err)
	require.Equal(t, tool.NotFound, tool.KindOf(failure.Decode(w.Get(t.Context(), nil))))
	c.principal.Tenant = tenant

	close(c.open)
	require.Eventually(t, func() bool { return len(c.standing(a.EntityID).Fields) > 0 }, time.Minute, 5*time.Millisecond)
	stop()
	t.Cleanup(c.work())
	require.Eventually(t, func() bool {
		return c.standing(a.EntityID).Status != summary.Filling
	}, time.Minute, 50*time.Millisecond)
	s := c.standing(a.EntityID)
	require.Equal(t, summary.Complete, s.Status, s.Reason)
	require.True(t, c.invented.Load())
	e, ok := c.app.Records.Engagement("ENG-1")
	require.True(t, ok)
	for _, f := range summary.Fields {
		require.NoError(t, summary.CheckCitations(s.Fields[f.Name], e.Entities), f.Name)
	}
}

// A summary whose claims never cite what they rest on fails, and says why.
func TestThinToolWithoutSources(t *testing.T) {
	t.Parallel()

	c := newConsulting(t)
	functions := function.NewRegistry()
	require.NoError(t, c.app.Define(functions, c.principal.Tenant))
	t.Cleanup(c.host(worker.Config{
		Functions: functions, PublishTo: []string{string(c.principal.Tenant)},
		Models: map[string]agent.Model{"local": agent.ModelFunc(
			func(context.Context, *agent.ModelRequest) (*agent.ModelResponse, error) {
				return &agent.ModelResponse{Text: `{"claims":[{"text":"All is well.","source_entity_ids":[]}]}`}, nil
			})},
	}, summary.Register))
	c.define()
	a := c.generate("ENG-1")
	require.Nil(t, a.Error)
	require.Eventually(t, func() bool {
		return c.standing(a.EntityID).Status == summary.Failed
	}, time.Minute, 50*time.Millisecond)
	require.Contains(t, c.standing(a.EntityID).Reason, "3 iterations")
	require.Empty(t, c.standing(a.EntityID).Fields)
}
