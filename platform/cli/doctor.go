package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/payload"
	"github.com/toolcrib/toolcrib/internal/vault"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/platform/dev/programs"
	"github.com/toolcrib/toolcrib/platform/doctor"
	"github.com/toolcrib/toolcrib/platform/serve"
)

func (a *App) doctorCommand() *cobra.Command {
	var database, queue string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look at what Toolcrib stands on, and say what mends it",
		Long: `Looks at PostgreSQL, the database and its role and schema, Temporal with its
namespace and workers, the API and the key, ports, the data folder and the
models' keys, from where you are. It changes nothing and takes at most 15
seconds. A line with "→" is what mends the one above.

It ends with 0 if nothing is broken, and with 1 otherwise; a warning is no
failure.`,
		Example: `  toolcrib doctor
  toolcrib doctor --json | jq '.items[] | select(.status != "ok")'`,
		Args: Operands(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.doctor(cmd.Context(), cmp.Or(database, a.Env.Getenv(DatabaseVariable)),
				cmp.Or(queue, a.Env.Getenv(QueueVariable), serve.DefaultTaskQueue))
		},
	}
	cmd.Flags().StringVar(
		&queue, "task-queue", "", "where workers should listen (default "+serve.DefaultTaskQueue+"; "+QueueVariable+")",
	)
	DatabaseFlag(cmd, &database)
	return cmd
}

func (a *App) doctor(ctx context.Context, database, queue string) error {
	cfg, done, err := a.doctorConfig(database, queue)
	if err != nil {
		return err
	}
	defer done()
	findings := doctor.Run(ctx, cfg)
	if err := a.Printer.Show(v1.Page[doctor.Finding]{Items: findings}, func(w io.Writer) error {
		return writeFindings(w, findings)
	}); err != nil {
		return err
	}
	if doctor.Failed(findings) {
		return &ExitError{Code: ExitFailure}
	}
	return nil
}

// doctorConfig returns the checks' configuration: what other commands would
// connect to.
func (a *App) doctorConfig(database, queue string) (cfg doctor.Config, done func(), err error) {
	connection, err := a.connection()
	if err != nil && a.folderFault() == nil {
		return cfg, nil, err
	}
	dir := a.doctorFolder()
	cfg = doctor.Config{
		DatabaseURL: database, Programs: programs.Machine(), TaskQueue: queue, DataDir: dir,
		APINamed: connection.server.value != defaultServer, HasKey: connection.key.value != "",
		Ports: []doctor.Port{
			{Number: 8080, Service: "the API"},
			{Number: 7233, Service: "Temporal"},
			{Number: 8233, Service: "Temporal's UI"},
			{Number: 54320, Service: "PostgreSQL"},
		},
		Models: a.modelVariables(),
		Secrets: append(passwords(database), connection.key.value, a.Env.Getenv("TEMPORAL_API_KEY"),
			a.Env.Getenv(vault.KeyVariable), a.Env.Getenv(payload.KeysVariable)),
	}
	keys, err := a.Keyring("")
	cfg.Encryption, cfg.EncryptionError = keys.IDs(), err
	cfg.PayloadKeys, cfg.PayloadKeysError = a.PayloadKeys("")
	if cfg.Temporal, err = serve.TemporalOptions(Environment(a.Env.Environ), slog.New(slog.DiscardHandler)); err != nil {
		return cfg, nil, err
	}
	cfg.TemporalNamed = cfg.Temporal.HostPort != ""
	if at := line(filepath.Join(dir, "temporal-address")); !cfg.TemporalNamed && at != "" && local("tcp://"+at) {
		cfg.Temporal.HostPort = at // Of toolcrib dev.
	}
	c, err := a.Connect()
	if err != nil {
		cfg.APIError = err
		return cfg, func() {}, nil //nolint:nilerr // Reported as a finding.
	}
	cfg.API = visitor{c}
	return cfg, c.Close, nil
}

// folderFault returns why the data folder that the user names cannot be used.
// The doctor reports it as a finding.
func (a *App) folderFault() error {
	if a.flags.data != "" {
		_, err := a.folderSource(a.flags.data, "--data")
		return err
	}
	_, err := a.folderSource(a.Env.Getenv(DataVariable), DataVariable)
	return err
}

// doctorFolder is the data folder that toolcrib dev would use.
func (a *App) doctorFolder() string {
	if named := cmp.Or(a.flags.data, a.Env.Getenv(DataVariable)); named != "" {
		return named
	}
	folders := a.dataFolders()
	for _, dir := range folders {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir
		}
	}
	if len(folders) == 0 {
		return dataFolder
	}
	return folders[0]
}

// modelVariables lists the variables that give models their keys.
func (a *App) modelVariables() []doctor.Variable {
	found := []doctor.Variable{}
	for _, name := range []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY"} {
		found = append(found, doctor.Variable{Name: name, Set: a.Env.Getenv(name) != ""})
	}
	for _, entry := range a.Env.Environ {
		name, value, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, "TOOLCRIB_MODEL_") && strings.HasSuffix(name, "_BASE_URL") {
			found = append(found, doctor.Variable{Name: name, Set: value != ""})
		}
	}
	return found
}

// passwords returns the secrets in a database's URL, as they are written there
// and decoded.
func passwords(database string) []string {
	u, err := url.Parse(database)
	if err != nil || u.User == nil {
		return nil
	}
	password, _ := u.User.Password()
	return []string{password, url.QueryEscape(password), url.PathEscape(password)}
}

// visitor implements the API that package doctor checks.
type visitor struct{ *client.Client }

// CheckKey makes a request with the key. A refusal for a missing permission is
// no error: the key is valid.
func (v visitor) CheckKey(ctx context.Context) error {
	_, err := v.ListTools(ctx, client.ToolQuery{Page: client.Page{Limit: 1}})
	if p, ok := client.Problem(err); ok && p.Status == http.StatusForbidden {
		return nil // The key is valid, and lacks this permission.
	}
	return err
}

// ExpiringKeys names the keys that expire until then, and were used within 30 days.
func (v visitor) ExpiringKeys(ctx context.Context, until time.Time) ([]string, error) {
	keys, err := v.ListKeys(ctx, client.KeyQuery{})
	if err != nil {
		return nil, err
	}
	var names []string
	now := time.Now()
	for _, k := range keys {
		used := k.LastUsedAt != nil && now.Sub(*k.LastUsedAt) < 30*24*time.Hour
		if used && k.RevokedAt == nil && k.ExpiresAt != nil && k.ExpiresAt.After(now) && k.ExpiresAt.Before(until) {
			names = append(names, k.Name)
		}
	}
	return names, nil
}

func writeFindings(w io.Writer, findings []doctor.Finding) error {
	for _, f := range findings {
		line := fmt.Sprintf("%-4s  %-20s  %s\n", f.Status, f.Check, terminal.Clean(f.Found))
		if f.Mend != "" {
			line += fmt.Sprintf("%28s→ %s\n", "", terminal.Clean(f.Mend))
		}
		if _, err := io.WriteString(w, line); err != nil {
			return err
		}
	}
	return nil
}
