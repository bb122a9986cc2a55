package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/serve"
	"github.com/toolcrib/toolcrib/tool"
)

// drainPoll is how often Temporal is asked whether a version is drained; it looks at
// most once in some minutes itself.
const drainPoll = 2 * time.Second

// deploymentFlags are those of every command of deployments.
type deploymentFlags struct {
	temporal       temporalFlags
	allowNoPollers bool
	ignoreQueues   bool
	drainTimeout   time.Duration
	deleteDrained  bool
}

func (a *app) deploymentCommand() *cobra.Command {
	return cli.Describe(cli.Group("deployment", "Route work between builds of workers",
		a.deploymentListCommand(), a.deploymentShowCommand(), a.deploymentCurrentCommand(), a.deploymentRampCommand(),
		a.deploymentDrainCommand()),
		`Workers that are started with --deployment and --build-id are versions of a Worker
Deployment of Temporal. New work goes to the current version, and a share of it to
one that ramps. A run ends on the version that it began on, or goes on with the
current one: see docs/deployment.md.`,
		`  toolcrib worker --deployment tools --build-id v1.4.0
  toolcrib deployment ramp tools v1.4.0 10
  toolcrib deployment set-current tools v1.4.0
  toolcrib deployment drain tools v1.3.2 --timeout 24h`)
}

// deploymentClient reads and changes the Worker Deployments of a namespace.
type deploymentClient struct {
	client.WorkerDeploymentClient

	service   workflowservice.WorkflowServiceClient
	namespace string
}

// deployments makes a command call do with Temporal's client of deployments.
func (a *app) deployments(
	cmd *cobra.Command, do func(context.Context, deploymentClient, *deploymentFlags, []string) error,
) (*cobra.Command, *deploymentFlags) {
	flags := &deploymentFlags{}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx := cmd.Context()
		opts, err := flags.temporal.options(a.Env.Environ, a.Logger())
		if err != nil {
			return err
		}
		temporal, err := serve.DialTemporal(ctx, opts)
		if err != nil {
			return err
		}
		defer temporal.Close()
		return deploymentError(do(ctx, deploymentClient{
			temporal.WorkerDeploymentClient(), temporal.WorkflowService(),
			cmp.Or(opts.Namespace, client.DefaultNamespace),
		}, flags, args))
	}
	flags.temporal.register(cmd)
	return cmd, flags
}

// deploymentError gives errors of Temporal the kinds of ours.
func deploymentError(err error) error {
	if err == nil {
		return nil
	}
	kind := tool.KindOf(err)
	if _, ok := errors.AsType[*serviceerror.NotFound](err); ok {
		kind = tool.NotFound
	} else if _, ok := errors.AsType[*serviceerror.FailedPrecondition](err); ok {
		kind = tool.Conflict
	} else if _, ok := errors.AsType[*serviceerror.InvalidArgument](err); ok {
		kind = tool.Invalid
	} else if _, ok := errors.AsType[*tool.Error](err); ok {
		return err
	}
	return &tool.Error{Kind: kind, Op: "deployment", Msg: err.Error(), Err: err}
}

// deploymentShape is a deployment as JSON.
type deploymentShape struct {
	Name        string         `json:"name"`
	Current     string         `json:"current"` // Build; empty for workers without a version.
	Ramping     string         `json:"ramping,omitempty"`
	RampPercent float32        `json:"ramp_percent,omitempty"`
	Updating    bool           `json:"updating,omitempty"` // Not all task queues are reported to have it.
	Versions    []versionShape `json:"versions,omitempty"`
}

type versionShape struct {
	Build     string `json:"build"`
	Status    string `json:"status"` // current, ramping, draining, drained or inactive.
	CreatedAt string `json:"created_at"`
}

func shapeDeployment(name string, r client.WorkerDeploymentRoutingConfig) deploymentShape {
	shape := deploymentShape{Name: name, RampPercent: r.RampingVersionPercentage}
	if r.CurrentVersion != nil {
		shape.Current = r.CurrentVersion.BuildID
	}
	if r.RampingVersion != nil {
		shape.Ramping = r.RampingVersion.BuildID
	}
	return shape
}

func (a *app) deploymentListCommand() *cobra.Command {
	cmd, _ := a.deployments(&cobra.Command{
		Use: "list", Short: "List the Worker Deployments of the namespace", Args: cli.Operands(),
		Example: "  toolcrib deployment list",
		Long:    "Lists the Worker Deployments of the namespace, with their current and ramping builds.",
	}, func(ctx context.Context, c deploymentClient, _ *deploymentFlags, _ []string) error {
		found, err := c.List(ctx, client.WorkerDeploymentListOptions{})
		if err != nil {
			return err
		}
		shapes := []deploymentShape{}
		for found.HasNext() {
			entry, err := found.Next()
			if err != nil {
				return err
			}
			shapes = append(shapes, shapeDeployment(entry.Name, entry.RoutingConfig))
		}
		return a.Printer.Show(shapes, func(w io.Writer) error {
			rows := make([][]string, len(shapes))
			for i, s := range shapes {
				rows[i] = []string{terminal.Clean(s.Name), terminal.Clean(build(s.Current)), terminal.Clean(ramp(s))}
			}
			return terminal.Table(w, "NAME CURRENT RAMPING", rows)
		})
	})
	return cmd
}

func build(id string) string {
	if id == "" {
		return "-"
	}
	return id
}

