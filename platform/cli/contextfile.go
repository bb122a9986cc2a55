package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/gofrs/flock"

	"github.com/toolcrib/toolcrib/platform/cli/definition"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/schema/jsonpointer"
	"github.com/toolcrib/toolcrib/tool"
)

// localContext is the reserved name of the stack of toolcrib dev, which needs
// no context.
const localContext = "local"

// approverContext is the reserved name of the same stack with the key that approves calls:
// who starts a run never approves its calls.
const approverContext = "approver"

// reserved reports whether a new context cannot have the name.
func reserved(name string) bool { return name == localContext || name == approverContext }

var contextName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// contextConfig is a server with a name, and where its key is.
type contextConfig struct {
	Server string `json:"server" yaml:"server"`
	// One of them at most. A file may be named from the folder of the contexts.
	KeyFile string `json:"key_file,omitempty" yaml:"key_file,omitempty"`
	KeyEnv  string `json:"key_env,omitempty" yaml:"key_env,omitempty"`
}

// contextFile is what the file of the contexts holds.
type contextFile struct {
	Current  string                   `json:"current,omitempty" yaml:"current,omitempty"`
	Contexts map[string]contextConfig `json:"contexts,omitempty" yaml:"contexts,omitempty"`
}

// configFile returns the file of the contexts: in the folder where the system
// keeps the settings of a user, or where the user says.
func (a *App) configFile() (string, error) {
	if named := a.Env.Getenv(ConfigVariable); named != "" {
		return filepath.Abs(named)
	}
	home := a.Env.Getenv("HOME")
	dir := a.Env.Getenv("XDG_CONFIG_HOME")
	switch {
	case dir != "":
	case runtime.GOOS == "windows":
		dir = a.Env.Getenv("AppData")
	case home == "":
	case runtime.GOOS == "darwin":
		dir = filepath.Join(home, "Library", "Application Support")
	default:
		dir = filepath.Join(home, ".config")
	}
	if dir == "" {
		return "", nil
	}
	return filepath.Join(dir, "toolcrib", "config.yaml"), nil
}

// readContexts reads the contexts; there are none where there is no file.
func (a *App) readContexts() (path string, contexts contextFile, err error) {
	path, err = a.configFile()
	if err != nil || path == "" {
		return path, contextFile{}, err
	}
	contexts, err = loadContexts(path)
	return path, contexts, err
}

func loadContexts(path string) (contextFile, error) {
	raw, err := os.ReadFile(path) //nolint:gosec // Its user's settings.
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return contextFile{}, nil
	case err != nil:
		return contextFile{}, fmt.Errorf("reading the contexts: %w", err)
	}
	documents, err := definition.Parse(path, raw)
	if err != nil || len(documents) == 0 {
		return contextFile{}, err
	}
	return readContextDocument(documents[0])
}

// readContextDocument checks a file of contexts; an error names its line.
func readContextDocument(d definition.Document) (contextFile, error) {
	var top struct {
		Current  string                     `json:"current"`
		Contexts map[string]json.RawMessage `json:"contexts"`
	}
	if err := d.Decode("", d.Raw, &top, "current", "contexts"); err != nil {
		return contextFile{}, err
	}
	out := contextFile{Current: top.Current, Contexts: make(map[string]contextConfig)}
	for name, raw := range top.Contexts {
		var c contextConfig
		at := "/contexts/" + jsonpointer.Escape(name)
		if err := d.Decode(at, raw, &c, "server", "key_file", "key_env"); err != nil {
			return contextFile{}, err
		}
		switch {
		case !contextName.MatchString(name) || name == localContext:
			return contextFile{}, d.Fault(at, badContextName(name))
		case !isServer(c.Server):
			return contextFile{}, d.Fault(at+"/server", fmt.Sprintf("the server %q is no http or https URL", c.Server))
		case c.KeyFile != "" && c.KeyEnv != "":
			return contextFile{}, d.Fault(at+"/key_env", "give one of key_file and key_env")
		}
		out.Contexts[name] = c
	}
	if _, ok := out.Contexts[out.Current]; out.Current != "" && !ok {
		return contextFile{}, d.Fault("/current", fmt.Sprintf("there is no context %q", out.Current))
	}
	return out, nil
}

func badContextName(name string) string {
	if reserved(name) {
		return name + " is the stack of toolcrib dev: choose another name"
	}
	return fmt.Sprintf("%q is no name of a context: expected letters, digits, dots, dashes and underscores, at most 64",
		name)
}

func sortedNames(contexts map[string]contextConfig) []string {
	return slices.Sorted(maps.Keys(contexts))
}

