package builtins_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/builtins"
	"github.com/toolcrib/toolcrib/tool"
)

// hostileDates are arguments that mean harm, or that nobody has thought about,
// by what they abuse. They reach the built-in past its schema, which would
// refuse most of them.
func hostileDates() map[string][]string {
	quoted := func(s string) string { return string(must(json.Marshal(s))) }
	at := func(member, value string) string {
		return fmt.Sprintf(`{"operation": "add", "value": "2024-03-31T02:30", "timezone": "Europe/Zurich", %s: %s}`,
			quoted(member), value)
	}
	read := func(value string) string { return `{"operation": "parse", "value": ` + value + `}` }
	zone := func(name string) string { return `{"operation": "now", "timezone": ` + quoted(name) + `}` }
	format := func(operation, value, pattern string) string {
		return fmt.Sprintf(
			`{"operation": %s, "value": %s, "format": %s}`,
			quoted(operation),
			quoted(value),
			quoted(pattern),
		)
	}
	many := strings.Repeat
	return map[string][]string{
		"zone names": {
			zone("../../../../etc/passwd"), zone("/etc/localtime"), zone("/proc/self/environ"), zone("file:///etc/shadow"),
			zone("Local"),
			zone("posixrules"), zone("right/UTC"), zone("Europe/../UTC"), zone("Europe/Zurich\x00.txt"), zone("%2e%2e%2fUTC"),
			zone(`C:\Windows`),
			zone("$(id)"), zone("'; DROP TABLE tools; --"), zone(many("../", 1<<16)), zone(many("A/", 1<<16)),
			zone("+" + many("9", 1<<16)), zone("PST8PDT,M3.2.0,M11.1.0"),
		},
		"numbers": {
			read("1e999999999"), read("-1e999999999"), read("1e-999999999"), read("9" + many("0", 1<<16)),
			read("0." + many("1", 1<<16)), read("1e2147483648"),
			read("9223372036854775807"), read("-9223372036854775808"), read("253402300800"), read("1709632800000000000"),
			read("-62135596801"),
		},
		"texts": {
			read(quoted(many("2024-", 1<<16))), read(quoted(many("1", 1<<16))), read(quoted(many(" ", 1<<16) + "2024-01-01")),
			read(quoted("2024-01-01T00:00:00." + many("0", 1<<16))),
			read(quoted("２０２４-01-01")), read(quoted("2024-01-01\x00")), read(quoted("2024‑01‑01")), read(quoted("0000-00-00")),
			read(quoted("2024-01-01T24:00")),
			read(quoted("2024-06-30T23:59:60Z")), read(quoted("2024-01-01T00:00+99:99")), read(quoted("-2024-01-01")),
			read(quoted("+12024-01-01")),
			read(quoted("2024-W54-1")), read(quoted("2023-366")), read(`{"$date": 0}`), read(`[2024, 1, 1]`), read(`null`),
			read(`""`), read(many("[", 1000) + many("]", 1000)),
		},
		"amounts": {
			at("years", "9223372036854775807"), at("months", "-9223372036854775808"), at("days", "9223372036854775807"),
			at("seconds", "-9223372036854775808"),
			at("weeks", "1317624576693539402"), at("hours", "2562047788015216"),
			at("duration", quoted("P"+many("9", 1<<16)+"Y")), at("duration", quoted("PT0."+many("1", 1<<16)+"S")),
			at("duration", quoted(many("1h", 1<<16))), at("duration", quoted("P-1Y")), at("duration", quoted("--1h")),
			at("duration", quoted("1e9h")), at("duration", quoted("NaNs")),
		},
		"formats": {
			format("format", "2024-01-01", many("%A", 1<<16)), format("format", "2024-01-01", "%"),
			format("format", "2024-01-01", "%999999999d"), format("format", "2024-01-01", "%-"),
			format("format", "2024-01-01", many("%N", 120)), format("parse", many("1", 1<<16), "%s"),
			format("parse", many("9", 300), "%s"), format("parse", "1", many("%d", 120)),
			format("parse", many(" ", 1<<16), many(" ", 200)+"%Y"), format("parse", "2024", "%Y%Y"),
			format("parse", "x", "\xff\xfe%Y"),
		},
	}
}

// Whatever is asked, the answer is a short "no" or fits the schema, and a
// neighbour that asks beside it gets all its answers.
func TestHostileDates(t *testing.T) { //nolint:tparallel // The neighbour ends when they have.
	t.Parallel()

	catalog := builtins.New(builtins.Config{})
	run, ok := catalog.Lookup("datetime_utils")
	require.True(t, ok)
	at := slices.IndexFunc(catalog.Specs(), func(s builtins.Spec) bool { return s.Key == "datetime_utils" })
	answers := catalog.Specs()[at].Definition.OutputSchema
	ask := func(tenant tool.TenantID, args string) (*tool.Result, error) {
		return run.Execute(
			t.Context(),
			&tool.Call{
				CallIdentity: tool.CallIdentity{Principal: tool.Principal{Tenant: tenant}},
				Arguments:    json.RawMessage(args),
			},
		)
	}

	done := make(chan struct{})
	neighbour := make(chan error, 1)
	go func() {
		day := time.Date(2024, 1, 31, 12, 0, 0, 0, time.UTC)
		for n := 0; ; n++ {
			want := day.AddDate(0, 0, n%1000).Format(`"datetime":"2006-01-02T15:04:05Z"`)
			res, err := ask("neighbour", fmt.Sprintf(`{"operation": "add", "value": "2024-01-31T12:00", "days": %d}`, n%1000))
			if err == nil && (res.IsError || !strings.Contains(string(res.Structured), want)) {
				err = fmt.Errorf("after %d days: %s instead of %s", n%1000, res.Structured, want)
			}
			if err != nil {
				neighbour <- err
				return
			}
			select {
			case <-done:
				neighbour <- nil
				return
			default:
			}
		}
	}()

	corpus := hostileDates()
	t.Run("Corpus", func(t *testing.T) {
		asked := 0
		for class, calls := range corpus {
			asked += len(calls)
			t.Run(class, func(t *testing.T) {
				t.Parallel()
				for _, args := range calls {
					res, err := ask("hostile", args)
					require.NoError(t, err, "%.200s", args)
					if !res.IsError {
						requireFits(t, answers, res.Structured)
						continue
					}
					require.Less(t, len(res.Content[0].Text), 600, "%.200s", args)
					require.NotContains(t, res.Content[0].Text, "zoneinfo", "%.200s", args)
				}
			})
		}
		require.GreaterOrEqual(t, asked, 60)
	})
	close(done)
	require.NoError(t, <-neighbour)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
