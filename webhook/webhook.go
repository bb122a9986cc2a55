package webhook

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/tool"
)

// Bounds of webhooks.
const (
	MaxWebhooks    = 20 // Of a tenant.
	MaxURL         = 2000
	MaxDescription = 500
	// DefaultOverlap is how long the secret before signs too after a rotation.
	DefaultOverlap = 24 * time.Hour
	MaxOverlap     = 7 * 24 * time.Hour
)

// ErrChanged is in the chain of errors when a webhook's revision has changed.
var ErrChanged = errors.New("the webhook was changed meanwhile")

// Webhook is a URL that events of a tenant are sent to.
type Webhook struct {
	ID          string
	Tenant      tool.TenantID
	URL         string
	Description string
	Types       []tool.EventType
	Agent       string // Slug; only events of runs of this agent. Empty for every event.
	Tool        string // Slug; only events of this tool. Empty for every event.
	Active      bool

	DisabledAt     *time.Time // When the platform disabled it; nil if it did not.
	DisabledReason string

	Secret         vault.Text  // Encrypted. Its Version counts from 1, and up with each rotation.
	OldSecret      *vault.Text // The secret before, which signs too until OldSecretUntil.
	OldSecretUntil *time.Time

	FailingSince *time.Time // The first failure after the last success.
	DeliveredAt  *time.Time // The last success, to the minute.
	Revision     int64
	CreatedBy    string
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// SecretRecord is [vault.Text.Record] of secrets of webhooks.
const SecretRecord = "webhook"

// check validates w and normalizes its types. It does not check whether the URL may be reached.
func (w *Webhook) check() error {
	if err := cmp.Or(w.checkURL(), w.checkTypes()); err != nil {
		return err
	}
	switch {
	case utf8.RuneCountInString(w.Description) > MaxDescription:
		return invalid("/description", "the description has more than %d characters", MaxDescription)
	case w.Agent != "" && !tool.ValidSlug(w.Agent):
		return invalid("/agent", "%.80q is not the slug of an agent", w.Agent)
	case w.Tool != "" && !tool.ValidSlug(w.Tool):
		return invalid("/tool", "%.80q is not the slug of a tool", w.Tool)
	}
	return nil
}

func (w *Webhook) checkURL() error {
	u, err := url.Parse(w.URL)
	switch {
	case len(w.URL) > MaxURL:
		return invalid("/url", "the URL has more than %d bytes", MaxURL)
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return invalid("/url", "want a URL such as https://example.com/hooks/toolcrib")
	case u.Fragment != "":
		return invalid("/url", "the URL has a fragment, which is never sent: remove the part from # on")
	}
	return nil
}

// checkTypes refuses unknown types, and types that no event passes the filters with.
func (w *Webhook) checkTypes() error {
	if len(w.Types) == 0 {
		return invalid("/types", "a webhook needs at least one type of event: %s", strings.Join(EventTypes(), ", "))
	}
	for i, t := range w.Types {
		path := fmt.Sprintf("/types/%d", i)
		e, known := eventOf(t)
		switch {
		case !known:
			return invalid(path, "%.80q is no type of event for webhooks: want one of %s", t, strings.Join(EventTypes(), ", "))
		case w.Tool != "" && !e.OfTool:
			return invalid(path, "events of type %s are of no tool: remove the type, or the filter by tool", t)
		case w.Agent != "" && !e.OfRun:
			return invalid(path, "events of type %s are of no agent: remove the type, or the filter by agent", t)
		}
	}
	w.Types = slices.Compact(slices.Sorted(slices.Values(w.Types)))
	return nil
}

func invalid(path, format string, args ...any) error {
	return &tool.Error{Kind: tool.Invalid, Op: "webhook", Path: path, Msg: fmt.Sprintf(format, args...)}
}
