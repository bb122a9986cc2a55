package peers

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

//go:embed *.js package.json package-lock.json
var sources embed.FS

// UnavailableError reports that peers, or one of them, can't run on this machine.
type UnavailableError struct{ Reason string }

func (e *UnavailableError) Error() string { return e.Reason }

// Installation is a folder with the peers' modules and packages.
type Installation struct {
	node string
	dir  string
}

// nodeMajor is the oldest major version of Node that the modules run on.
const nodeMajor = 20

// installTimeout bounds the download of some 400 MB.
const installTimeout = 15 * time.Minute

// Install installs the peers in dir, which must exist, with npm and from the
// registry of its configuration. Install scripts of packages do not run. It
// fails with an [*UnavailableError] where Node or npm is missing or too old, or
// the packages can't be had.
func Install(ctx context.Context, node, dir string) (*Installation, error) {
	if node == "" {
		return nil, &UnavailableError{fmt.Sprintf("Node %d or later is not installed", nodeMajor)}
	}
	version, err := exec.CommandContext(ctx, node, "--version").Output()
	if err != nil {
		return nil, &UnavailableError{fmt.Sprintf("%s --version: %v", node, err)}
	}
	if err := checkNode(string(version)); err != nil {
		return nil, err
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return nil, &UnavailableError{"npm is not installed"}
	}
	if err := os.CopyFS(dir, sources); err != nil {
		return nil, fmt.Errorf("writing the peers' modules: %w", err)
	}
	if err := installPackages(ctx, npm, dir); err != nil {
		return nil, err
	}
	return &Installation{node: node, dir: dir}, nil
}

// checkNode checks the output of node --version.
func checkNode(version string) error {
	version = strings.TrimSpace(version)
	digits, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	if major, err := strconv.Atoi(digits); err != nil || major < nodeMajor {
		return &UnavailableError{fmt.Sprintf("Node is %s, and %d or later is needed", version, nodeMajor)}
	}
	return nil
}

func installPackages(ctx context.Context, npm, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, installTimeout)
	defer cancel()
	// Two packages name a newer Node than they need.
	cmd := exec.CommandContext(ctx, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--engine-strict=false",
		"--loglevel=error", "--fetch-retries=1", "--fetch-retry-mintimeout=1000")
	cmd.Dir = dir
	said := &tail{}
	cmd.Stdout, cmd.Stderr = said, said
	inOwnGroup(cmd)
	if err := cmd.Run(); err != nil {
		if err := context.Cause(ctx); errors.Is(err, context.Canceled) {
			return fmt.Errorf("installing the peers' packages: %w", err)
		}
		return &UnavailableError{fmt.Sprintf("npm ci: %v: %s", err, beginning(said.String()))}
	}
	return nil
}

// beginning returns the first lines of npm's output, which say what failed.
func beginning(output string) string {
	lines := strings.Split(output, "\n")
	return strings.Join(lines[:min(len(lines), 4)], "; ")
}

// inOwnGroup has a command, with all processes that it starts, killed when its
// context ends.
func inOwnGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
}

// Versions says which versions of its packages a peer is pinned to.
func (p Peer) Versions() (string, error) {
	raw, err := sources.ReadFile("package-lock.json")
	if err != nil {
		return "", fmt.Errorf("reading the peers' versions: %w", err)
	}
	return p.versions(raw)
}

func (p Peer) versions(lock []byte) (string, error) {
	var locked struct {
		Packages map[string]struct {
			Version string `json:"version"`
		} `json:"packages"`
	}
	if err := json.Unmarshal(lock, &locked); err != nil {
		return "", fmt.Errorf("reading the peers' versions: %w", err)
	}
	var versions []string
	for _, name := range p.Packages {
		version := locked.Packages["node_modules/"+name].Version
		if version == "" {
			return "", fmt.Errorf("package-lock.json does not pin %s", name)
		}
		versions = append(versions, name+" "+version)
	}
	return strings.Join(versions, ", "), nil
}

// module is the path of a peer's module.
func (i *Installation) module(p Peer) string { return filepath.Join(i.dir, p.Name+".js") }
