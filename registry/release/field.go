package release

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/schema/jsonpointer"
	"github.com/toolcrib/toolcrib/tool"
)

// fields compares two values as JSON, field by field.
type fields struct {
	bump    schema.Bump
	changes []schema.Change
}

// fieldChanges lists the fields in which two values differ, each with the
// version bump that it requires.
func fieldChanges(before, after any, bump schema.Bump) ([]schema.Change, error) {
	docs := make([]any, 2)
	for i, v := range []any{before, after} {
		raw, err := json.Marshal(v)
		if err != nil {
			return nil, refusal.New(tool.Invalid, "", "the tool holds malformed JSON")
		}
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		if err := dec.Decode(&docs[i]); err != nil {
			return nil, refusal.New(tool.Invalid, "", "the tool holds malformed JSON")
		}
	}
	f := fields{bump: bump}
	f.value("", docs[0], docs[1])
	return f.changes, nil
}

func (f *fields) add(path, format string, args ...any) {
	f.changes = append(f.changes, schema.Change{Path: path, Bump: f.bump, Reason: fmt.Sprintf(format, args...)})
}

func (f *fields) value(path string, before, after any) {
	switch old := before.(type) {
	case map[string]any:
		if now, ok := after.(map[string]any); ok {
			f.object(path, old, now)
			return
		}
	case []any:
		if now, ok := after.([]any); ok && len(old) == len(now) {
			for i := range old {
				f.value(path+"/"+strconv.Itoa(i), old[i], now[i])
			}
			return
		}
	default:
		if before == after {
			return
		}
	}
	was, is := plain(path, before), plain(path, after)
	if was == "" || is == "" {
		f.add(path, "it changed")
		return
	}
	f.add(path, "it went from %s to %s", was, is)
}

func (f *fields) object(path string, before, after map[string]any) {
	names := slices.Collect(maps.Keys(before))
	for name := range after {
		if _, ok := before[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		at := jsonpointer.Escape(name)
		if path != "" {
			at = path + "/" + at
		}
		old, had := before[name]
		now, has := after[name]
		switch {
		case had && has:
			f.value(at, old, now)
		case had:
			f.add(at, "it was removed")
		default:
			f.add(at, "it was added")
		}
	}
}

// plain formats a value for display. It is empty for long values, and for those of
// configurations and provider options, which may be confidential.
func plain(path string, v any) string {
	for _, hidden := range []string{"implementation_config", "interaction/provider_options"} {
		if strings.HasPrefix(path, hidden) {
			return ""
		}
	}
	switch v := v.(type) {
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		return v.String()
	case string:
		if v != "" && len(v) <= 40 {
			return strconv.Quote(v)
		}
	}
	return ""
}
