package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/toolcrib/toolcrib/platform/dev/programs"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// How far the database's clock may be from this machine's: leases and deadlines
// are compared across both.
const (
	skewNoted   = 2 * time.Second
	skewRefused = 30 * time.Second
)

// postgres looks for the programs that toolcrib dev runs a cluster with.
func postgres(ctx context.Context, cfg Config) []Finding {
	f := Finding{Check: "PostgreSQL", Status: OK}
	found, err := cfg.Programs.Find(ctx)
	missing, none := errors.AsType[*programs.MissingError](err)
	switch {
	case err == nil:
		f.Found = fmt.Sprintf("%s in %s", found[0].Version, found[0].Dir)
	case cfg.DatabaseURL != "":
		f.Found = "no programs on this machine, and none are needed: TOOLCRIB_DATABASE_URL is set"
	case none && len(missing.TooOld) > 0:
		f.Status, f.Mend = Fail, missing.Install
		f.Found = fmt.Sprintf("the programs in %s are older than %d", missing.TooOld[0], programs.MinMajor)
	default:
		f.Status, f.Mend = Fail, cfg.Programs.InstallCommand()
		f.Found = fmt.Sprintf("no programs of PostgreSQL %d or newer; toolcrib dev would download them", programs.MinMajor)
	}
	return []Finding{f}
}

// database looks at the database of server and worker, as they would meet it.
func database(ctx context.Context, cfg Config) []Finding {
	if cfg.DatabaseURL == "" {
		return []Finding{
			{Check: "database", Status: OK, Found: "TOOLCRIB_DATABASE_URL is not set: toolcrib dev runs its own"},
		}
	}
	in, err := store.Inspect(ctx, cfg.DatabaseURL)
	if err != nil {
		return []Finding{unreached(cfg, err)}
	}
	at := net.JoinHostPort(in.Host, strconv.Itoa(in.Port))
	f := Finding{
		Check: "database", Status: OK, Found: fmt.Sprintf("PostgreSQL %s at %s, database %s", in.Version, at, in.Database),
	}
	if in.Major < store.MinServerMajor {
		f.Status, f.Found = Fail, fmt.Sprintf("%s, which is older than %d", f.Found, store.MinServerMajor)
		f.Mend = fmt.Sprintf("move to PostgreSQL %d or newer; to install it here: %s", store.MinServerMajor,
			cfg.Programs.InstallCommand())
	}
	return []Finding{f, role(in), schema(in), reconciler(in), clock(in)}
}

func unreached(cfg Config, err error) Finding {
	e := tool.AsError(err)
	f := Finding{Check: "database", Status: Fail, Found: e.Msg}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		f.Mend = cfg.Programs.StartCommand()
	case e.Kind == tool.NotFound:
		f.Mend = "createdb NAME on that server, or correct TOOLCRIB_DATABASE_URL"
	default:
		f.Mend = "correct TOOLCRIB_DATABASE_URL: postgres://USER:PASSWORD@HOST:5432/DATABASE?sslmode=require"
	}
	return f
}

func role(in store.Inspection) Finding {
	f := Finding{Check: "database role", Status: OK, Found: in.Role + " may do nothing across tenants"}
	if in.Danger != "" {
		f.Status, f.Found = Fail, in.Danger
		f.Mend = fmt.Sprintf(`psql "$TOOLCRIB_DATABASE_URL" -c "create role toolcrib_login login password 'PASSWORD' in role %s", `+
			"and connect as that; migrations keep the owner's URL", store.AppRole)
	}
	return f
}

func schema(in store.Inspection) Finding {
	f := Finding{Check: "database schema", Status: OK, Found: fmt.Sprintf("version %d", in.Schema)}
	switch {
	case in.Schema == 0:
		f.Status, f.Found, f.Mend = Fail, "never made, or not for this role to see", "toolcrib migrate"
	case in.Schema < in.Want:
		f.Status, f.Mend = Fail, "toolcrib migrate"
		f.Found = fmt.Sprintf("version %d is older than the %d this binary needs", in.Schema, in.Want)
	case in.Schema > in.Want:
		f.Status, f.Mend = Warn, "update this binary to the release that migrated the database"
		f.Found = fmt.Sprintf("version %d is newer than the %d this binary knows", in.Schema, in.Want)
	}
	return f
}

// reconciledLately is how long ago a working reconciler last passed, at the most.
const reconciledLately = time.Minute

func reconciler(in store.Inspection) Finding {
	f := Finding{Check: "reconciler", Status: OK}
	switch {
	case in.Reconciled == nil:
		f.Status, f.Found = Warn, "it has never passed: runs whose workflows are terminated or lost stay open"
		f.Mend = "give toolcrib serve a second login in TOOLCRIB_MAINTENANCE_DATABASE_URL, which is granted " +
			store.MaintenanceRole
	case *in.Reconciled > reconciledLately:
		f.Status, f.Found = Warn, fmt.Sprintf("it last passed %s ago", in.Reconciled.Round(time.Second))
		f.Mend = "look at the log of toolcrib serve, or run: toolcrib reconcile --dry-run"
	default:
		f.Found = fmt.Sprintf("passed %s ago", in.Reconciled.Round(time.Second))
	}
	return f
}

func clock(in store.Inspection) Finding {
	ahead := in.Ahead.Round(time.Millisecond)
	f := Finding{Check: "clock", Status: OK, Found: fmt.Sprintf("%s from the database's", ahead.Abs())}
	if ahead.Abs() < skewNoted {
		return f
	}
	f.Status, f.Mend = Warn, "sudo timedatectl set-ntp true"
	if runtime.GOOS == "darwin" {
		f.Mend = "sudo sntp -sS time.apple.com"
	}
	if ahead.Abs() >= skewRefused {
		f.Status = Fail
	}
	way := "ahead of"
	if ahead > 0 {
		way = "behind"
	}
	f.Found = fmt.Sprintf("this machine's is %s %s the database's", ahead.Abs(), way)
	return f
}