func ramp(s deploymentShape) string {
	if s.Ramping == "" {
		return "-"
	}
	return s.Ramping + " " + strconv.FormatFloat(float64(s.RampPercent), 'f', -1, 32) + "%"
}

func (a *app) deploymentShowCommand() *cobra.Command {
	cmd, _ := a.deployments(&cobra.Command{
		Use: "show NAME", Short: "Show the versions of a deployment and what each is for", Args: cli.Operands("name"),
		Example: "  toolcrib deployment show tools",
		Long: `Shows the versions of a deployment: current, ramping, draining (runs are pinned to
it), drained (none is; its workers may be stopped) or inactive (it never had work).`,
	}, func(ctx context.Context, c deploymentClient, _ *deploymentFlags, args []string) error {
		shape, err := describeDeployment(ctx, c, args[0])
		if err != nil {
			return err
		}
		return a.Printer.Show(shape, func(w io.Writer) error {
			rows := make([][]string, len(shape.Versions))
			for i, v := range shape.Versions {
				status := v.Status
				if status == "ramping" {
					status += " " + strconv.FormatFloat(float64(shape.RampPercent), 'f', -1, 32) + "%"
				}
				rows[i] = []string{terminal.Clean(v.Build), status, v.CreatedAt}
			}
			return terminal.Table(w, "BUILD STATUS CREATED", rows)
		})
	})
	return cmd
}

func describeDeployment(ctx context.Context, c deploymentClient, name string) (deploymentShape, error) {
	d, err := c.GetHandle(name).Describe(ctx, client.WorkerDeploymentDescribeOptions{})
	if err != nil {
		return deploymentShape{}, err
	}
	shape := shapeDeployment(d.Info.Name, d.Info.RoutingConfig)
	for _, v := range d.Info.VersionSummaries {
		status := "inactive"
		switch {
		case v.Version.BuildID == shape.Current:
			status = "current"
		case v.Version.BuildID == shape.Ramping:
			status = "ramping"
		case v.DrainageStatus == client.WorkerDeploymentVersionDrainageStatusDraining:
			status = "draining"
		case v.DrainageStatus == client.WorkerDeploymentVersionDrainageStatusDrained:
			status = "drained"
		}
		shape.Versions = append(shape.Versions, versionShape{
			Build: v.Version.BuildID, Status: status, CreatedAt: terminal.Stamp(v.CreateTime),
		})
	}
	return shape, nil
}

func (a *app) deploymentDrainCommand() *cobra.Command {
	cmd, flags := a.deployments(&cobra.Command{
		Use: "drain NAME BUILD", Short: "Wait until no run is left on a build", Args: cli.Operands("name", "build"),
		Example: "  toolcrib deployment drain tools v1.3.2 --timeout 24h --delete",
		Long: `Waits until a build that gets no new work is drained: no run is pinned to it, and
its workers may be stopped. Temporal looks every few minutes. The current and the
ramping build are refused. With --timeout it ends with 6 if runs are left by then;
with --delete the drained version is deleted, once its workers have stopped.`,
	}, func(ctx context.Context, c deploymentClient, flags *deploymentFlags, args []string) error {
		v, err := awaitDrained(ctx, c, flags.drainTimeout, args[0], args[1])
		if err != nil {
			return err
		}
		if !flags.deleteDrained {
			return a.Printer.ShowLine(v, "%s of %s is %s", terminal.Clean(v.Build), terminal.Clean(args[0]), v.Status)
		}
		_, err = c.GetHandle(args[0]).DeleteVersion(ctx, client.WorkerDeploymentDeleteVersionOptions{BuildID: args[1]})
		if err != nil {
			return err
		}
		return a.Printer.ShowLine(v, "%s of %s is %s: deleted", terminal.Clean(v.Build), terminal.Clean(args[0]), v.Status)
	})
	cmd.Flags().DurationVar(&flags.drainTimeout, "timeout", 0, "how long to wait (default: until it is drained)")
	cmd.Flags().BoolVar(&flags.deleteDrained, "delete", false, "delete the version then")
	return cmd
}

// awaitDrained waits until a version has no runs left.
func awaitDrained(
	ctx context.Context, c deploymentClient, timeout time.Duration, name, id string,
) (versionShape, error) {
	var late <-chan time.Time
	if timeout > 0 {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		late = timer.C
	}
	tick := time.NewTicker(drainPoll)
	defer tick.Stop()
	for {
		shape, err := describeDeployment(ctx, c, name)
		if err != nil {
			return versionShape{}, err
		}
		found := versionShape{}
		for _, v := range shape.Versions {
			if v.Build == id {
				found = v
			}
		}
		switch found.Status {
		case "":
			return found, &tool.Error{Kind: tool.NotFound, Op: "deployment", Msg: fmt.Sprintf("%s has no build %q", name, id)}
		case "current", "ramping":
			return found, &tool.Error{Kind: tool.Conflict, Op: "deployment", Msg: fmt.Sprintf(
				"%s is %s in %s and gets new work: set another build current first", id, found.Status, name)}
		case "drained", "inactive":
			return found, nil
		}
		select {
		case <-ctx.Done():
			return found, ctx.Err()
		case <-late:
			return found, &tool.Error{Kind: tool.Unavailable, Op: "deployment", Msg: fmt.Sprintf(
				"%s of %s is still %s after %s", id, name, found.Status, timeout)}
		case <-tick.C:
		}
	}
}
