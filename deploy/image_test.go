package deploy_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// The image is built in two stages from files that a clone has, and runs the lean
// binary as an unprivileged user, without a shell.
func TestDockerfile(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("Dockerfile")
	require.NoError(t, err)
	ignored, err := os.ReadFile("../.dockerignore")
	require.NoError(t, err)
	var stages, users, entrypoints []string
	for line := range strings.SplitSeq(string(raw), "\n") {
		instruction, rest, _ := strings.Cut(line, " ")
		words := strings.Fields(rest)
		switch instruction {
		case "FROM":
			stages = append(stages, rest)
		case "USER":
			users = append(users, rest)
		case "ENTRYPOINT":
			entrypoints = append(entrypoints, rest)
		case "COPY":
			if strings.HasPrefix(rest, "--from=") {
				require.Contains(t, rest, "/out/toolcrib")
				continue
			}
			for _, source := range words[:len(words)-1] {
				_, err := os.Stat(filepath.Join("..", source))
				require.NoError(t, err, line)
				require.NotContains(t, strings.Split(string(ignored), "\n"), source, "an image is not given it")
			}
		}
	}
	require.Len(t, stages, 2)
	require.Regexp(t, `^gcr\.io/distroless/static-`, stages[1])
	require.Equal(t, []string{"65532:65532"}, users)
	require.Equal(t, []string{`["/usr/local/bin/toolcrib"]`}, entrypoints)
	require.Contains(t, string(raw), "CGO_ENABLED=0 go build -trimpath -tags lean")

	mod, err := os.ReadFile("../platform/go.mod")
	require.NoError(t, err)
	version := regexp.MustCompile(`(?m)^go (\S+)$`).FindSubmatch(mod)
	require.Contains(t, stages[0], "golang:"+string(version[1])+"-", "the toolchain that the module asks for")
}

type composeService struct {
	Image       string         `json:"image"`
	Command     []string       `json:"command"`
	Environment map[string]any `json:"environment"`
	ReadOnly    bool           `json:"read_only"`
	CapDrop     []string       `json:"cap_drop"`
	Healthcheck *struct {
		Test []string `json:"test"`
	} `json:"healthcheck"`
	DependsOn map[string]struct {
		Condition string `json:"condition"`
	} `json:"depends_on"`
	Volumes []string `json:"volumes"`
}

// The database is healthy before it is migrated, and migrated before anything serves.
// No password stands in the file.
func TestCompose(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("compose.yaml")
	require.NoError(t, err)
	var file struct {
		Services map[string]composeService `json:"services"`
	}
	require.NoError(t, yaml.Unmarshal(raw, &file))
	waits := func(service, on, condition string) {
		t.Helper()
		require.Equal(t, condition, file.Services[service].DependsOn[on].Condition, "%s after %s", service, on)
	}
	waits("migrate", "database", "service_healthy")
	waits("logins", "migrate", "service_completed_successfully")
	for _, name := range []string{"serve", "worker"} {
		waits(name, "logins", "service_completed_successfully")
		waits(name, "temporal", "service_healthy")
		service := file.Services[name]
		require.Equal(t, []string{name}, service.Command, "the file has its settings")
		file, _ := service.Environment["TOOLCRIB_SETTINGS"].(string)
		require.Contains(t, service.Volumes, "./compose-settings.yaml:"+file+":ro")
		require.True(t, service.ReadOnly)
		require.Equal(t, []string{"ALL"}, service.CapDrop)
		require.Equal(t, "ready", service.Healthcheck.Test[2], "the image has no other program")
	}
	for name, service := range file.Services {
		require.NotContains(t, service.Image, "auto-setup")
		for variable, value := range service.Environment {
			text, _ := value.(string)
			if strings.HasSuffix(variable, "PASSWORD") || strings.HasSuffix(variable, "DATABASE_URL") {
				require.Contains(t, text, "${", "%s: %s", name, variable)
			}
		}
		for _, volume := range service.Volumes {
			if source, _, _ := strings.Cut(volume, ":"); strings.HasPrefix(source, "./") {
				_, err := os.Stat(source)
				require.NoError(t, err)
			}
		}
	}
}
