package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// server looks at the API, and at whether it takes the key.
func server(ctx context.Context, cfg Config) []Finding {
	f := Finding{Check: "api", Status: OK}
	if cfg.API == nil {
		f.Status, f.Found, f.Mend = Fail, tool.AsError(cfg.APIError).Msg, "correct --server or TOOLCRIB_SERVER"
		if tool.KindOf(cfg.APIError) == tool.NotFound {
			f.Mend = "toolcrib dev, or correct --data or TOOLCRIB_DATA"
		}
		return []Finding{f}
	}
	health, err := cfg.API.Ready(ctx)
	if err != nil {
		f.Status, f.Found, f.Mend = Fail, "no answer at "+
			cfg.API.Server(), "start it with toolcrib serve, or correct TOOLCRIB_SERVER"
		if !cfg.APINamed {
			f.Status, f.Mend = Warn, "toolcrib dev"
		}
		return []Finding{f}
	}
	f.Found = "ready at " + cfg.API.Server()
	if health.Status != "ok" {
		f.Status, f.Found = Fail, fmt.Sprintf("%s is %s", cfg.API.Server(), health.Status)
		for _, name := range slices.Sorted(maps.Keys(health.Checks)) {
			if state := health.Checks[name].State; state != "ok" {
				f.Found += fmt.Sprintf("; %s: %s", name, state)
			}
		}
		f.Mend = "toolcrib doctor, where that server runs"
	}
	found := []Finding{f, key(ctx, cfg)}
	if cfg.HasKey && found[1].Status == OK {
		found = append(found, expiring(ctx, cfg)...)
	}
	return found
}

// expiresSoon is how long before their end keys are warned of.
const expiresSoon = 14 * 24 * time.Hour

// expiring warns of keys that end soon and are used; nothing where the key may not see them.
func expiring(ctx context.Context, cfg Config) []Finding {
	names, err := cfg.API.ExpiringKeys(ctx, time.Now().Add(expiresSoon))
	if err != nil || len(names) == 0 {
		return nil
	}
	shown := strings.Join(names[:min(len(names), 3)], ", ")
	if more := len(names) - 3; more > 0 {
		shown += fmt.Sprintf(" and %d more", more)
	}
	return []Finding{{
		Check: "expiring keys", Status: Warn, Found: shown + " expire within 14 days, and are used",
		Mend: "toolcrib key create NAME --role ROLE, give it to who uses the other, and toolcrib key revoke KEY",
	}}
}

func key(ctx context.Context, cfg Config) Finding {
	f := Finding{Check: "api key", Status: OK, Found: "taken"}
	if !cfg.HasKey {
		f.Status, f.Found, f.Mend = Warn, "there is none", "toolcrib key create NAME --tenant TENANT --permission '*', and "+
			"set TOOLCRIB_KEY"
		return f
	}
	err := cfg.API.CheckKey(ctx)
	switch kind := tool.KindOf(err); {
	case err == nil:
	case kind == tool.Denied:
		f.Status, f.Found = Fail, "refused by "+cfg.API.Server()
		f.Mend = "toolcrib key create NAME --tenant TENANT --permission '*', and set TOOLCRIB_KEY"
	default:
		f.Status, f.Found, f.Mend = Warn, fmt.Sprintf("not known to be taken: %v", err), "try again"
	}
	return f
}

// models reports which models have a key. It reports names only, never values.
func models(_ context.Context, cfg Config) []Finding {
	var set, unset []string
	for _, v := range cfg.Models {
		if v.Set {
			set = append(set, v.Name)
		} else {
			unset = append(unset, v.Name)
		}
	}
	slices.Sort(set)
	if len(set) > 0 {
		return []Finding{{Check: "models", Status: OK, Found: strings.Join(set, ", ") + " set"}}
	}
	return []Finding{{
		Check: "models", Status: Warn, Found: "no key is set here: only transcripts are played (scripted/…)",
		Mend: "export " + strings.Join(unset, "=… or ") + "=… where the worker runs",
	}}
}
