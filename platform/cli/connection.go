package cli

import (
	"cmp"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
)

// Environment variables that commands read.
const (
	ServerVariable      = "TOOLCRIB_SERVER"                   // URL of the server.
	KeyVariable         = "TOOLCRIB_KEY"                      // API key.
	TokenVariable       = "TOOLCRIB_TOKEN"                    //nolint:gosec // A name: of a token, in the place of a key.
	ContextVariable     = "TOOLCRIB_CONTEXT"                  // Name of the context.
	ConfigVariable      = "TOOLCRIB_CONFIG"                   // File of the contexts.
	DataVariable        = "TOOLCRIB_DATA"                     // Data folder of toolcrib dev.
	DatabaseVariable    = "TOOLCRIB_DATABASE_URL"             // Database of serve, worker, migrate and tenant.
	MaintenanceVariable = "TOOLCRIB_MAINTENANCE_DATABASE_URL" // The same with the login of the reconciler.
	ListenVariable      = "TOOLCRIB_LISTEN"                   // Address that serve listens on.
	QueueVariable       = "TOOLCRIB_TASK_QUEUE"               // Task queue of serve and worker.
)

const (
	defaultServer = "http://127.0.0.1:8080"
	dataFolder    = ".toolcrib"
)

// setting is a value, and a description of its source.
type setting struct{ value, from string }

// connection is the server that commands connect to, and the key.
type connection struct {
	server, key setting
	context     string // Name of the context that gave either; may be empty.
	// kept describes a key that was not used, because it is for another server.
	kept string
}

// source is a place that may name a server and a key.
type source struct {
	server, key setting
	context     string
	// bound: the key is sent only to the server of the same source.
	bound bool
	// found: the user did not name the source, so its server never gets a key
	// from another source.
	found bool
}

// take fills in the settings that are not known yet.
func (c *connection) take(s source) {
	if c.server.value == "" && s.server.value != "" && !(s.found && c.key.value != "") {
		c.server, c.context = s.server, s.context
	}
	switch {
	case c.key.value != "" || s.key.value == "":
	case s.bound && !sameServer(s.server.value, c.server.value):
		c.kept = cmp.Or(c.kept, s.key.from+" has a key, which goes to "+s.server.value+" only")
	default:
		c.key, c.context = s.key, cmp.Or(c.context, s.context)
	}
}

func sameServer(a, b string) bool { return strings.TrimRight(a, "/") == strings.TrimRight(b, "/") }

// connection resolves server and key. Precedence: flags, the environment, the
// context in use, the data folder of toolcrib dev.
func (a *App) connection() (connection, error) {
	c := connection{}
	for _, find := range []func() (source, error){
		func() (source, error) {
			return source{server: setting{a.flags.server, "--server"}, key: setting{a.flags.key, "--key"}}, nil
		},
		func() (source, error) { return a.contextSource(a.flags.context, "--context") },
		func() (source, error) { return a.folderSource(a.flags.data, "--data") },
		func() (source, error) {
			key := setting{a.Env.Getenv(KeyVariable), KeyVariable}
			if key.value == "" {
				key = setting{a.Env.Getenv(TokenVariable), TokenVariable}
			}
			return source{server: setting{a.Env.Getenv(ServerVariable), ServerVariable}, key: key}, nil
		},
		func() (source, error) { return a.contextSource(a.Env.Getenv(ContextVariable), ContextVariable) },
		func() (source, error) { return a.folderSource(a.Env.Getenv(DataVariable), DataVariable) },
		a.currentSource,
		a.nearestSource,
	} {
		if c.server.value != "" && c.key.value != "" {
			break
		}
		s, err := find()
		if err != nil {
			return connection{}, err
		}
		c.take(s)
	}
	if c.server.value == "" {
		c.server = setting{defaultServer, "the default"}
	}
	return c, nil
}

// Connect returns a client of the server the user means.
func (a *App) Connect() (*client.Client, error) { return a.ConnectFor(0) }

