package confirm_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib/confirm"
	"github.com/toolcrib/toolcrib/tool"
)

var ada = tool.Principal{Tenant: "shop", Subject: "user:ada", Permissions: []string{"refunds.small"}}

func TestConditions(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		when, input string
		asks        bool
	}{
		"every call":       {"", `{}`, true},
		"above":            {"input.amount > 100", `{"amount":101}`, true},
		"below":            {"input.amount > 100", `{"amount":100}`, false},
		"a decimal":        {"input.amount > 100", `{"amount":100.5}`, true},
		"a whole decimal":  {"input.amount == 100", `{"amount":100.0}`, true},
		"a large integer":  {"input.amount == 9007199254740993", `{"amount":9007199254740993}`, true},
		"a float of CEL":   {"input.amount > 99.5", `{"amount":100}`, true},
		"a string":         {`input.env == "production"`, `{"env":"production"}`, true},
		"a role":           {`!("refunds.large" in principal.permissions)`, `{}`, true},
		"who":              {`principal.subject == "user:ada"`, `{}`, true},
		"a guarded field":  {"has(input.amount) && input.amount > 100", `{}`, false},
		"a list":           {"input.orders.exists(o, o.total > 100)", `{"orders":[{"total":7},{"total":101}]}`, true},
		"nothing is given": {"has(input.amount)", ``, false},
		// What cannot be evaluated asks.
		"a missing field":  {"input.amount > 100", `{}`, true},
		"another type":     {"input.amount > 100", `{"amount":"many"}`, true},
		"no bool":          {"input.amount", `{"amount":7}`, true},
		"no object":        {"input.amount > 100", `[7]`, true},
		"too costly":       {"input.l.all(a, input.l.all(b, input.l.all(c, a + b + c >= 0)))", long(300), true},
		"costs not enough": {"input.l.all(a, a < 0)", long(300), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := confirm.Compile(tool.Confirmation{When: c.when})
			require.NoError(t, err)
			began := time.Now()
			require.Equal(t, c.asks, p.Asks(t.Context(), []byte(c.input), ada) != "")
			require.Less(t, time.Since(began), 5*time.Second)
		})
	}
}

// A condition that spares an approval must be true; what cannot be evaluated does not hold.
func TestHolds(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		when, input string
		holds       bool
	}{
		"none":            {"", `{}`, true},
		"true":            {"input.amount <= 50", `{"amount":50}`, true},
		"false":           {"input.amount <= 50", `{"amount":51}`, false},
		"a missing field": {"input.amount <= 50", `{}`, false},
		"another type":    {"input.amount <= 50", `{"amount":"7"}`, false},
		"no bool":         {"input.amount", `{"amount":1}`, false},
		"no object":       {"true", `[]`, false},
		"too costly":      {"input.l.all(a, input.l.all(b, input.l.all(c, a + b + c >= 0)))", long(300), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := confirm.Compile(tool.Confirmation{When: c.when})
			require.NoError(t, err)
			require.Equal(t, c.holds, p.Holds(t.Context(), []byte(c.input), ada))
		})
	}
}

func long(n int) string {
	return `{"l":[` + strings.TrimSuffix(strings.Repeat("1,", n), ",") + `]}`
}

func TestFaultsAreRefused(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		of         tool.Confirmation
		path, says string
	}{
		"syntax":         {tool.Confirmation{When: "input.amount >"}, "/when", "line 1, column"},
		"a number":       {tool.Confirmation{When: "1 + 2"}, "/when", "true or false"},
		"a name":         {tool.Confirmation{When: "amount > 100"}, "/when", "amount"},
		"a type":         {tool.Confirmation{When: `1 > "x"`}, "/when", "line 1, column"},
		"too long":       {tool.Confirmation{When: strings.Repeat("true && ", 1000) + "true"}, "/when", "4096 bytes"},
		"an open brace":  {tool.Confirmation{Message: "Refund {{ input.amount"}, "/message", "not closed"},
		"in a message":   {tool.Confirmation{Message: "Refund {{ amount }}"}, "/message", "amount"},
		"a long message": {tool.Confirmation{Message: strings.Repeat("x", 5000)}, "/message", "4096 bytes"},
	} {
		_, err := confirm.Compile(c.of)
		require.Equal(t, tool.Invalid, tool.KindOf(err), name)
		require.Equal(t, c.path, tool.AsError(err).Path, name)
		require.Contains(t, tool.AsError(err).Msg, c.says, name)
	}
}

func TestMessages(t *testing.T) {
	t.Parallel()

	p, err := confirm.Compile(tool.Confirmation{
		Message: "Refund {{ input.amount / 100 }} EUR of {{input.order}} for {{ principal.subject }}? {{ input.none }}",
	})
	require.NoError(t, err)
	got := p.Message(t.Context(), []byte(`{"amount":700,"order":"SO-1\nApproved by the boss\u202e"}`), ada)
	require.Equal(t, "Refund 7 EUR of SO-1 Approved by the boss  for user:ada? ?", got)
	none, err := confirm.Compile(tool.Confirmation{})
	require.NoError(t, err)
	require.Empty(t, none.Message(t.Context(), nil, ada))
}

// Whatever an expression is, compiling and evaluating it ends, without a panic.
func TestAnyExpressionEnds(t *testing.T) {
	t.Parallel()

	words := []string{
		"input", "principal", ".", "a", "[", "]", "(", ")", "0", "\"x\"", "+", "-", "*", "/", "%", "==", "<", "in", "has",
		"all", "map", ",", "?", ":", "!", "&&", "||", "{", "}", "size", "matches", " ",
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 12).Draw(t, "words"), "")
		p, err := confirm.Compile(tool.Confirmation{When: text, Message: "{{" + text + "}}"})
		if err != nil {
			if tool.KindOf(err) != tool.Invalid {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		p.Asks(t.Context(), []byte(`{"a":[1,"x",null,{"a":{}}]}`), ada)
		p.Message(t.Context(), []byte(`{"a":[1,"x",null,{"a":{}}]}`), ada)
	})
}

func TestFields(t *testing.T) {
	t.Parallel()

	p, err := confirm.Compile(tool.Confirmation{
		When: `has(input.b) && input["a"] > 1 && input.list.exists(x, x.inner == input.b) && "c" in input`, Message: "{{ input.d }}",
	})
	require.NoError(t, err)
	require.ElementsMatch(t, []confirm.Field{
		{Path: "/when", Name: "b"},
		{Path: "/when", Name: "a"},
		{Path: "/when", Name: "list"},
		{Path: "/when", Name: "b"},
		{Path: "/message", Name: "d"},
	}, p.Fields())
	p, err = confirm.Compile(tool.Confirmation{When: `input.list.exists(input, input.x == 1)`})
	require.NoError(t, err)
	require.Empty(t, p.Fields())
}
