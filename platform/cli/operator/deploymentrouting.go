package operator

import (
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
)

const (
	// routePoll is how often Temporal is asked whether all task queues have a routing.
	routePoll = 100 * time.Millisecond

	// routeWait bounds the wait for them, mostly well below a second. Temporal Server
	// 1.32.1 reports some as in progress for minutes after all of them have it.
	routeWait = 10 * time.Second
)

// routed waits until all task queues of a deployment have the routing that was set last,
// which Temporal gives them after it has answered, and returns the deployment. It is
// marked as updating if Temporal has not reported the end within routeWait.
func (c deploymentClient) routed(ctx context.Context, name string) (deploymentShape, error) {
	deadline := time.Now().Add(routeWait)
	tick := time.NewTicker(routePoll)
	defer tick.Stop()
	for {
		updating, err := c.updating(ctx, name)
		if err != nil {
			return deploymentShape{}, err
		}
		if !updating || time.Now().After(deadline) {
			shape, err := describeDeployment(ctx, c, name)
			shape.Updating = updating
			return shape, err
		}
		select {
		case <-ctx.Done():
			return deploymentShape{}, ctx.Err()
		case <-tick.C:
		}
	}
}

// updating reports whether task queues of a deployment still go by a routing before the
// one that was set last, as far as the server reports it.
func (c deploymentClient) updating(ctx context.Context, name string) (bool, error) {
	d, err := c.service.DescribeWorkerDeployment(ctx, &workflowservice.DescribeWorkerDeploymentRequest{
		Namespace: c.namespace, DeploymentName: name,
	})
	if err != nil {
		return false, err
	}
	state := d.GetWorkerDeploymentInfo().GetRoutingConfigUpdateState()
	return state == enumspb.ROUTING_CONFIG_UPDATE_STATE_IN_PROGRESS, nil
}

// note is what is added to the line of a deployment whose routing was set.
func (s *deploymentShape) note() string {
	if s.Updating {
		return "; Temporal reports task queues that do not have it yet"
	}
	return ""
}

func (f *deploymentFlags) registerRouting(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.allowNoPollers, "allow-no-pollers", false, "even if no worker of the build has polled yet")
	cmd.Flags().BoolVar(&f.ignoreQueues, "ignore-missing-task-queues", false,
		"even if the build serves no task queue that the current one serves")
}

func (a *app) deploymentCurrentCommand() *cobra.Command {
	cmd, flags := a.deployments(&cobra.Command{
		Use: "set-current NAME BUILD", Short: "Give new work to a build", Args: cli.Operands("name", "build"),
		Example: "  toolcrib deployment set-current tools v1.4.0",
		Long: `Makes a build the current version: new runs begin on it, and those that upgrade go
on with it. The command waits, 10 seconds at most, until every task queue goes by
it. Going back is the same command with the build before. A build whose workers have
not polled is refused.`,
	}, func(ctx context.Context, c deploymentClient, flags *deploymentFlags, args []string) error {
		_, err := c.GetHandle(args[0]).SetCurrentVersion(ctx, client.WorkerDeploymentSetCurrentVersionOptions{
			BuildID: args[1], AllowNoPollers: flags.allowNoPollers, IgnoreMissingTaskQueues: flags.ignoreQueues,
		})
		if err != nil {
			return err
		}
		shape, err := c.routed(ctx, args[0])
		if err != nil {
			return err
		}
		return a.Printer.ShowLine(shape, "%s is current in %s%s", terminal.Clean(args[1]), terminal.Clean(args[0]),
			shape.note())
	})
	flags.registerRouting(cmd)
	return cmd
}

func (a *app) deploymentRampCommand() *cobra.Command {
	cmd, flags := a.deployments(&cobra.Command{
		Use: "ramp NAME BUILD PERCENT", Short: "Give a share of the new work to a build",
		Args:    cli.Operands("name", "build", "percentage"),
		Example: "  toolcrib deployment ramp tools v1.4.0 10",
		Long: `Gives a share of the new runs, 0 to 100 percent, to a build beside the current
one. With 0 no build ramps any more. The command waits, 10 seconds at most,
until every task queue goes by it.`,
	}, func(ctx context.Context, c deploymentClient, flags *deploymentFlags, args []string) error {
		share, err := strconv.ParseFloat(args[2], 32)
		if err != nil || !(share >= 0 && share <= 100) {
			return cli.Usagef("%q is no percentage: expected 0 to 100", args[2])
		}
		ramping := args[1]
		if share == 0 { // A build that keeps a ramp of 0 % is never drained.
			ramping = ""
		}
		_, err = c.GetHandle(args[0]).SetRampingVersion(ctx, client.WorkerDeploymentSetRampingVersionOptions{
			BuildID: ramping, Percentage: float32(share), AllowNoPollers: flags.allowNoPollers,
			IgnoreMissingTaskQueues: flags.ignoreQueues,
		})
		if err != nil {
			return err
		}
		shape, err := c.routed(ctx, args[0])
		if err != nil {
			return err
		}
		return a.Printer.ShowLine(shape, "%s gets %s%% of the new work of %s%s", terminal.Clean(args[1]), args[2],
			terminal.Clean(args[0]), shape.note())
	})
	flags.registerRouting(cmd)
	return cmd
}
