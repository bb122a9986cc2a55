package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

type testToolInput struct {
	Tool string `path:"tool" maxLength:"64" doc:"Slug or id" example:"searchOrders"`
	Body v1.NewToolTestWait
}

type testToolOutput struct {
	Status   int
	Location string `header:"Location"`
	Body     v1.ToolTest
}

type streamTestInput struct {
	Tool string `path:"tool" maxLength:"64" doc:"Slug or id" example:"searchOrders"`
	Body v1.NewToolTest
}

type streamTestOutput struct {
	Location string `header:"Location"`
	Body     func(huma.Context)
}

// EventTestResult is the name of the event of a test's stream that holds its
// [v1.ToolTest].
const EventTestResult tool.EventType = "test.result"

const testDetail = "Runs the draft, or a version, with the given input on the way that every call takes: the same " +
	"validation, policy, ledger and limits, as a run of kind `tool_test`. A test changes nothing unless `allow_writes` " +
	"is set: what might is refused, that is a tool of egress class `write`, and one that is not declared pure and whose " +
	"doings the egress guard does not see. "

func (s *server) registerToolTests() {
	handle(s, route{
		id: "testTool", method: http.MethodPost, path: "/v1/tools/{tool}/test", tag: "tools", permission: RunsWrite,
		summary: "Test a tool", accepted: "The test is still running",
		detail: testDetail + "The answer reports how the call went, also when it failed or was refused; a problem says " +
			"that there was nothing to test. 202 says that it is still running: look at the run.",
	}, s.testTool)
	handle(s, route{
		id: "streamToolTest", method: http.MethodPost, path: "/v1/tools/{tool}/test/stream", tag: "tools",
		permission: RunsWrite, stream: true,
		summary: "Test a tool and follow it",
		detail: testDetail + "The answer is a stream of server-sent events: those of the run as they come, the tool's " +
			"output between them, then `test.result` with what `testTool` answers, and `end`. `Location` is the run: whoever " +
			"loses the stream follows its events.",
	}, s.streamToolTest)
	ok := s.api.OpenAPI().Paths["/v1/tools/{tool}/test/stream"].Post.Responses["200"]
	ok.Content = map[string]*huma.MediaType{
		v1.StreamType: {
			Schema: &huma.Schema{
				Type:        huma.TypeString,
				Description: "Server-sent events; the data of each is a ToolEvent, of test.result a ToolTest",
			},
		},
	}
}

// callTest records a test of a tool as a call in debug mode, and starts it.
func (s *server) callTest(
	ctx context.Context, p tool.Principal, name string, in v1.NewToolTest, followFor time.Duration,
) (runs.Call, error) {
	return s.runs.Call(ctx, runs.NewCall{
		Request: requestOf(ctx), Principal: p, FollowFor: followFor, Node: wire.Node{
			Tool: refOf(name, in.Version), Arguments: in.Arguments, Mode: tool.Debug,
			Test: &wire.Test{AllowWrites: in.AllowWrites},
		},
	})
}

func (s *server) testTool(ctx context.Context, p tool.Principal, in *testToolInput) (*testToolOutput, error) {
	call, err := s.callTest(ctx, p, in.Tool, in.Body.NewToolTest, 0)
	if err != nil {
		return nil, err
	}
	_, _, _ = s.runs.Wait(ctx, call, waitOf(in.Body.WaitS), s.hub) // The record says how the test ended.
	out := &testToolOutput{Status: http.StatusOK, Location: "/v1/runs/" + call.RunID}
	if out.Body, err = s.testOf(ctx, p.Tenant, call); err != nil {
		return nil, err
	}
	if out.Body.Status == agent.RunRunning {
		out.Status = http.StatusAccepted
	}
	return out, nil
}

// testOf returns the state of a test.
func (s *server) testOf(ctx context.Context, tenant tool.TenantID, call runs.Call) (v1.ToolTest, error) {
	out := v1.ToolTest{RunID: call.RunID, Tool: call.Tool, Status: agent.RunRunning}
	run, err := s.cfg.Store.FindRun(ctx, tenant, call.RunID)
	if err != nil {
		return out, fmt.Errorf("finding the test: %w", err)
	}
	if run.Plan != nil && len(run.Plan.Tools) == 1 {
		out.Version, out.Digest = run.Plan.Tools[0].Version, run.Plan.Tools[0].Digest
	}
	if !run.Status.Final() {
		return out, nil
	}
	out.Status, out.ErrorKind, out.Error = run.Status, run.ErrorKind, run.Error
	made, err := s.cfg.Store.ListInvocations(ctx, tenant, store.InvocationQuery{RunID: call.RunID, Limit: 1})
	if err != nil {
		return out, fmt.Errorf("finding the record of the test: %w", err)
	}
	if len(made) == 0 { // It was cancelled before its call began.
		return out, nil
	}
	invocation, err := s.cfg.Store.FindInvocation(ctx, tenant, made[0].InvocationID)
	if err != nil {
		return out, fmt.Errorf("finding the record of the test: %w", err)
	}
	shown, err := s.maskOf(ctx, tenant)
	if err != nil {
		return out, err
	}
	masked := shown.request(invocation)
	out.Invocation, out.Error = &masked, shown.text(out.Error)
	return out, nil
}

// streamToolTest reserves the stream before it starts the test: a test that
// cannot be followed is not started, since a refused caller repeats the
// request.
func (s *server) streamToolTest(
	ctx context.Context, p tool.Principal, in *streamTestInput,
) (out *streamTestOutput, err error) {
	place, refused := s.streams.begin(p.Tenant)
	if refused != nil {
		return nil, refused
	}
	defer func() {
		if out == nil { // Else the stream gives it back.
			place()
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, s.cfg.RequestTimeout) // Of the start; the stream lasts longer.
	defer cancel()
	call, err := s.callTest(ctx, p, in.Tool, in.Body, s.followLease())
	if err != nil {
		return nil, err
	}
	runID, shown := call.RunID, s.changedMask(ctx, p.Tenant)
	sub := subscription{
		shown: shown,
		topic: store.Wake{Tenant: p.Tenant, RunID: runID}, after: "0", names: v1.CanonicalNames, needs: RunsWrite,
		place: place,
		read: func(ctx context.Context, after string) (passage, error) {
			b, err := s.readRun(ctx, p.Tenant, runID, after, shown)
			if err != nil || b.end == nil {
				return b, err
			}
			return s.withResult(ctx, b, p.Tenant, call)
		},
	}
	first, err := sub.read(ctx, sub.after)
	if err != nil {
		return nil, err
	}
	return &streamTestOutput{
		Location: "/v1/runs/" + runID,
		Body: func(ctx huma.Context) { //nolint:contextcheck // huma's context holds the request's.
			s.follow(ctx, p, sub, first)
		},
	}, nil
}

// withResult adds the result of a test to the last passage of its stream. It is
// not an event of the run, so a stream cannot be resumed after it.
func (s *server) withResult(ctx context.Context, b passage, tenant tool.TenantID, call runs.Call) (passage, error) {
	test, err := s.testOf(ctx, tenant, call)
	if err != nil {
		return passage{}, err
	}
	data, err := json.Marshal(test)
	if err != nil {
		return passage{}, fmt.Errorf("writing the test: %w", err)
	}
	b.frames = append(b.frames, frame{eventType: EventTestResult, data: data})
	return b, nil
}
