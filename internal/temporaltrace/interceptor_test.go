package temporaltrace_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/testsuite"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/internal/telemetry"
	"github.com/toolcrib/toolcrib/internal/telemetry/telemetrytest"
	"github.com/toolcrib/toolcrib/internal/temporaltrace"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
	"github.com/toolcrib/toolcrib/workflows"
)

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

const planted = "tc-planted-value-07ce"

// environment runs workflows with the interceptor, whose spans the recorder
// keeps. They are started with a header of the given text.
func environment(t *testing.T, header string) (*testsuite.TestWorkflowEnvironment, *telemetrytest.Recorder) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	payload, err := converter.GetDefaultDataConverter().ToPayload(map[string]string{
		"traceparent": header, "tracestate": "other=1",
	})
	require.NoError(t, err)
	suite.SetHeader(&commonpb.Header{Fields: map[string]*commonpb.Payload{"_tracer-data": payload}})
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(time.Minute)
	recorder := &telemetrytest.Recorder{}
	env.SetWorkerOptions(sdkworker.Options{Interceptors: []interceptor.WorkerInterceptor{temporaltrace.New(recorder)}})
	return env, recorder
}

func invoke(ctx context.Context, in wire.InvokeInput) (wire.InvokeOutput, error) {
	if in.CallID == "fails" {
		return wire.InvokeOutput{}, failure.Encode(&tool.Error{Kind: tool.Denied, Msg: planted, Err: errors.New(planted)})
	}
	return wire.InvokeOutput{Status: tool.StatusCompleted, Preview: planted}, nil
}

func input(callID string) wire.InvokeInput {
	return wire.InvokeInput{
		PreparedCall: agent.PreparedCall{
			CallIdentity: tool.CallIdentity{
				Principal: tool.Principal{Tenant: "t1"},
				RunID:     "r1",
				Turn:      3,
				Position:  1,
				EffectID:  "e1",
				CallID:    callID,
			},
			Arguments: []byte(`"` + planted + `"`),
		},
		Pin: agent.Pin{VersionIdentity: tool.VersionIdentity{Slug: "search", Version: "1.2.0", Implementation: tool.HTTP}},
	}
}

// calls is a workflow that makes a call in a regular activity, one in a local
// one, and one that fails.
func calls(ctx workflow.Context) error {
	regular := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: tool.DefaultTimeout})
	if err := workflow.ExecuteActivity(regular, "regular", input("regular")).Get(ctx, nil); err != nil {
		return err
	}
	local := workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: tool.DefaultTimeout,
	})
	if err := workflow.ExecuteLocalActivity(local, invoke, input("local")).Get(ctx, nil); err != nil {
		return err
	}
	return workflow.ExecuteActivity(regular, "regular", input("fails")).Get(ctx, nil)
}

// Everything that a workflow does belongs to the span that started it, and
// says for whom and which call it was, and no value.
func TestActivitiesContinueTheTraceOfTheirWorkflow(t *testing.T) {
	t.Parallel()

	env, recorder := environment(t, traceparent)
	env.RegisterActivityWithOptions(invoke, activity.RegisterOptions{Name: "regular"})
	env.RegisterWorkflow(calls)
	env.ExecuteWorkflow(calls)
	require.Equal(t, tool.Denied, tool.KindOf(failure.Decode(env.GetWorkflowError())))

	spans := recorder.Spans()
	require.Len(t, spans, 4) // Three activities, and the workflow at its end.
	for i, callID := range []string{"regular", "local", "fails"} {
		s := spans[i]
		require.Equal(t, callID, s.Attributes[telemetry.CallKey].AsString())
		require.Equal(t, "t1", s.Attributes[telemetry.TenantKey].AsString())
		require.Equal(t, "r1", s.Attributes[telemetry.RunKey].AsString())
		require.EqualValues(t, 3, s.Attributes[telemetry.TurnKey].AsInt64())
		require.Equal(t, "search@1.2.0", s.Attributes[telemetry.ToolKey].AsString())
		require.Equal(t, "http", s.Attributes[telemetry.ImplementationKey].AsString())
		require.Equal(t, "e1", s.Attributes[telemetry.EffectKey].AsString())
	}
	require.Equal(t, "completed", spans[0].Attributes[telemetry.StatusKey].AsString())
	require.Equal(t, "denied", spans[2].Failure)
	require.Equal(t, "calls", spans[3].Name)
	for _, s := range spans {
		require.Equal(t, traceparent, telemetry.Traceparent(s.Parent.WithRemote(false)), s.Name)
		require.NotContains(t, s.Failure, planted)
		for key, v := range s.Attributes {
			require.NotContains(t, v.String(), planted, key)
		}
	}
}

// A header that nobody can read, or that is not there, stops nothing.
func TestMalformedHeaderStartsTracesAnew(t *testing.T) {
	t.Parallel()

	env, recorder := environment(t, "not a traceparent")
	env.RegisterActivityWithOptions(invoke, activity.RegisterOptions{Name: "regular"})
	env.RegisterWorkflow(calls)
	env.ExecuteWorkflow(calls)
	spans := recorder.Spans()
	require.Len(t, spans, 4)
	for _, s := range spans {
		require.False(t, s.Parent.IsValid(), s.Name)
	}
}

// A workflow that continues as new hands its trace on.
func TestContinueAsNewKeepsTheTrace(t *testing.T) {
	t.Parallel()

	env, recorder := environment(t, traceparent)
	again := func(ctx workflow.Context) error { return workflow.NewContinueAsNewError(ctx, "again") }
	env.RegisterWorkflowWithOptions(again, workflow.RegisterOptions{Name: "again"})
	env.ExecuteWorkflow("again")
	var next *workflow.ContinueAsNewError
	require.ErrorAs(t, env.GetWorkflowError(), &next)
	var fields map[string]string
	require.NoError(t, converter.GetDefaultDataConverter().FromPayload(next.Header.GetFields()["_tracer-data"], &fields))
	require.Equal(t, map[string]string{"traceparent": traceparent}, fields)
	spans := recorder.Spans()
	require.Len(t, spans, 1)
	require.Empty(t, spans[0].Failure)
}

// A replay makes what was done before; it tells of nothing again, not even of
// the end.
func TestReplayMakesNoSpans(t *testing.T) {
	t.Parallel()

	var histories []string
	for _, ours := range []string{"toolcall_*.json", "agentrun_*.json"} {
		found, err := filepath.Glob(filepath.Join("../../workflows/testdata", ours))
		require.NoError(t, err)
		require.NotEmpty(t, found)
		histories = append(histories, found...)
	}
	for _, file := range histories {
		recorder := &telemetrytest.Recorder{}
		replayer, err := sdkworker.NewWorkflowReplayerWithOptions(sdkworker.WorkflowReplayerOptions{
			Interceptors: []interceptor.WorkerInterceptor{temporaltrace.New(recorder)},
		})
		require.NoError(t, err)
		workflows.Register(replayer)
		require.NoError(t, replayer.ReplayWorkflowHistoryFromJSONFile(nil, file), file)
		require.Empty(t, recorder.Spans(), file)
	}
}

var _ trace.TracerProvider = (*telemetrytest.Recorder)(nil)
