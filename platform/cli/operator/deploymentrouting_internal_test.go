package operator

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	deploymentpb "go.temporal.io/api/deployment/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"
	"google.golang.org/grpc"
)

// lateService reports a routing as in progress until its queues have it.
type lateService struct {
	workflowservice.WorkflowServiceClient

	routed time.Time
}

func (s lateService) DescribeWorkerDeployment(
	context.Context, *workflowservice.DescribeWorkerDeploymentRequest, ...grpc.CallOption,
) (*workflowservice.DescribeWorkerDeploymentResponse, error) {
	state := enumspb.ROUTING_CONFIG_UPDATE_STATE_COMPLETED
	if time.Now().Before(s.routed) {
		state = enumspb.ROUTING_CONFIG_UPDATE_STATE_IN_PROGRESS
	}
	return &workflowservice.DescribeWorkerDeploymentResponse{
		WorkerDeploymentInfo: &deploymentpb.WorkerDeploymentInfo{RoutingConfigUpdateState: state},
	}, nil
}

// oneDeployment is a client of a deployment whose current build is "new".
type oneDeployment struct {
	client.WorkerDeploymentClient
	client.WorkerDeploymentHandle
}

func (d oneDeployment) GetHandle(string) client.WorkerDeploymentHandle { return d }

func (oneDeployment) Describe(
	context.Context, client.WorkerDeploymentDescribeOptions,
) (client.WorkerDeploymentDescribeResponse, error) {
	return client.WorkerDeploymentDescribeResponse{Info: client.WorkerDeploymentInfo{
		RoutingConfig: client.WorkerDeploymentRoutingConfig{
			CurrentVersion: &sdkworker.WorkerDeploymentVersion{DeploymentName: "tools", BuildID: "new"},
		},
	}}, nil
}

func TestRoutedWaitsForTheTaskQueues(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		late, want time.Duration
		updating   bool
	}{
		"at once":         {0, 0, false},
		"a moment later":  {450 * time.Millisecond, 500 * time.Millisecond, false},
		"never reported":  {time.Hour, routeWait + routePoll, true},
		"just within ten": {routeWait, routeWait, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				c := deploymentClient{
					WorkerDeploymentClient: oneDeployment{}, service: lateService{routed: begin.Add(test.late)},
				}
				shape, err := c.routed(t.Context(), "tools")
				require.NoError(t, err)
				require.Equal(t, test.want, time.Since(begin))
				require.Equal(t, test.updating, shape.Updating)
				require.Equal(t, "new", shape.Current)
				require.Equal(t, test.updating, shape.note() != "")
			})
		})
	}
}
