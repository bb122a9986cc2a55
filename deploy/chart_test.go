// Package deploy_test holds what operators deploy to what it promises: the Helm
// chart, the image and the compose file.
package deploy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

const chartFolder = "helm/toolcrib"

// kinds are the types that Kubernetes has for what the chart makes.
var kinds = map[string]func() any{
	"apps/v1 Deployment":                     func() any { return &appsv1.Deployment{} },
	"batch/v1 Job":                           func() any { return &batchv1.Job{} },
	"v1 Service":                             func() any { return &corev1.Service{} },
	"v1 ConfigMap":                           func() any { return &corev1.ConfigMap{} },
	"v1 ServiceAccount":                      func() any { return &corev1.ServiceAccount{} },
	"autoscaling/v2 HorizontalPodAutoscaler": func() any { return &autoscalingv2.HorizontalPodAutoscaler{} },
	"policy/v1 PodDisruptionBudget":          func() any { return &policyv1.PodDisruptionBudget{} },
	"networking.k8s.io/v1 NetworkPolicy":     func() any { return &networkingv1.NetworkPolicy{} },
	"networking.k8s.io/v1 Ingress":           func() any { return &networkingv1.Ingress{} },
	// Of definitions that a cluster may have; their fields are asserted by hand.
	"monitoring.coreos.com/v1 ServiceMonitor": func() any { return &map[string]any{} },
	"gateway.networking.k8s.io/v1 HTTPRoute":  func() any { return &map[string]any{} },
}

// render renders the chart as an upgrade of the release "crib" to its third revision,
// and decodes strictly what it makes, by kind and name.
func render(t *testing.T, values map[string]any) (map[string]any, error) {
	t.Helper()
	loaded, err := loader.Load(chartFolder)
	require.NoError(t, err)
	ready, err := util.ToRenderValues(loaded, values, common.ReleaseOptions{
		Name: "crib", Namespace: "tools", Revision: 3, IsUpgrade: true,
	}, common.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	files, err := engine.Render(loaded, ready)
	if err != nil {
		return nil, err
	}
	objects := map[string]any{}
	for name, text := range files {
		if !strings.HasSuffix(name, ".yaml") {
			continue
		}
		for document := range strings.SplitSeq("\n"+text, "\n---") {
			var head metav1.PartialObjectMetadata
			require.NoError(t, yaml.Unmarshal([]byte(document), &head), "%s:\n%s", name, document)
			if head.Kind == "" {
				continue
			}
			newObject, known := kinds[head.APIVersion+" "+head.Kind]
			require.True(t, known, "%s makes a %s of %s", name, head.Kind, head.APIVersion)
			object := newObject()
			require.NoError(t, yaml.UnmarshalStrict([]byte(document), object), "%s:\n%s", name, document)
			key := head.Kind + " " + head.Name
			require.NotContains(t, objects, key)
			objects[key] = object
		}
	}
	return objects, nil
}

// as returns an object of a chart, which is a T.
func as[T any](t *testing.T, objects map[string]any, name string) *T {
	t.Helper()
	require.IsType(t, new(T), objects[name])
	object, _ := objects[name].(*T)
	return object
}

// ciValues are the values that the chart is rendered with, by file.
func ciValues(t *testing.T) map[string]map[string]any {
	t.Helper()
	files, err := filepath.Glob(chartFolder + "/ci/*-values.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	all := map[string]map[string]any{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		values := map[string]any{}
		require.NoError(t, yaml.UnmarshalStrict(raw, &values))
		all[strings.TrimSuffix(filepath.Base(file), "-values.yaml")] = values
	}
	return all
}

// pods are the pods that the objects run, by name.
func pods(objects map[string]any) map[string]corev1.PodSpec {
	out := map[string]corev1.PodSpec{}
	for name, object := range objects {
		switch o := object.(type) {
		case *appsv1.Deployment:
			out[name] = o.Spec.Template.Spec
		case *batchv1.Job:
			out[name] = o.Spec.Template.Spec
		}
	}
	return out
}

// Each of the values lints and renders, and what comes out decodes strictly into the
// types of Kubernetes; no Secret is among it.
func TestChartRenders(t *testing.T) {
	t.Parallel()
	for name, values := range ciValues(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, message := range lint.RunAll(chartFolder, values, "tools").Messages {
				require.Less(t, message.Severity, support.WarningSev, message.Error())
			}
			objects, err := render(t, values)
			require.NoError(t, err)
			require.Contains(t, objects, "Deployment crib-toolcrib-api")
			require.Contains(t, objects, "Deployment crib-toolcrib-worker")
		})
	}
	full, err := render(t, ciValues(t)["full"])
	require.NoError(t, err)
	for _, want := range []string{
		"HorizontalPodAutoscaler crib-toolcrib-api", "HorizontalPodAutoscaler crib-toolcrib-worker",
		"PodDisruptionBudget crib-toolcrib-worker", "ServiceMonitor crib-toolcrib", "Ingress crib-toolcrib-api",
		"HTTPRoute crib-toolcrib-api", "NetworkPolicy crib-toolcrib-api", "NetworkPolicy crib-toolcrib-worker",
	} {
		require.Contains(t, full, want)
	}
	require.Nil(t, as[appsv1.Deployment](t, full, "Deployment crib-toolcrib-api").Spec.Replicas,
		"the autoscaler counts them")
}

