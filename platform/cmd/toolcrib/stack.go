//go:build !lean

package main

import (
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/dev/devcmd"
)

// devCommand is "toolcrib dev". It links Temporal's server and UI.
func devCommand() cli.Extension { return devcmd.New }
