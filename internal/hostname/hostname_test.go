package hostname_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/hostname"
	"github.com/toolcrib/toolcrib/tool"
)

func TestEntries(t *testing.T) {
	t.Parallel()

	for _, entry := range []string{
		"example.com", "API.example.com:8443", "10.0.0.7", "10.0.0.7:80", "fd12::7", "[fd12::7]", "[fd12::7]:443", "my_host",
		"xn--bcher-kva.example",
	} {
		require.True(t, hostname.ValidEntry(entry, false), entry)
		require.True(t, hostname.ValidEntry(entry, true), entry)
	}
	for _, entry := range []string{"*.example.com", "*.example.com:443", "*.test"} {
		require.True(t, hostname.ValidEntry(entry, true), entry)
		require.False(t, hostname.ValidEntry(entry, false), entry)
	}
	for _, entry := range []string{
		"", "*", "*.", "*.*.example.com", "a.*.example.com", "*example.com", "*.10.0.0.1", "*.0x7f.1", "http://example.com",
		"example.com/", "a b",
		"example.com:", "example.com:0", "example.com:080", "example.com:65536", "example.com:http", "bücher.example",
		"0x7f.1", "127.1", "2130706433",
		"fe80::1%eth0", "[fd12::7]:0", "a..b", strings.Repeat("a", 64), "user@example.com", "exam\u212aple.com",
	} {
		require.False(t, hostname.ValidEntry(entry, true), "%q", entry)
	}
}

func TestMatches(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct {
		pattern, host string
		want          bool
	}{
		{"example.com", "example.com", true},
		{"example.com", "api.example.com", false},
		{"*.example.com", "api.example.com", true},
		{"*.example.com", "a.b.example.com", true},
		{"*.example.com", "example.com", false},
		{"*.example.com", ".example.com", false},
		{"*.example.com", "badexample.com", false},
		{"*.example.com", "api.example.com.", false},
		{"*example.com", "badexample.com", false},
		{"*", "example.com", false},
		{"", "example.com", false},
	} {
		require.Equal(t, tt.want, hostname.Matches(tt.pattern, tt.host), "%q %q", tt.pattern, tt.host)
	}
}

func TestCheckRules(t *testing.T) {
	t.Parallel()

	many := func(n int, text string) []string {
		out := make([]string, n)
		for i := range out {
			out[i] = text
		}
		return out
	}
	type rules = tool.EgressRules
	for name, tt := range map[string]struct {
		rules rules
		class tool.Egress
		path  string
		says  string
	}{
		"none": {rules{}, tool.EgressNone, "-", ""},
		"whole": {
			rules{Hosts: []string{"*.example.com:443"}, Methods: []string{"GET", "HEAD"}, Ports: []uint16{443}, MaxBytes: 1},
			tool.EgressReadOnly, "-", "",
		},
		"write":        {rules{Methods: []string{"QUERY", "POST"}}, tool.EgressWrite, "-", ""},
		"any class":    {rules{Methods: []string{"POST"}}, "", "-", ""},
		"class none":   {rules{MaxBytes: 1}, tool.EgressNone, "", "drop egress_rules"},
		"host":         {rules{Hosts: []string{"a.test", "*"}}, tool.EgressWrite, "/hosts/1", `"*"`},
		"method":       {rules{Methods: []string{"get"}}, tool.EgressWrite, "/methods/0", "upper case"},
		"empty method": {rules{Methods: []string{""}}, tool.EgressWrite, "/methods/0", "upper case"},
		"method of class": {
			rules{Methods: []string{"GET", "POST"}}, tool.EgressReadOnly, "/methods/1", "set egress_class to write",
		},
		"port":         {rules{Ports: []uint16{443, 0}}, tool.EgressWrite, "/ports/1", "1 to 65535"},
		"bytes":        {rules{MaxBytes: -1}, tool.EgressWrite, "/max_bytes", "number of bytes"},
		"many hosts":   {rules{Hosts: many(101, "a.test")}, tool.EgressWrite, "/hosts", "at most 100"},
		"many methods": {rules{Methods: many(21, "GET")}, tool.EgressWrite, "/methods", "at most 20"},
		"many ports":   {rules{Ports: make([]uint16, 101)}, tool.EgressWrite, "/ports", "at most 100"},
	} {
		err := hostname.CheckRules(tt.rules, tt.class, false)
		if tt.path == "-" {
			require.NoError(t, err, name)
			continue
		}
		e := tool.AsError(err)
		require.Equal(t, tool.Invalid, e.Kind, name)
		require.Equal(t, tt.path, e.Path, name)
		require.Contains(t, e.Msg, tt.says, name)
	}
}

// FuzzParse looks for panics, and for a host that reads as an address and is
// taken for a name.
func FuzzParse(f *testing.F) {
	for _, host := range []string{
		"example.com", "127.0.0.1", "0x7f.1", "fd12::7", "[::1]", "*.example.com:80", "a\u0130b",
	} {
		f.Add(host)
	}
	f.Fuzz(func(t *testing.T, text string) {
		host, _ := hostname.Split(text)
		addr, err := hostname.Parse(host)
		if err != nil {
			return
		}
		last := strings.TrimSuffix(host, ".")
		if last = last[strings.LastIndexByte(last, '.')+1:]; !addr.IsValid() && last != "" &&
			strings.Trim(last, "0123456789") == "" {
			t.Errorf("%q is taken for a name", host)
		}
	})
}