// No pod is root's, has a token, may gain privileges or write to its image, and each
// says what it needs.
func TestChartPodsHaveNoPrivileges(t *testing.T) {
	t.Parallel()
	for name, values := range ciValues(t) {
		objects, err := render(t, values)
		require.NoError(t, err)
		for pod, spec := range pods(objects) {
			at := name + ": " + pod
			require.False(t, *spec.AutomountServiceAccountToken, at)
			require.True(t, *spec.SecurityContext.RunAsNonRoot, at)
			require.NotZero(t, *spec.SecurityContext.RunAsUser, at)
			require.Equal(t, corev1.SeccompProfileTypeRuntimeDefault, spec.SecurityContext.SeccompProfile.Type, at)
			for _, c := range spec.Containers {
				require.False(t, *c.SecurityContext.AllowPrivilegeEscalation, at)
				require.True(t, *c.SecurityContext.ReadOnlyRootFilesystem, at)
				require.Equal(t, []corev1.Capability{"ALL"}, c.SecurityContext.Capabilities.Drop, at)
				require.False(t, c.Resources.Requests.Memory().IsZero(), at)
				require.False(t, c.Resources.Limits.Memory().IsZero(), at)
			}
		}
	}
}

// Servers and workers have three probes, and workers the time to finish calls.
func TestChartProbesAndGrace(t *testing.T) {
	t.Parallel()
	for name, values := range ciValues(t) {
		objects, err := render(t, values)
		require.NoError(t, err)
		for _, component := range []string{"api", "worker"} {
			spec := as[appsv1.Deployment](t, objects, "Deployment crib-toolcrib-"+component).Spec.Template.Spec
			c := spec.Containers[0]
			require.Equal(t, "/healthz", c.StartupProbe.HTTPGet.Path, name)
			require.Equal(t, "/healthz", c.LivenessProbe.HTTPGet.Path, name)
			require.Equal(t, "/readyz", c.ReadinessProbe.HTTPGet.Path, name)
			require.Greater(t, *spec.TerminationGracePeriodSeconds, int64(45), "%s: %s has 30 s for what runs", name, component)
		}
	}
}

// The login of the owner is the migration's alone, and every secret comes from a Secret
// of the operator's.
func TestChartSecrets(t *testing.T) {
	t.Parallel()
	for name, values := range ciValues(t) {
		objects, err := render(t, values)
		require.NoError(t, err)
		for pod, spec := range pods(objects) {
			for _, v := range spec.Containers[0].Env {
				if strings.HasSuffix(v.Name, "DATABASE_URL") || strings.HasSuffix(v.Name, "API_KEY") || v.Name == "TOOLCRIB_KEK" ||
					v.Name == "TOOLCRIB_PAYLOAD_KEYS" {
					require.Empty(t, v.Value, "%s: %s", name, pod)
					require.NotNil(t, v.ValueFrom.SecretKeyRef, "%s: %s", name, pod)
					isOwner := v.ValueFrom.SecretKeyRef.Key == "owner-url"
					require.Equal(t, strings.HasPrefix(pod, "Job "), isOwner, "%s: %s", name, pod)
				}
			}
		}
	}
}

// settingsIn returns what is in the file of settings of a chart.
func settingsIn(t *testing.T, objects map[string]any) map[string]any {
	t.Helper()
	text := as[corev1.ConfigMap](t, objects, "ConfigMap crib-toolcrib-settings").Data["settings.yaml"]
	settings := map[string]any{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), &settings), text)
	return settings
}

