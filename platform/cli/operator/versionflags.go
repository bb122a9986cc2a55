package operator

import (
	"regexp"
	"runtime/debug"

	"github.com/spf13/cobra"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/toolcrib/toolcrib/platform/cli"
)

// versionFlags make a worker a version of a Worker Deployment.
type versionFlags struct{ deployment, build string }

// deploymentName is what Temporal and the controller for Kubernetes take as a name;
// buildName is the same for a build, where dots are allowed.
var (
	deploymentName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_/-]{0,62}$`)
	buildName      = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)
)

func (f *versionFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.deployment, "deployment", "",
		"Worker Deployment that the worker belongs to; none for workers without versions (TEMPORAL_DEPLOYMENT_NAME)")
	cmd.Flags().StringVar(&f.build, "build-id", "",
		"build that the worker is of its deployment (default: the binary's version or revision; TEMPORAL_WORKER_BUILD_ID)")
}

// options returns the deployment options of a worker, of the build if the flags name
// none. The zero value is a worker without a version.
func (f *versionFlags) options(build string) (sdkworker.DeploymentOptions, error) {
	if f.deployment == "" {
		if f.build != "" {
			return sdkworker.DeploymentOptions{}, cli.Usagef("--build-id needs --deployment, whose build it is")
		}
		return sdkworker.DeploymentOptions{}, nil
	}
	if !deploymentName.MatchString(f.deployment) {
		return sdkworker.DeploymentOptions{}, cli.Usagef(
			"--deployment %q: expected 1 to 63 letters, digits, _, - or /, without dots", f.deployment)
	}
	if f.build != "" {
		build = f.build
	}
	switch {
	case build == "":
		return sdkworker.DeploymentOptions{}, cli.Usagef(
			"this binary was built without a version or revision: give --build-id")
	case !buildName.MatchString(build):
		return sdkworker.DeploymentOptions{}, cli.Usagef("--build-id %q: expected 1 to 63 letters, digits, ., _ or -", build)
	}
	return sdkworker.DeploymentOptions{
		UseVersioning: true,
		Version:       sdkworker.WorkerDeploymentVersion{DeploymentName: f.deployment, BuildID: build},
	}, nil
}

// buildID returns the version or revision that the binary was built from; empty where
// neither is known or the sources differed from the revision.
func buildID() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return buildOf(info)
}

var notInBuild = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

func buildOf(info *debug.BuildInfo) string {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if settings["vcs.modified"] == "true" {
		return ""
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return notInBuild.ReplaceAllString(v, "-")
	}
	return settings["vcs.revision"]
}
