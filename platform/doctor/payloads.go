package doctor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/internal/payload"
)

// payloads looks at the keys by which what goes through Temporal is encrypted, and at those that open
// workflows need.
func payloads(ctx context.Context, cfg Config) []Finding {
	f := Finding{Check: "payload keys", Status: OK, Found: "payloads in Temporal are not encrypted"}
	have := cfg.PayloadKeys.IDs()
	if len(have) > 0 {
		f.Found = "payloads in Temporal are encrypted by " + have[0]
		if older := have[1:]; len(older) > 0 {
			f.Found += ", and decrypted by " + strings.Join(older, ", ") + " too"
		}
	}
	if cfg.PayloadKeysError != nil {
		f.Status, f.Found = Fail, cfg.PayloadKeysError.Error()
		f.Mend = "correct " + payload.FileVariable + ", or make a key with toolcrib payloads new-key FILE"
		return []Finding{f}
	}
	c, err := client.DialContext(ctx, cfg.Temporal)
	if err != nil {
		return []Finding{f} // The check of Temporal reports it.
	}
	defer c.Close()
	uses, err := payload.Uses(ctx, c, cmp.Or(cfg.Temporal.Namespace, client.DefaultNamespace), cfg.TaskQueue)
	if err != nil {
		f.Status, f.Found = Warn, f.Found+"; open workflows cannot be listed: "+err.Error()
		f.Mend = "give these credentials the right to list workflows"
		return []Finding{f}
	}
	for _, use := range uses {
		switch {
		case use.Key != "" && !slices.Contains(have, use.Key):
			f.Status = Fail
			f.Found += fmt.Sprintf("; %d open workflows need %s, which is missing here", use.Workflows, use.Key)
			f.Mend = "put that key after the first in " + payload.FileVariable + " of servers and workers"
		case use.Key == "" && len(have) > 0:
			f.Found += fmt.Sprintf("; %d open workflows began without", use.Workflows)
		}
	}
	return []Finding{f}
}