// Servers and workers read the settings of the values from a file, and begin anew when it changes. The
// migration, which comes before the file, does not; without settings there is none.
func TestChartSettings(t *testing.T) {
	t.Parallel()
	values := ciValues(t)["full"]
	objects, err := render(t, values)
	require.NoError(t, err)
	require.Equal(t, values["settings"], settingsIn(t, objects))
	text := as[corev1.ConfigMap](t, objects, "ConfigMap crib-toolcrib-settings").Data["settings.yaml"]
	require.Contains(t, text, "max-unfinished-runs: 2000000\n", "whole numbers have no exponent")
	for pod, spec := range pods(objects) {
		c := spec.Containers[0]
		file := variable(c, "TOOLCRIB_SETTINGS")
		if strings.HasPrefix(pod, "Job ") {
			require.Empty(t, file, pod)
			continue
		}
		require.Equal(t, "/etc/toolcrib/settings/settings.yaml", file, pod)
		require.Contains(t, c.VolumeMounts,
			corev1.VolumeMount{Name: "settings", MountPath: filepath.Dir(file), ReadOnly: true})
		volumes := map[string]corev1.VolumeSource{}
		for _, v := range spec.Volumes {
			volumes[v.Name] = v.VolumeSource
		}
		require.Equal(t, "crib-toolcrib-settings", volumes["settings"].ConfigMap.Name)
	}
	begins := func(objects map[string]any, component string) map[string]string {
		return as[appsv1.Deployment](t, objects, "Deployment crib-toolcrib-"+component).Spec.Template.Annotations
	}
	values["settings"] = map[string]any{"max-unfinished-runs": 2}
	changed, err := render(t, values)
	require.NoError(t, err)
	none, err := render(t, ciValues(t)["default"])
	require.NoError(t, err)
	for _, component := range []string{"api", "worker"} {
		require.NotEmpty(t, begins(objects, component))
		require.NotEqual(t, begins(objects, component), begins(changed, component))
		require.Empty(t, begins(none, component))
	}
	require.NotContains(t, none, "ConfigMap crib-toolcrib-settings")
	for pod, spec := range pods(none) {
		require.Empty(t, variable(spec.Containers[0], "TOOLCRIB_SETTINGS"), pod)
	}
}

// variable returns the value of a container's variable.
func variable(c corev1.Container, name string) string {
	for _, v := range c.Env {
		if v.Name == name {
			return v.Value
		}
	}
	return ""
}

// Every setting that the documentation lists can be a value of the chart, unless the chart sets it itself,
// which it says. What is secret is a reference to a variable, never a value.
func TestChartTakesEverySetting(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/settings.md")
	require.NoError(t, err)
	_, example, found := strings.Cut(string(page), "```yaml\n")
	require.True(t, found)
	example, _, _ = strings.Cut(example, "```")
	documented := map[string]any{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(example), &documented))
	require.Greater(t, len(documented), 40)
	with := func(name string, value any) (map[string]any, error) {
		return render(t, map[string]any{"settings": map[string]any{name: value}})
	}
	own, taken := 0, 0
	elsewhere := map[string]any{"env": "ELSEWHERE"}
	for name, value := range documented {
		_, err := with(name, elsewhere)
		if err != nil {
			require.ErrorContains(t, err, "settings."+name+": the chart sets it")
			own++
			continue
		}
		_, isReference := value.(map[string]any)
		if isReference || strings.HasSuffix(name, "_KEY") || strings.HasSuffix(name, "_KEY_ID") {
			_, err = with(name, "planted-secret")
			require.ErrorContains(t, err, "values don't meet the specifications of the schema", name)
			value = elsewhere
		}
		objects, err := with(name, value)
		require.NoError(t, err, name)
		require.Equal(t, map[string]any{name: value}, settingsIn(t, objects))
		taken++
	}
	require.Greater(t, taken, own)
	for _, name := range []string{"listen", "database-url", "temporal-address", "kek-file"} {
		_, err := with(name, elsewhere)
		require.ErrorContains(t, err, "settings."+name+": the chart sets it")
	}
}

// The migration is a hook before everything else, or a plain Job that the next revision
// does not collide with. It has a deadline, and is kept when it fails.
func TestChartMigration(t *testing.T) {
	t.Parallel()
	all := ciValues(t)
	objects, err := render(t, all["default"])
	require.NoError(t, err)
	hook := as[batchv1.Job](t, objects, "Job crib-toolcrib-migrate")
	require.Equal(t, "pre-install,pre-upgrade", hook.Annotations["helm.sh/hook"])
	require.NotContains(t, hook.Annotations["helm.sh/hook-delete-policy"], "hook-failed")
	require.Empty(t, hook.Spec.Template.Spec.ServiceAccountName, "the chart's account is not there yet")
	require.Positive(t, *hook.Spec.ActiveDeadlineSeconds)

	objects, err = render(t, all["plain-job"])
	require.NoError(t, err)
	plain := as[batchv1.Job](t, objects, "Job crib-toolcrib-migrate-3")
	require.Empty(t, plain.Annotations)
	require.Nil(t, plain.Spec.TTLSecondsAfterFinished, "a Job that failed is kept")
	require.Positive(t, *plain.Spec.ActiveDeadlineSeconds)
}

// Values that the chart does not have, or that are of another type, are refused.
func TestChartRefusesUnknownValues(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"workers: {replicas: 3}", "worker: {replica: 3}", "api: {replicas: many}", "database: {url: postgres://x}",
		"api: {service: {type: Cluster}}",
		"settings: {only-host: {hosts: [a]}}", "settings: {OPENAI_API_KEY: planted-secret}",
		"settings: {a b: c}",
	} {
		values := map[string]any{}
		require.NoError(t, yaml.Unmarshal([]byte(text), &values))
		_, err := render(t, values)
		require.ErrorContains(t, err, "values don't meet the specifications of the schema", text)
	}
	_, err := render(t, map[string]any{"ingress": map[string]any{"enabled": true}})
	require.ErrorContains(t, err, "ingress.host is required")
}
