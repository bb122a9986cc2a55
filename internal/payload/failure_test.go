package payload_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/proto"

	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/internal/payload"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

const marker = "hunter2"

func contains(t *testing.T, f *failurepb.Failure) bool {
	t.Helper()
	raw, err := proto.Marshal(f)
	require.NoError(t, err)
	return strings.Contains(string(raw), marker)
}

// converters returns those of a client, in a workflow of a tenant.
func converters(keys *payload.Keyring, own client.Options) (converter.DataConverter, converter.FailureConverter) {
	payload.Configure(&own, keys)
	ctx := converter.WorkflowSerializationContext{
		WorkflowID: wire.RunWorkflowID("01978a3e-7c5e-7000-8000-000000000001", "r"),
	}
	return converter.WithDataConverterSerializationContext(own.DataConverter, ctx),
		converter.WithFailureConverterSerializationContext(own.FailureConverter, ctx)
}

// A tool's error survives encryption with all that is encoded in it, through any number of
// boundaries, and nothing of it is readable.
func TestToolErrorsSurvive(t *testing.T) {
	t.Parallel()

	hosts := map[string]client.Options{
		"none": {},
		"own converters": {
			DataConverter: converter.NewCodecDataConverter(
				converter.GetDefaultDataConverter(), converter.NewZlibCodec(converter.ZlibCodecOptions{AlwaysEncode: true})),
		},
		"encoded attributes": {FailureConverter: temporal.NewDefaultFailureConverter(
			temporal.DefaultFailureConverterOptions{EncodeCommonAttributes: true})},
		"attributes in its own form": {FailureConverter: temporal.NewDefaultFailureConverter(
			temporal.DefaultFailureConverterOptions{
				EncodeCommonAttributes: true,
				DataConverter: converter.NewCodecDataConverter(converter.GetDefaultDataConverter(),
					converter.NewZlibCodec(converter.ZlibCodecOptions{AlwaysEncode: true})),
			})},
	}
	for name, host := range hosts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, failures := converters(ring(t, payload.GenerateKey()), host)
			for _, kind := range tool.Kinds() {
				original := &tool.Error{
					Kind: kind, Op: "x.Y", Msg: "about " + marker, Path: "/" + marker, Sent: true, RetryAfter: 7 * time.Second,
				}
				err := failure.Encode(original)
				for range 3 { // An activity, its workflow, and the parent of that.
					f := failures.ErrorToFailure(temporal.NewApplicationErrorWithOptions("wrapped "+marker, "outer",
						temporal.ApplicationErrorOptions{Cause: err, Details: []any{marker}}))
					require.False(t, contains(t, f))
					require.Equal(t, "outer", f.GetApplicationFailureInfo().GetType())
					before := proto.CloneOf(f)
					opened := failures.FailureToError(f)
					require.True(t, proto.Equal(before, f), "the failure itself stays encrypted")
					require.False(t, contains(t, failures.ErrorToFailure(opened)), "an error that is passed on")
					require.Contains(t, opened.Error(), "wrapped "+marker)
					err = errors.Unwrap(opened)
				}
				out := tool.AsError(failure.Decode(err))
				require.Equal(t, []any{kind, "x.Y", "about " + marker, "/" + marker, true},
					[]any{out.Kind, out.Op, out.Msg, out.Path, out.Sent})
				if kind.Retryable() {
					require.Equal(t, 7*time.Second, out.RetryAfter)
				}
			}
		})
	}
}

// Messages, stack traces and details of other failures are not readable either.
func TestOtherFailures(t *testing.T) {
	t.Parallel()

	_, failures := converters(ring(t, payload.GenerateKey()), client.Options{})
	for _, err := range []error{
		errors.New(marker),
		temporal.NewCanceledError(marker),
		temporal.NewHeartbeatTimeoutError(marker),
		temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_START_TO_CLOSE, errors.New(marker)),
	} {
		f := failures.ErrorToFailure(err)
		require.False(t, contains(t, f))
		require.Equal(t, temporal.IsCanceledError(err), temporal.IsCanceledError(failures.FailureToError(f)))
	}
	// A panic's stack trace comes from the worker as it is.
	f := failures.ErrorToFailure(failures.FailureToError(&failurepb.Failure{
		Message: marker, StackTrace: marker,
		FailureInfo: &failurepb.Failure_ApplicationFailureInfo{
			ApplicationFailureInfo: &failurepb.ApplicationFailureInfo{Type: "PanicError"},
		},
	}))
	require.False(t, contains(t, f))
	require.Nil(t, failures.ErrorToFailure(nil))
	require.NoError(t, failures.FailureToError(nil))
}

// Without its key a failure is an error that names the key, and not the outcome of a workflow.
func TestFailureWithoutItsKey(t *testing.T) {
	t.Parallel()

	keys := ring(t, payload.GenerateKey())
	_, writer := converters(keys, client.Options{})
	f := writer.ErrorToFailure(failure.Encode(&tool.Error{Kind: tool.Denied, Msg: "no"}))
	_, reader := converters(nil, client.Options{})
	err := reader.FailureToError(f)
	require.Equal(t, tool.Unavailable, tool.KindOf(err))
	require.ErrorContains(t, err, keys.IDs()[0])
	plain := reader.ErrorToFailure(errors.New("clear"))
	require.Equal(t, "clear", plain.GetMessage(), "without keys nothing is encrypted")
	require.ErrorContains(t, writer.FailureToError(plain), "clear", "what is not encrypted stays readable")
}

// In a workflow task what does not decrypt panics, so that the task fails and not the workflow; in
// an activity and in a client it is an error.
func TestWorkflowTasksPanic(t *testing.T) {
	t.Parallel()

	sealed, failures := converters(ring(t, payload.GenerateKey()), client.Options{})
	p, err := sealed.ToPayload("x")
	require.NoError(t, err)
	f := failures.ErrorToFailure(errors.New("x"))
	data, other := converters(nil, client.Options{})
	var into string
	require.Error(t, data.FromPayload(p, &into))

	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.SetWorkerOptions(sdkworker.Options{DisableRegistrationAliasing: true})
	panics := map[string]bool{}
	env.RegisterActivityWithOptions(func(context.Context) error {
		var into string
		return data.FromPayload(p, &into)
	}, activity.RegisterOptions{Name: "read"})
	env.ExecuteWorkflow(func(ctx workflow.Context) error {
		for name, do := range map[string]func(){
			"a value":   func() { _ = data.FromPayload(p, new(string)) },
			"a failure": func() { _ = other.FailureToError(f) },
		} {
			func() {
				defer func() { panics[name] = recover() != nil }()
				do()
			}()
		}
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			StartToCloseTimeout: time.Second, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
		})
		return workflow.ExecuteActivity(ctx, "read").Get(ctx, nil)
	})
	require.Equal(t, map[string]bool{"a value": true, "a failure": true}, panics)
	require.ErrorContains(t, env.GetWorkflowError(), "payload key")
}
