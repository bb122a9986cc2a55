package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/platform/dev/folder"
	"github.com/toolcrib/toolcrib/platform/dev/ports"
)

// listening reports which processes hold the ports that toolcrib dev would use.
func listening(ctx context.Context, cfg Config) []Finding {
	found := make([]Finding, len(cfg.Ports))
	for i, p := range cfg.Ports {
		found[i] = port(ctx, cfg, p)
	}
	return found
}

// port checks a port without opening it: listening there, however briefly,
// would take it from a process that starts at the same moment.
func port(ctx context.Context, cfg Config, p Port) Finding {
	f := Finding{Check: fmt.Sprintf("port %d", p.Number), Status: OK, Found: "free for " + p.Service}
	if !ports.Listening(ctx, p.Number) {
		return f
	}
	by := ports.Holder(ctx, p.Number)
	if dev, ok := cfg.runBy(ctx, by); ok && dev != by {
		f.Found = fmt.Sprintf("%s is there, served by %s, which toolcrib dev runs, process %d", p.Service, by, dev.PID)
		return f
	} else if ok || cfg.uses(p.Number) {
		f.Found = fmt.Sprintf("%s is there, served by %s", p.Service, by)
		return f
	}
	f.Status, f.Found = Warn, fmt.Sprintf("taken by %s; toolcrib dev uses another for %s", by, p.Service)
	if by.PID != 0 {
		f.Mend = fmt.Sprintf("kill %d, if %s is to be there", by.PID, p.Service)
	}
	return f
}

// generations is how far above a process its toolcrib dev is looked for.
const generations = 3

// runBy returns the toolcrib dev that is a process, or that started it: by its
// name, or by the mark in the data folder.
func (c Config) runBy(ctx context.Context, p ports.Process) (ports.Process, bool) {
	dev := folder.Owner(c.DataDir)
	for range generations {
		if p.PID == 0 {
			break
		}
		if p.Name == "toolcrib" || p.PID == dev {
			return p, true
		}
		p = ports.Parent(ctx, p)
	}
	return ports.Process{}, false
}

// uses reports whether a server that the user named is at the port.
func (c Config) uses(port int) bool {
	suffix := fmt.Sprintf(":%d", port)
	return strings.HasSuffix(c.Temporal.HostPort, suffix) ||
		c.API != nil && strings.HasSuffix(strings.TrimRight(c.API.Server(), "/"), suffix)
}

// data looks at the folder of toolcrib dev.
func data(_ context.Context, cfg Config) []Finding {
	f := Finding{Check: "data folder", Status: OK}
	free, err := folder.Usable(cfg.DataDir)
	unusable, known := errors.AsType[*folder.Error](err)
	switch {
	case known:
		f.Status, f.Found, f.Mend = Fail, unusable.Dir+" "+unusable.Reason, unusable.Mend
	case err != nil:
		f.Status, f.Found, f.Mend = Fail, err.Error(), "choose another folder with --data"
	default:
		f.Found = fmt.Sprintf("%s, with %.1f GB left on its disk", cfg.DataDir, float64(free)/1e9)
	}
	return []Finding{f}
}