// ConnectFor is [App.Connect] with requests that last no longer than timeout.
func (a *App) ConnectFor(timeout time.Duration) (*client.Client, error) {
	c, err := a.connection()
	if err != nil {
		return nil, err
	}
	return client.New(client.Config{
		Server: c.server.value, Key: c.key.value, UserAgent: "toolcrib/" + cmp.Or(a.Env.Version, "dev"), Timeout: timeout,
	})
}

// folderSource is the data folder that the user names.
func (a *App) folderSource(dir, by string) (source, error) {
	if dir == "" {
		return source{}, nil
	}
	s := devSource(dir, "the data folder "+dir+" ("+by+")")
	if s.server.value != "" {
		return s, nil
	}
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return source{}, &tool.Error{
			Kind: tool.NotFound, Msg: fmt.Sprintf("there is no data folder %s (%s)", dir, by), Err: err,
		}
	case !info.IsDir():
		return source{}, &tool.Error{Kind: tool.Invalid, Msg: fmt.Sprintf("%s (%s) is a file, not a data folder", dir, by)}
	case !private(info):
		return source{}, &tool.Error{Kind: tool.Denied, Msg: fmt.Sprintf(
			"others may write to the data folder %s (%s), so what it says is not believed: chmod go-w it", dir, by)}
	}
	return source{}, &tool.Error{Kind: tool.NotFound, Msg: fmt.Sprintf(
		"the data folder %s (%s) names no server and key on this machine: start toolcrib dev --data %s", dir, by, dir)}
}

// nearestSource is the data folder of toolcrib dev, here or above.
func (a *App) nearestSource() (source, error) {
	for _, dir := range a.dataFolders() {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			continue
		}
		s := devSource(dir, "the data folder "+dir)
		s.found = true
		return s, nil
	}
	return source{}, nil
}

// approverSource is the data folder of toolcrib dev with the key that approves calls.
func (a *App) approverSource(by string) (source, error) {
	folders := a.dataFolders()
	if dir := cmp.Or(a.flags.data, a.Env.Getenv(DataVariable)); dir != "" {
		folders = []string{dir}
	}
	for _, dir := range folders {
		s := devSource(dir, "the data folder "+dir)
		if key := line(filepath.Join(dir, "approver-key")); s.server.value != "" && key != "" {
			s.key.value = key
			return s, nil
		}
	}
	return source{}, Usagef("there is no data folder of toolcrib dev with an approver's key here or above, which %s %s "+
		"stands for", by, approverContext)
}

// ApproverFlags returns the flags, with a space before them, by which a command decides on calls that others started:
// those of the key that toolcrib dev keeps for that, and none where the server is not of toolcrib dev.
func (a *App) ApproverFlags() string {
	c, err := a.connection()
	if err != nil {
		return ""
	}
	s, err := a.contextSource(approverContext, "")
	if err != nil || !sameServer(s.server.value, c.server.value) {
		return ""
	}
	flags := " --context " + approverContext
	if a.flags.data != "" {
		flags = " --data " + a.flags.data + flags
	}
	return flags
}

// devSource reads what toolcrib dev left in its data folder. A folder that
// others may write to, or that names a server on another machine, was not left
// there by toolcrib dev.
func devSource(dir, from string) source {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() || !private(info) {
		return source{}
	}
	server, key := line(filepath.Join(dir, "server")), line(filepath.Join(dir, "key"))
	if key == "" || !local(server) {
		return source{}
	}
	return source{server: setting{server, from}, key: setting{key, from}, bound: true}
}

// line returns the trimmed content of a file, and an empty string if it cannot
// be read.
func line(path string) string {
	raw, err := os.ReadFile(path) //nolint:gosec // Below a folder of the user's own.
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}

// local reports whether a URL names this machine.
func local(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil {
		return false
	}
	addr, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && addr.IsLoopback()
}

// dataFolders lists where a data folder is looked for: here and in the folders
// above.
func (a *App) dataFolders() []string {
	dir, err := filepath.Abs(a.Env.Dir)
	if err != nil {
		return nil
	}
	var folders []string
	for {
		folders = append(folders, filepath.Join(dir, dataFolder))
		parent := filepath.Dir(dir)
		if parent == dir {
			return folders
		}
		dir = parent
	}
}
