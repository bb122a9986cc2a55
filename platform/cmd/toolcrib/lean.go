//go:build lean

package main

import (
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/leancmd"
)

// devCommand is "toolcrib dev" of a build for servers, which has no stack.
func devCommand() cli.Extension { return leancmd.New }
