package devstack

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

const superuser = "postgres"

// hostAuthentication lets in who knows the password, from this machine only.
const hostAuthentication = "host all all 127.0.0.1/32 scram-sha-256\n"

// majorOf returns the PostgreSQL major version that made the cluster, 0 if
// there is none yet.
func (h clusterHome) major() (int, error) {
	raw, err := os.ReadFile(filepath.Join(h.data(), "PG_VERSION"))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reading the cluster's version: %w", err)
	}
	major, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		return 0, fmt.Errorf("reading the cluster's version: %w", err)
	}
	return major, nil
}

// initialize makes the cluster. It is made under another name and renamed when
// complete, so that a start cut short leaves nothing half made.
func (h clusterHome) initialize(ctx context.Context, bin binaries) error {
	partial := h.data() + ".partial"
	if err := os.RemoveAll(partial); err != nil {
		return fmt.Errorf("removing an unfinished cluster: %w", err)
	}
	if err := h.writePassword(); err != nil {
		return err
	}
	args := []string{
		"--pgdata=" + partial, "--username=" + superuser, "--pwfile=" + h.password(),
		"--auth=scram-sha-256", "--encoding=UTF8", "--no-instructions",
	}
	cmd := exec.CommandContext(ctx, bin.path("initdb"), append(args, localeArguments()...)...) //nolint:gosec // Programs we found, arguments of ours.
	h.prepare(cmd, syscall.SIGKILL)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := runChild(cmd); err != nil {
		return &StartError{Service: "PostgreSQL", Log: strings.TrimSpace(said.String()), Err: fmt.Errorf("making a cluster: %w", err)}
	}
	if err := os.WriteFile(filepath.Join(partial, "pg_hba.conf"), []byte(hostAuthentication), 0o600); err != nil {
		return fmt.Errorf("writing pg_hba.conf: %w", err)
	}
	if err := os.Rename(partial, h.data()); err != nil {
		return fmt.Errorf("putting the new cluster in place: %w", err)
	}
	return nil
}

func (h clusterHome) writePassword() error {
	if err := os.WriteFile(h.password(), []byte(rand.Text()+"\n"), 0o600); err != nil {
		return fmt.Errorf("writing the password file: %w", err)
	}
	return h.as.own(h.password())
}

func (h clusterHome) readPassword() (string, error) {
	raw, err := os.ReadFile(h.password())
	if err != nil {
		return "", fmt.Errorf("reading the password file: %w", err)
	}
	return strings.TrimSpace(string(raw)), nil
}

// prepare makes cmd run as the cluster's account, from its folder, with
// nothing of our environment but $PATH.
func (h clusterHome) prepare(cmd *exec.Cmd, deathSignal syscall.Signal) {
	cmd.Dir = h.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
	cmd.SysProcAttr = childAttributes(h.as, deathSignal)
}

// localeArguments choose byte order for sorting, which every system has alike,
// and Unicode for telling letters.
func localeArguments() []string {
	if runtime.GOOS == "darwin" {
		return []string{"--locale=C", "--lc-ctype=UTF-8"}
	}
	return []string{"--locale=C", "--lc-ctype=C.UTF-8"}
}