// changeContexts changes the file of the contexts. Processes that do so at once
// take turns, and a reader sees the file before or after, never half of it.
func (a *App) changeContexts(change func(dir string, c *contextFile) error) error {
	path, err := a.configFile()
	if err != nil {
		return err
	}
	if path == "" {
		return Usagef("there is no place for contexts: set HOME, XDG_CONFIG_HOME or %s", ConfigVariable)
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making the folder of the contexts: %w", err)
	}
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("locking the contexts: %w", err)
	}
	defer func() { _ = lock.Close() }() // The system releases it when the process ends, too.
	contexts, err := loadContexts(path)
	if err != nil {
		return err
	}
	if contexts.Contexts == nil {
		contexts.Contexts = make(map[string]contextConfig)
	}
	if err := change(dir, &contexts); err != nil {
		return err
	}
	raw, err := yaml.Marshal(contexts)
	if err != nil {
		return fmt.Errorf("writing the contexts: %w", err)
	}
	return writeWhole(path, raw)
}

// writeWhole replaces a file with one that only its owner reads.
func writeWhole(path string, raw []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // Mode 0600.
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	_, err = file.Write(raw)
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, errors.Join(err, os.Remove(file.Name())))
	}
	return nil
}

// contextSource returns the context of a name; by is the flag or variable that
// gave the name.
func (a *App) contextSource(name, by string) (source, error) {
	switch name {
	case "":
		return source{}, nil
	case localContext:
		s, err := a.nearestSource()
		if err == nil && s.server.value == "" {
			err = Usagef("there is no data folder of toolcrib dev here or above, which %s %s stands for", by, localContext)
		}
		s.found = false
		return s, err
	}
	path, contexts, err := a.readContexts()
	if err != nil {
		return source{}, err
	}
	c, ok := contexts.Contexts[name]
	switch {
	case name == approverContext && (!ok || a.flags.data != ""): // The user's own may be older than the reserved name.
		return a.approverSource(by)
	case ok:
		return a.readContext(path, name, c, by)
	default:
		return source{}, noContext(name, contexts)
	}
}

func noContext(name string, contexts contextFile) error {
	return &tool.Error{Kind: tool.NotFound, Msg: fmt.Sprintf("there is no context %q%s", name,
		cmp.Or(terminal.DidYouMean(name, sortedNames(contexts.Contexts)), ": toolcrib context list shows those there are"))}
}

// currentSource is the context in use, unless another is named.
func (a *App) currentSource() (source, error) {
	if cmp.Or(a.flags.context, a.Env.Getenv(ContextVariable)) != "" {
		return source{}, nil
	}
	path, contexts, err := a.readContexts()
	if err != nil || contexts.Current == "" {
		return source{}, err
	}
	return a.readContext(path, contexts.Current, contexts.Contexts[contexts.Current], "in use")
}

// readContext reads what a context says, its key too.
func (a *App) readContext(path, name string, c contextConfig, by string) (source, error) {
	from := fmt.Sprintf("context %s (%s)", name, by)
	s := source{server: setting{c.Server, from}, context: name, bound: true}
	switch {
	case c.KeyEnv != "":
		s.key = setting{a.Env.Getenv(c.KeyEnv), from + ", the variable " + c.KeyEnv}
		if s.key.value == "" {
			return source{}, Usagef("the context %q takes its key from the variable %s, which is not set", name, c.KeyEnv)
		}
	case c.KeyFile != "":
		file := keyPath(path, c.KeyFile)
		key, err := readKeyFile(file, filepath.Dir(path))
		if err != nil {
			return source{}, err
		}
		s.key = setting{key, from + ", the file " + file}
	}
	return s, nil
}

// keyPath returns the file of a key, which may be named from the folder of the
// contexts.
func keyPath(config, file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(filepath.Dir(config), file)
}

// readKeyFile reads a key. Those that are kept with the contexts must be for
// their owner's eyes only.
func readKeyFile(file, dir string) (string, error) {
	info, err := os.Stat(file)
	if err != nil {
		return "", Usagef("the file %s, where a context keeps its key, cannot be read: %v", file, errors.Unwrap(err))
	}
	if within, err := filepath.Rel(dir, file); err == nil && filepath.IsLocal(within) && exposed(info) {
		return "", Usagef("others may read the key in %s: chmod 600 it", file)
	}
	key := line(file)
	if key == "" || strings.ContainsAny(key, "\r\n") {
		return "", Usagef("the file %s, where a context keeps its key, holds no key", file)
	}
	return key, nil
}
