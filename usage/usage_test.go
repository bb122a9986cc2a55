package usage_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/usage"
)

func TestMoney(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]usage.Micros{
		"0": 0, "0.25": 250_000, "2": 2_000_000, "0.000001": 1, "12.5": 12_500_000, "1000000": usage.MaxMicros,
	} {
		got, err := usage.ParseMoney(text, usage.MaxMicros)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{
		"", ".5", "1.", "-1", "+1", "1e3", "0.0000001", "1,5", "1000000.000001", "99999999999999999999", " 1", "1.2.3",
	} {
		_, err := usage.ParseMoney(text, usage.MaxMicros)
		require.Error(t, err, text)
	}
	for want, m := range map[string]usage.Micros{
		"0.00": 0, "0.25": 250_000, "0.000001": 1, "12.50": 12_500_000, "-0.02": -20_000, "-9223372036854.775808": -1 << 63,
	} {
		require.Equal(t, want, m.String())
	}
}

func TestPriceCheck(t *testing.T) {
	t.Parallel()
	rates := &usage.Rates{Input: 1, Output: 2}
	now := time.Now()
	past := now.Add(-time.Hour)
	negative := usage.Micros(-1)
	good := []usage.Price{
		{ToolID: "x", Call: 1},
		{ToolID: "x"},
		{Model: "a/b", Tokens: rates},
		{ToolID: "x", Unit: &usage.Unit{Pointer: "/pages", Micros: 1}},
		{ToolID: "x", From: past, Until: &now},
	}
	for _, p := range good {
		require.NoError(t, p.Check())
	}
	for path, p := range map[string]usage.Price{
		"":                    {},
		"valid_until":         {ToolID: "x", From: now, Until: &past},
		"tokens":              {Model: "a/b"},
		"model":               {Model: "b", Tokens: rates},
		"per_call_micros":     {ToolID: "x", Call: usage.MaxMicros + 1},
		"unit_pointer":        {ToolID: "x", Unit: &usage.Unit{Pointer: "pages"}},
		"cached_input_micros": {Model: "a/b", Tokens: &usage.Rates{Cached: &negative}},
	} {
		err := p.Check()
		require.Equal(t, tool.Invalid, tool.KindOf(err), path)
		require.Equal(t, path, tool.AsError(err).Path)
	}
	require.Equal(t, []string{"a/b", "c~d", ""}, (&usage.Unit{Pointer: "/a~1b/c~0d/"}).Path())
}

func TestParseGroups(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]usage.Group{
		"": nil, "tool": {usage.ByTool}, "day, model,day": {usage.ByDay, usage.ByModel},
	} {
		got, err := usage.ParseGroups(text)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, text := range []string{"tools", "day,", ",", "tool;day"} {
		_, err := usage.ParseGroups(text)
		require.Equal(t, tool.Invalid, tool.KindOf(err), text)
	}
}
