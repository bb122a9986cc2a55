// Package jsonvaluetest has test cases that every source of arguments must handle alike: the HTTP API,
// models, MCP and the command line.
package jsonvaluetest

import "strings"

// A Case is arguments as sent by a caller.
type Case struct {
	Name string
	Raw  string
	// Canonical is the recorded and sent form; "" when the arguments are refused.
	Canonical string
	// Msg is a part of the reason of the refusal.
	Msg string
}

// Cases returns the cases. All are objects; valid ones have members "to" and, sometimes, "n" and "in".
func Cases() []Case {
	return []Case{
		{Name: "a duplicate member", Raw: `{"to":"attacker","to":"allowed"}`, Msg: "duplicate member"},
		{
			Name: "a duplicate member in another spelling", Raw: `{"to":"attacker","t\u006f":"allowed"}`,
			Msg: "duplicate member",
		},
		{Name: "a duplicate member, nested", Raw: `{"to":"a","in":[{"x":{"k":1,"k":1}}]}`, Msg: "duplicate member"},
		{Name: "NUL", Raw: `{"to":"a\u0000b"}`, Msg: "NUL"},
		{Name: "NUL in a name", Raw: `{"to":"a","in":{"k\u0000":1}}`, Msg: "NUL"},
		{Name: "half a surrogate pair", Raw: `{"to":"\ud800"}`, Msg: "surrogate"},
		{Name: "the other half", Raw: `{"to":"\udfff."}`, Msg: "surrogate"},
		{Name: "a number out of range", Raw: `{"to":"a","n":1e400}`, Msg: "out of range"},
		{Name: "a number far out of range", Raw: `{"to":"a","n":-1e999}`, Msg: "out of range"},
		{Name: "a number too small", Raw: `{"to":"a","n":1e-400}`, Msg: "out of range"},
		{Name: "invalid UTF-8", Raw: "{\"to\":\"\xff\"}", Msg: "UTF-8"},
		{
			Name: "nested too deeply", Raw: `{"to":"a","in":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`,
			Msg: "nested too deeply",
		},
		{
			Name:      "white space, order and escapes",
			Raw:       "{ \"to\" : \"\\u0061\\/\\u003c\",\n\"n\": 1.50, \"in\": {\"b\":1,\"a\":[ ]} }",
			Canonical: `{"in":{"a":[],"b":1},"n":1.50,"to":"a/<"}`,
		},
		{
			Name: "digits that a float64 loses", Raw: `{"to":"a","n":12345678901234567890.123}`,
			Canonical: `{"n":12345678901234567890.123,"to":"a"}`,
		},
		{Name: "a pair of surrogates", Raw: `{"to":"\ud83d\ude00"}`, Canonical: `{"to":"😀"}`},
	}
}
