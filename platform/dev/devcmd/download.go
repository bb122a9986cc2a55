package devcmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/dev/programs"
	"github.com/toolcrib/toolcrib/tool"
)

// Environment variables for downloading PostgreSQL to a machine without it.
const (
	DownloadVariable   = "TOOLCRIB_POSTGRES_DOWNLOAD"   // never, ask or always, the default.
	RepositoryVariable = "TOOLCRIB_POSTGRES_REPOSITORY" // Base URL of a Maven repository.
	VersionVariable    = "TOOLCRIB_POSTGRES_VERSION"    // Release, such as 17.5.0.
	DigestVariable     = "TOOLCRIB_POSTGRES_SHA256"     // Digest that the artifact must have.
)

// download returns the download that the environment configures for a machine
// without PostgreSQL. It happens only in that case, and is announced.
func download(env cli.Env) (*programs.Download, error) {
	d := &programs.Download{
		Repository: env.Getenv(RepositoryVariable), Version: env.Getenv(VersionVariable), SHA256: env.Getenv(DigestVariable),
		Progress: env.Err,
	}
	switch wish := env.Getenv(DownloadVariable); wish {
	case "", "always":
		d.Allow = func(_ context.Context, o programs.Offer) error {
			_, err := fmt.Fprintf(env.Err, "PostgreSQL is missing here. Getting %s\n(%s=never turns this off.)\n", o,
				DownloadVariable)
			return err
		}
	case "ask":
		d.Allow = func(_ context.Context, o programs.Offer) error { return ask(env, o) }
	case "never":
		d.Allow = func(context.Context, programs.Offer) error { return errors.New(DownloadVariable + " is never") }
	default:
		return nil, &cli.UsageError{
			Err: &tool.Error{
				Kind: tool.Invalid, Op: "dev", Msg: fmt.Sprintf("%s is %q: it is never, ask or always", DownloadVariable, wish),
			},
		}
	}
	return d, nil
}

// ask asks the user. Without an answer, it is no.
func ask(env cli.Env, o programs.Offer) error {
	if _, err := fmt.Fprintf(env.Err, "PostgreSQL is missing here. Get %s? [y/N] ", o); err != nil {
		return err
	}
	answer := bufio.NewScanner(env.In)
	answer.Scan()
	switch strings.ToLower(strings.TrimSpace(answer.Text())) {
	case "y", "yes":
		return nil
	default:
		return fmt.Errorf("it was not confirmed; %s=always does not ask", DownloadVariable)
	}
}
