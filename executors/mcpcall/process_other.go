//go:build !unix

package mcpcall

import (
	"errors"
	"log/slog"
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// process is a running command. This system is not supported: it has no process
// groups.
type process struct {
	cmd      *exec.Cmd
	messages *messages
}

func startProcess(Command, *slog.Logger) (*process, error) {
	return nil, errors.New("commands need a Unix system")
}

func (*process) transport(int) mcp.Transport { return nil }
func (*process) ended() bool                 { return true }
func (*process) kill()                       {}
func (*process) wait()                       {}
