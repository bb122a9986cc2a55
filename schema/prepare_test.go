package schema_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// Schemas that the cases below speak of by name.
var schemas = map[string]string{
	"search": `{"type":"object","required":["query"],"additionalProperties":false,"properties":{
		"query":{"type":"string","minLength":1},"limit":{"type":"integer","minimum":1,"maximum":100},"exact":{"type":"boolean"}}}`,
	"open": `{"type":"object","required":["query"],"properties":{"query":{"type":"string"},"limit":{"type":"integer"}}}`,
	"order": `{"type":"object","required":["orderId","status"],"additionalProperties":false,"properties":{
		"orderId":{"type":"string"},"status":{"enum":["open","in_progress","closed"]},
		"tags":{"type":"array","items":{"type":"string"}},"amount":{"type":"number"},
		"address":{"type":"object","required":["city"],"additionalProperties":false,
			"properties":{"city":{"type":"string"},"zip":{"type":"string"},"lat":{"type":["number","null"]}}},
		"lines":{"type":"array","items":{"type":"object","required":["sku","count"],
			"properties":{"sku":{"type":"string"},"count":{"type":"integer"}}}}}}`,
	"ids":   `{"type":"object","required":["ids"],"properties":{"ids":{"type":"array","items":{"type":"integer"}}}}`,
	"flags": `{"type":"object","properties":{"on":{"type":"boolean"},"n":{"type":["integer","null"]},"x":{"type":["string","integer"]}}}`,
	"union": `{"type":"object","required":["target"],"properties":{"target":{"oneOf":[
		{"type":"object","required":["kind","id"],"properties":{"kind":{"const":"user"},"id":{"type":"integer"}}},
		{"type":"object","required":["kind","name"],"properties":{"kind":{"const":"team"},"name":{"type":"string"}}}]}}}`,
	"maybe":  `{"type":"object","required":["when"],"properties":{"when":{"anyOf":[{"type":"integer"},{"type":"null"}]}}}`,
	"either": `{"type":"object","required":["v"],"properties":{"v":{"anyOf":[{"type":"integer"},{"type":"boolean"}]}}}`,
	"refs": `{"type":"object","required":["a"],"properties":{"a":{"$ref":"#/$defs/n"},"b":{"$ref":"#/$defs/list"}},
		"$defs":{"n":{"type":"integer"},"list":{"type":"array","items":{"$ref":"#/$defs/n"}}}}`,
	"tree": `{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"children":{"type":"array","items":{"$ref":"#"}}}}`,
	"none": `{"type":"object","additionalProperties":false}`,
	"two":  `{"type":"object","required":["query","text"],"properties":{"query":{"type":"string"},"text":{"type":"string"}}}`,
	"map":  `{"type":"object","required":["counts"],"properties":{"counts":{"type":"object","additionalProperties":{"type":"integer"}}}}`,
	"all":  `{"type":"object","allOf":[{"properties":{"n":{"type":"integer"}},"required":["n"]},{"properties":{"s":{"type":"string"}}}]}`,
	"old": `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","required":["pair"],"properties":{
		"pair":{"type":"array","items":[{"type":"string"},{"type":"integer"}],"additionalItems":false}}}`,
	"fetch": `{"type":"object","required":["url"],"properties":{"url":{"type":"string"},"method":{"type":"string","enum":["GET","POST"]}}}`,
	"send":  `{"type":"object","required":["to","message"],"properties":{"to":{"type":"array","items":{"type":"string"}},"message":{"type":"string"}}}`,
	"code":  `{"type":"object","required":["code"],"additionalProperties":false,"properties":{"code":{"type":"string"}}}`,
}

// TestPrepareMistakes holds the repairs to what models get wrong: each case is
// mended as named, or refused at the path named.
func TestPrepareMistakes(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name, schema, raw string
		want              string // What it becomes; empty when it is refused.
		rules             []schema.Rule
		path              string // Where it is refused.
	}{
		// Nothing is wrong: nothing changes.
		{name: "valid", schema: "search", raw: `{"query":"a"}`, want: `{"query":"a"}`},
		{name: "valid with odd white space", schema: "search", raw: " {\n\"query\" : \"a\" }\n", want: `{"query":"a"}`},
		{
			name: "valid with unsorted keys", schema: "search", raw: `{"query":"a","limit":5,"exact":true}`,
			want: `{"exact":true,"limit":5,"query":"a"}`,
		},
		{name: "valid string that looks like a number", schema: "search", raw: `{"query":"5"}`, want: `{"query":"5"}`},
		{name: "valid string that holds JSON", schema: "search", raw: `{"query":"{\"a\":1}"}`, want: `{"query":"{\"a\":1}"}`},
		{
			name: "valid big number", schema: "ids", raw: `{"ids":[123456789012345678901234567890]}`,
			want: `{"ids":[123456789012345678901234567890]}`,
		},
		{name: "valid whole float", schema: "search", raw: `{"query":"a","limit":5.0}`, want: `{"limit":5.0,"query":"a"}`},
		{
			name: "valid open object keeps strangers", schema: "open", raw: `{"query":"a","q":"b"}`,
			want: `{"q":"b","query":"a"}`,
		},
		{name: "valid null", schema: "maybe", raw: `{"when":null}`, want: `{"when":null}`},
		{name: "valid string or integer", schema: "flags", raw: `{"x":"5"}`, want: `{"x":"5"}`},
		{
			name: "valid truncated text inside a string", schema: "search", raw: `{"query":"{\"a\":"}`,
			want: `{"query":"{\"a\":"}`,
		},
		{name: "valid duplicate-free escapes", schema: "search", raw: `{"query":"\u00e9<&>"}`, want: `{"query":"é<&>"}`},

		// Nothing was sent.
		{name: "no arguments", schema: "none", raw: ``, want: `{}`, rules: []schema.Rule{schema.RuleEmpty}},
		{name: "white space", schema: "none", raw: " \n", want: `{}`, rules: []schema.Rule{schema.RuleEmpty}},
		{name: "null for no arguments", schema: "none", raw: `null`, want: `{}`, rules: []schema.Rule{schema.RuleEmpty}},
		{
			name: "empty string for no arguments", schema: "none", raw: `""`, want: `{}`,
			rules: []schema.Rule{schema.RuleEmpty},
		},
		{name: "nothing where something is required", schema: "search", raw: ``, path: "/query"},
		{name: "null where something is required", schema: "order", raw: `null`, path: "/orderId"},

		// JSON in the wrong wrapping.
		{
			name: "JSON in a string", schema: "search", raw: `"{\"query\":\"a\"}"`, want: `{"query":"a"}`,
			rules: []schema.Rule{schema.RuleJSONText},
		},
		{
			name: "JSON in a string twice", schema: "search", raw: `"\"{\\\"query\\\":\\\"a\\\"}\""`, want: `{"query":"a"}`,
			rules: []schema.Rule{schema.RuleJSONText, schema.RuleJSONText},
		},
		{
			name: "empty object in a string", schema: "none", raw: `"{}"`, want: `{}`,
			rules: []schema.Rule{schema.RuleJSONText},
		},
		{
			name: "malformed JSON in a string", schema: "search", raw: `"{'query':'a'}"`, want: `{"query":"a"}`,
			rules: []schema.Rule{schema.RuleRepair, schema.RuleJSONText},
		},
		{
			name: "code fence", schema: "search", raw: "```json\n{\"query\":\"a\"}\n```", want: `{"query":"a"}`,
			rules: []schema.Rule{schema.RuleCodeFence},
		},
		{
			name: "code fence without a language", schema: "search", raw: "```\n{\"query\":\"a\"}\n```", want: `{"query":"a"}`,
			rules: []schema.Rule{schema.RuleCodeFence},
		},
		{
			name: "code fence on one line", schema: "search", raw: "```json{\"query\":\"a\"}```", want: `{"query":"a"}`,
			rules: []schema.Rule{schema.RuleCodeFence},
		},
		{
			name: "code fence left open", schema: "search", raw: "```json\n{\"query\":\"a\"}", want: `{"query":"a"}`,
			rules: []schema.Rule{schema.RuleCodeFence},
		},
		{
			name: "code fence in a string", schema: "search", raw: "\"```json\\n{\\\"query\\\":\\\"a\\\"}\\n```\"",
			want: `{"query":"a"}`, rules: []schema.Rule{schema.RuleCodeFence, schema.RuleJSONText},
		},
		{
			name: "code fence around malformed JSON", schema: "search", raw: "```json\n{query:'a',}\n```",
			want: `{"query":"a"}`, rules: []schema.Rule{schema.RuleCodeFence, schema.RuleRepair},
		},
		{name: "code fence around cut off JSON", schema: "search", raw: "```json\n{\"query\":\"a\n```"},
		{name: "two code fences", schema: "search", raw: "```json\n{\"query\":\"a\"}\n```\n```json\n{\"query\":\"b\"}\n```"},
		{name: "prose before JSON", schema: "order", raw: `Here you are: {"orderId":"1","status":"open"}`},
		{name: "prose after JSON", schema: "search", raw: `{"query":"a"} I hope this helps`},
		{name: "prose that could be the query", schema: "search", raw: `find {"query":"a"}`},
		{
			name: "wrapped in arguments", schema: "search", raw: `{"arguments":{"query":"a"}}`, want: `{"query":"a"}`,
			rules: []schema.Rule{schema.RuleUnwrap},
		},
		{
			name: "wrapped in args as text", schema: "search", raw: `{"args":"{\"query\":\"a\"}"}`, want: `{"query":"a"}`,
			rules: []schema.Rule{schema.RuleUnwrap},
		},
		{
			name: "wrapped with the tool's name", schema: "search", raw: `{"name":"search","parameters":{"query":"a"}}`,
			want: `{"query":"a"}`, rules: []schema.Rule{schema.RuleUnwrap},
		},
		{
			name: "wrapped and wrong inside", schema: "search", raw: `{"tool_input":{"query":"a","limit":"5"}}`,
			want: `{"limit":5,"query":"a"}`, rules: []schema.Rule{schema.RuleUnwrap, schema.RuleNumber},
		},
		{
			name: "wrapper beside a stranger", schema: "search", raw: `{"arguments":{"query":"a"},"other":1}`,
			path: "/arguments",
		},
		{
			name: "array of the one object", schema: "search", raw: `[{"query":"a"}]`, want: `{"query":"a"}`,
			rules: []schema.Rule{schema.RuleSingle},
		},
		{
			name: "array of two objects", schema: "order",
			raw: `[{"orderId":"1","status":"open"},{"orderId":"2","status":"open"}]`,
		},

		// Malformed, but complete.
		{
			name: "trailing comma", schema: "search", raw: `{"query":"a",}`, want: `{"query":"a"}`,
			rules: []schema.Rule{schema.RuleRepair},
		},
		{
			name: "single quotes", schema: "search", raw: `{'query':'a'}`, want: `{"query":"a"}`,
			rules: []schema.Rule{schema.RuleRepair},
		},
		{
			name: "bare keys", schema: "search", raw: `{query:"a",limit:5}`, want: `{"limit":5,"query":"a"}`,
			rules: []schema.Rule{schema.RuleRepair},
		},
		{
			name: "Python constants", schema: "search", raw: `{"query":"a","exact":True}`, want: `{"exact":true,"query":"a"}`,
			rules: []schema.Rule{schema.RuleRepair},
		},
		{
			name: "missing comma", schema: "search", raw: `{"query":"a" "limit":5}`, want: `{"limit":5,"query":"a"}`,
			rules: []schema.Rule{schema.RuleRepair},
		},
		{
			name: "comment", schema: "search", raw: "{\"query\":\"a\" // what to find\n}", want: `{"query":"a"}`,
			rules: []schema.Rule{schema.RuleRepair},
		},
		{
			name: "block comment", schema: "search", raw: `{/* it */"query":"a"}`, want: `{"query":"a"}`,
			rules: []schema.Rule{schema.RuleRepair},
		},
		{
			name: "surplus closing brace", schema: "search", raw: `{"query":"a"}}`, want: `{"query":"a"}`,
			rules: []schema.Rule{schema.RuleRepair},
		},
		{
			name: "raw line break in a string", schema: "search", raw: "{\"query\":\"a\nb\"}", want: `{"query":"a\nb"}`,
			rules: []schema.Rule{schema.RuleRepair},
		},
		{
			name: "raw tab in a string", schema: "search", raw: "{\"query\":\"a\tb\"}", want: `{"query":"a\tb"}`,
			rules: []schema.Rule{schema.RuleRepair},
		},
		{
			name: "array with trailing comma", schema: "ids", raw: `{"ids":[1,2,]}`, want: `{"ids":[1,2]}`,
			rules: []schema.Rule{schema.RuleRepair},
		},
		{
			name: "malformed and of the wrong type", schema: "search", raw: `{query:'a',limit:'5'}`,
			want: `{"limit":5,"query":"a"}`, rules: []schema.Rule{schema.RuleRepair, schema.RuleNumber},
		},
		{
			name: "Python dict with None", schema: "search", raw: `{'query': 'a', 'limit': None}`, want: `{"query":"a"}`,
			rules: []schema.Rule{schema.RuleRepair, schema.RuleDropNull},
		},

		// Cut off, elided or ambiguous: never executed.
		{name: "cut off after the key", schema: "search", raw: `{"query"`},
		{name: "cut off after the colon", schema: "search", raw: `{"query":`},
		{name: "cut off in a string", schema: "search", raw: `{"query":"all orders of`},
		{name: "cut off after a string", schema: "search", raw: `{"query":"a"`},
		{name: "cut off after a comma", schema: "search", raw: `{"query":"a",`},
		{name: "cut off in a number", schema: "search", raw: `{"query":"a","limit":1`},
		{name: "cut off in an array", schema: "ids", raw: `{"ids":[1,2`},
		{
			name: "cut off after an inner object", schema: "order",
			raw: `{"orderId":"1","status":"open","address":{"city":"x"}`,
		},
		{name: "cut off in an escape", schema: "search", raw: `{"query":"a\`},
		{name: "cut off inside a string of JSON text", schema: "search", raw: `"{\"query\":\"a"`},
		{name: "cut off in single quotes", schema: "search", raw: `{'query':'a`},
		{name: "cut off in a comment", schema: "search", raw: `{"query":"a" /* and`},
		{name: "cut off with a brace in the string", schema: "code", raw: `{"code":"if (x) { y }`},
		{name: "only an opening brace", schema: "none", raw: `{`},
		{name: "brackets crossed", schema: "ids", raw: `{"ids":[1,2}`},
		{name: "items elided", schema: "ids", raw: `{"ids":[1,2,...]}`},
		{name: "properties elided", schema: "search", raw: `{"query":"a", ...}`},
		{name: "value missing", schema: "search", raw: `{"query":}`},
		{name: "value missing before a comma", schema: "search", raw: `{"query":,"limit":1}`},
		{name: "no text", schema: "search", raw: "{\"query\":\"\xff\"}"},
		{name: "malformed and no text", schema: "search", raw: "{'query':'\xff'}"},
		{name: "two objects", schema: "search", raw: `{"query":"a"}{"query":"b"}`},
		{name: "objects on lines", schema: "search", raw: "{\"query\":\"a\"}\n{\"query\":\"b\"}"},
		{name: "two objects with a comma", schema: "search", raw: `{"query":"a"},{"query":"b"}`},

		// Scalars instead of objects.
		{
			name: "bare string", schema: "search", raw: `"overdue orders"`, want: `{"query":"overdue orders"}`,
			rules: []schema.Rule{schema.RuleSoleProperty},
		},
		{
			name: "bare text", schema: "search", raw: `overdue orders`, want: `{"query":"overdue orders"}`,
			rules: []schema.Rule{schema.RuleBareText, schema.RuleSoleProperty},
		},
		{
			name: "bare number for a string", schema: "search", raw: `42`, want: `{"query":"42"}`,
			rules: []schema.Rule{schema.RuleSoleProperty, schema.RuleText},
		},
		{
			name: "bare array for an array", schema: "ids", raw: `[1,2]`, want: `{"ids":[1,2]}`,
			rules: []schema.Rule{schema.RuleSoleProperty},
		},
		{
			name: "bare number for an array", schema: "ids", raw: `7`, want: `{"ids":[7]}`,
			rules: []schema.Rule{schema.RuleSoleProperty, schema.RuleList},
		},
		{name: "bare string with two required", schema: "two", raw: `"a"`},
		{name: "bare text with two required", schema: "two", raw: `a`},
		{name: "bare string that breaks the property", schema: "maybe", raw: `"soon"`},

		// Scalars of the wrong kind.
		{
			name: "integer as string", schema: "search", raw: `{"query":"a","limit":"5"}`, want: `{"limit":5,"query":"a"}`,
			rules: []schema.Rule{schema.RuleNumber},
		},
		{
			name: "integer as padded string", schema: "search", raw: `{"query":"a","limit":" 5 "}`,
			want: `{"limit":5,"query":"a"}`, rules: []schema.Rule{schema.RuleNumber},
		},
		{
			name: "negative number as string", schema: "ids", raw: `{"ids":["-3"]}`, want: `{"ids":[-3]}`,
			rules: []schema.Rule{schema.RuleNumber},
		},
		{
			name: "number as string keeps its digits", schema: "order",
			raw:   `{"orderId":"1","status":"open","amount":"0.1000000000000000055511151231257827"}`,
			want:  `{"amount":0.1000000000000000055511151231257827,"orderId":"1","status":"open"}`,
			rules: []schema.Rule{schema.RuleNumber},
		},
		{name: "fraction for an integer", schema: "search", raw: `{"query":"a","limit":5.5}`, path: "/limit"},
		{name: "fraction as string for an integer", schema: "search", raw: `{"query":"a","limit":"5.5"}`, path: "/limit"},
		{name: "leading zero", schema: "search", raw: `{"query":"a","limit":"007"}`, path: "/limit"},
		{name: "thousands separator", schema: "search", raw: `{"query":"a","limit":"1,000"}`, path: "/limit"},
		{name: "number with a unit", schema: "search", raw: `{"query":"a","limit":"5 rows"}`, path: "/limit"},
		{name: "number as a word", schema: "search", raw: `{"query":"a","limit":"five"}`, path: "/limit"},
		{name: "number out of range", schema: "search", raw: `{"query":"a","limit":"500"}`, path: "/limit"},
		{name: "hexadecimal", schema: "search", raw: `{"query":"a","limit":"0x10"}`, path: "/limit"},
		{name: "empty string for a number", schema: "search", raw: `{"query":"a","limit":""}`, path: "/limit"},
		{name: "huge exponent", schema: "search", raw: `{"query":"a","limit":1e999999999}`, path: "/limit"},
		{name: "huge exponent as string", schema: "search", raw: `{"query":"a","limit":"1e999999999"}`, path: "/limit"},
		{
			name: "true as string", schema: "search", raw: `{"query":"a","exact":"true"}`, want: `{"exact":true,"query":"a"}`,
			rules: []schema.Rule{schema.RuleBoolean},
		},
		{
			name: "False as Python wrote it", schema: "search", raw: `{"query":"a","exact":"False"}`,
			want: `{"exact":false,"query":"a"}`, rules: []schema.Rule{schema.RuleBoolean},
		},
		{name: "yes for true", schema: "search", raw: `{"query":"a","exact":"yes"}`, path: "/exact"},
		{name: "1 for true", schema: "search", raw: `{"query":"a","exact":1}`, path: "/exact"},
		{name: "boolean for an integer", schema: "search", raw: `{"query":"a","limit":true}`, path: "/limit"},
		{
			name: "number for a string", schema: "order", raw: `{"orderId":17,"status":"open"}`,
			want: `{"orderId":"17","status":"open"}`, rules: []schema.Rule{schema.RuleText},
		},
		{
			name: "long number for a string", schema: "order", raw: `{"orderId":12345678901234567890123,"status":"open"}`,
			want: `{"orderId":"12345678901234567890123","status":"open"}`, rules: []schema.Rule{schema.RuleText},
		},
		{
			name: "boolean for a string", schema: "search", raw: `{"query":true}`, want: `{"query":"true"}`,
			rules: []schema.Rule{schema.RuleText},
		},
		{name: "null for a required string", schema: "search", raw: `{"query":null}`, path: "/query"},
		{name: "object for a string", schema: "search", raw: `{"query":{"text":"a"}}`, path: "/query"},
		{
			name: "null text where null may stand", schema: "flags", raw: `{"n":"null"}`, want: `{"n":null}`,
			rules: []schema.Rule{schema.RuleNull},
		},
		{
			name: "integer text where null may stand", schema: "flags", raw: `{"n":"12"}`, want: `{"n":12}`,
			rules: []schema.Rule{schema.RuleNumber},
		},
		{
			name: "null for an optional property", schema: "search", raw: `{"query":"a","limit":null}`, want: `{"query":"a"}`,
			rules: []schema.Rule{schema.RuleDropNull},
		},
		{
			name: "nulls for several optional properties", schema: "search", raw: `{"query":"a","limit":null,"exact":null}`,
			want: `{"query":"a"}`, rules: []schema.Rule{schema.RuleDropNull, schema.RuleDropNull},
		},
		{
			name: "nested null", schema: "order",
			raw:   `{"orderId":"1","status":"open","address":{"city":"x","zip":null,"lat":null}}`,
			want:  `{"address":{"city":"x","lat":null},"orderId":"1","status":"open"}`,
			rules: []schema.Rule{schema.RuleDropNull},
		},

		// Arrays.
		{
			name: "one string for an array", schema: "order", raw: `{"orderId":"1","status":"open","tags":"vip"}`,
			want: `{"orderId":"1","status":"open","tags":["vip"]}`, rules: []schema.Rule{schema.RuleList},
		},
		{name: "list in a string", schema: "order", raw: `{"orderId":"1","status":"open","tags":"a, b"}`, path: "/tags"},
		{
			name: "JSON array in a string", schema: "order", raw: `{"orderId":"1","status":"open","tags":"[\"a\",\"b\"]"}`,
			want: `{"orderId":"1","status":"open","tags":["a","b"]}`, rules: []schema.Rule{schema.RuleJSONText},
		},
		{
			name: "malformed array in a string", schema: "order", raw: `{"orderId":"1","status":"open","tags":"['a','b']"}`,
			want: `{"orderId":"1","status":"open","tags":["a","b"]}`, rules: []schema.Rule{schema.RuleJSONText},
		},
		{
			name: "cut off array in a string", schema: "order", raw: `{"orderId":"1","status":"open","tags":"[\"a\",\"b"}`,
			path: "/tags",
		},
		{
			name: "numbers in an array of strings", schema: "order", raw: `{"orderId":"1","status":"open","tags":[1,"b"]}`,
			want: `{"orderId":"1","status":"open","tags":["1","b"]}`, rules: []schema.Rule{schema.RuleText},
		},
		{
			name: "strings in an array of integers", schema: "ids", raw: `{"ids":["1",2,"3"]}`, want: `{"ids":[1,2,3]}`,
			rules: []schema.Rule{schema.RuleNumber, schema.RuleNumber},
		},
		{name: "one bad item", schema: "ids", raw: `{"ids":["1","x"]}`, path: "/ids/1"},
		{
			name: "array of one for a string", schema: "search", raw: `{"query":["a"]}`, want: `{"query":"a"}`,
			rules: []schema.Rule{schema.RuleSingle},
		},
		{
			name: "array of one for a number in a string", schema: "search", raw: `{"query":"a","limit":["5"]}`,
			want: `{"limit":5,"query":"a"}`, rules: []schema.Rule{schema.RuleSingle, schema.RuleNumber},
		},
		{name: "array of two for a string", schema: "search", raw: `{"query":["a","b"]}`, path: "/query"},
		{
			name: "one object for an array of objects", schema: "order",
			raw:  `{"orderId":"1","status":"open","lines":{"sku":"a","count":1}}`,
			want: `{"lines":[{"count":1,"sku":"a"}],"orderId":"1","status":"open"}`, rules: []schema.Rule{schema.RuleList},
		},
		{
			name: "object as text in an array", schema: "order",
			raw:   `{"orderId":"1","status":"open","lines":["{\"sku\":\"a\",\"count\":\"2\"}"]}`,
			want:  `{"lines":[{"count":2,"sku":"a"}],"orderId":"1","status":"open"}`,
			rules: []schema.Rule{schema.RuleJSONText, schema.RuleNumber},
		},
		{
			name: "one for a tuple of draft 7", schema: "old", raw: `{"pair":["a","2"]}`, want: `{"pair":["a",2]}`,
			rules: []schema.Rule{schema.RuleNumber},
		},
		{name: "tuple too long", schema: "old", raw: `{"pair":["a",2,3]}`, path: "/pair/2"},
		{
			name: "recipient for a list", schema: "send", raw: `{"to":"ada@example.com","message":"hi"}`,
			want: `{"message":"hi","to":["ada@example.com"]}`, rules: []schema.Rule{schema.RuleList},
		},

		// Objects.
		{
			name: "object as text", schema: "order", raw: `{"orderId":"1","status":"open","address":"{\"city\":\"x\"}"}`,
			want: `{"address":{"city":"x"},"orderId":"1","status":"open"}`, rules: []schema.Rule{schema.RuleJSONText},
		},
		{
			name: "string for an object", schema: "order", raw: `{"orderId":"1","status":"open","address":"Paris"}`,
			path: "/address",
		},
		{
			name: "wrong deep inside", schema: "order",
			raw: `{"orderId":"1","status":"open","lines":[{"sku":"a","count":"two"}]}`, path: "/lines/0/count",
		},
		{
			name: "missing deep inside", schema: "order", raw: `{"orderId":"1","status":"open","address":{"zip":"1"}}`,
			path: "/address/city",
		},
		{
			name: "number deep inside", schema: "order",
			raw:  `{"orderId":"1","status":"open","address":{"city":"x","zip":75001}}`,
			want: `{"address":{"city":"x","zip":"75001"},"orderId":"1","status":"open"}`, rules: []schema.Rule{schema.RuleText},
		},
		{
			name: "map of numbers as strings", schema: "map", raw: `{"counts":{"a":"1","b":2}}`,
			want: `{"counts":{"a":1,"b":2}}`, rules: []schema.Rule{schema.RuleNumber},
		},
		{name: "map with one bad value", schema: "map", raw: `{"counts":{"a":"x"}}`, path: "/counts/a"},

		// Names.
		{
			name: "snake case", schema: "order", raw: `{"order_id":"1","status":"open"}`,
			want: `{"orderId":"1","status":"open"}`, rules: []schema.Rule{schema.RuleRename},
		},
		{
			name: "upper case", schema: "search", raw: `{"Query":"a"}`, want: `{"query":"a"}`,
			rules: []schema.Rule{schema.RuleRename},
		},
		{
			name: "kebab case", schema: "order", raw: `{"order-id":"1","status":"open"}`,
			want: `{"orderId":"1","status":"open"}`, rules: []schema.Rule{schema.RuleRename},
		},
		{
			name: "optional property misspelled in a closed object", schema: "search", raw: `{"query":"a","LIMIT":3}`,
			want: `{"limit":3,"query":"a"}`, rules: []schema.Rule{schema.RuleRename},
		},
		{
			name: "two spellings at once", schema: "order", raw: `{"order_id":"1","order-id":"2","status":"open"}`,
			path: "/order-id",
		},
		{
			name: "spelling beside the right one", schema: "order", raw: `{"order_id":"1","orderId":"2","status":"open"}`,
			path: "/order_id",
		},
		{name: "typo", schema: "search", raw: `{"querry":"a"}`, path: "/querry"},
		{name: "stranger in a closed object", schema: "search", raw: `{"query":"a","page":2}`, path: "/page"},
		{
			name: "nested spelling", schema: "order", raw: `{"orderId":"1","status":"open","address":{"City":"x"}}`,
			want: `{"address":{"city":"x"},"orderId":"1","status":"open"}`, rules: []schema.Rule{schema.RuleRename},
		},
		{name: "alias q", schema: "search", raw: `{"q":"a"}`, want: `{"query":"a"}`, rules: []schema.Rule{schema.RuleAlias}},
		{
			name: "alias question", schema: "search", raw: `{"question":"a"}`, want: `{"query":"a"}`,
			rules: []schema.Rule{schema.RuleAlias},
		},
		{
			name: "alias search", schema: "open", raw: `{"search":"a","limit":2}`, want: `{"limit":2,"query":"a"}`,
			rules: []schema.Rule{schema.RuleAlias},
		},
		{
			name: "alias text", schema: "open", raw: `{"text":"a"}`, want: `{"query":"a"}`,
			rules: []schema.Rule{schema.RuleAlias},
		},
		{
			name: "alias in camel case", schema: "search", raw: `{"searchQuery":"a"}`, want: `{"query":"a"}`,
			rules: []schema.Rule{schema.RuleAlias},
		},
		{
			name: "alias with a number", schema: "search", raw: `{"q":5}`, want: `{"query":"5"}`,
			rules: []schema.Rule{schema.RuleAlias, schema.RuleText},
		},
		{name: "two aliases", schema: "open", raw: `{"q":"a","text":"b"}`, path: "/query"},
		{name: "alias that is declared", schema: "two", raw: `{"text":"a"}`, path: "/query"},
		{
			name: "alias of another property", schema: "fetch", raw: `{"uri":"https://example.com"}`,
			want: `{"url":"https://example.com"}`, rules: []schema.Rule{schema.RuleAlias},
		},
		{name: "alias that two could mean", schema: "two", raw: `{"input":"a"}`, path: "/query"},
		{name: "alias beside the right one in a closed object", schema: "search", raw: `{"query":"a","q":"b"}`, path: "/q"},

		// Enums.
		{
			name: "enum in upper case", schema: "order", raw: `{"orderId":"1","status":"OPEN"}`,
			want: `{"orderId":"1","status":"open"}`, rules: []schema.Rule{schema.RuleEnum},
		},
		{
			name: "enum with a space", schema: "order", raw: `{"orderId":"1","status":"In Progress"}`,
			want: `{"orderId":"1","status":"in_progress"}`, rules: []schema.Rule{schema.RuleEnum},
		},
		{
			name: "enum in lower case", schema: "fetch", raw: `{"url":"u","method":"get"}`, want: `{"method":"GET","url":"u"}`,
			rules: []schema.Rule{schema.RuleEnum},
		},
		{name: "no such member", schema: "order", raw: `{"orderId":"1","status":"done"}`, path: "/status"},
		{name: "enum in an array of one", schema: "order", raw: `{"orderId":"1","status":["open"]}`, path: "/status"},

		// Unions, references, combinations.
		{
			name: "integer or null", schema: "maybe", raw: `{"when":"5"}`, want: `{"when":5}`,
			rules: []schema.Rule{schema.RuleNumber},
		},
		{
			name: "null text for integer or null", schema: "maybe", raw: `{"when":"None"}`, want: `{"when":null}`,
			rules: []schema.Rule{schema.RuleNull},
		},
		{
			name: "integer or boolean", schema: "either", raw: `{"v":"true"}`, want: `{"v":true}`,
			rules: []schema.Rule{schema.RuleBoolean},
		},
		{name: "neither", schema: "either", raw: `{"v":"maybe"}`, path: "/v"},
		{
			name: "branch by its constant", schema: "union", raw: `{"target":{"kind":"user","id":"7"}}`,
			want: `{"target":{"id":7,"kind":"user"}}`, rules: []schema.Rule{schema.RuleNumber},
		},
		{
			name: "union as text", schema: "union", raw: `{"target":"{\"kind\":\"team\",\"name\":\"a\"}"}`,
			want: `{"target":{"kind":"team","name":"a"}}`, rules: []schema.Rule{schema.RuleJSONText},
		},
		{name: "union of an unknown kind", schema: "union", raw: `{"target":{"kind":"robot"}}`, path: "/target"},
		{
			name: "through a reference", schema: "refs", raw: `{"a":"1","b":["2",3]}`, want: `{"a":1,"b":[2,3]}`,
			rules: []schema.Rule{schema.RuleNumber, schema.RuleNumber},
		},
		{
			name: "through a recursive reference", schema: "tree", raw: `{"name":"r","children":[{"name":5,"children":"[]"}]}`,
			want:  `{"children":[{"children":[],"name":"5"}],"name":"r"}`,
			rules: []schema.Rule{schema.RuleJSONText, schema.RuleText},
		},
		{
			name: "through allOf", schema: "all", raw: `{"n":"1","s":2}`, want: `{"n":1,"s":"2"}`,
			rules: []schema.Rule{schema.RuleNumber, schema.RuleText},
		},

		// Several at once.
		{
			name: "all at once", schema: "order",
			raw:  "```json\n{'order_id': 7, 'status': 'Closed', 'tags': 'a', 'amount': '1.5',}\n```",
			want: `{"amount":1.5,"orderId":"7","status":"closed","tags":["a"]}`,
			rules: []schema.Rule{
				schema.RuleCodeFence, schema.RuleRepair, schema.RuleRename, schema.RuleNumber, schema.RuleText, schema.RuleEnum,
				schema.RuleList,
			},
		},
		{
			name: "one mend does not excuse another mistake", schema: "order", raw: `{"order_id":7,"status":"gone"}`,
			path: "/status",
		},
	}
	cache := schema.New(0)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			require.Contains(t, schemas, tt.schema)
			s, err := cache.Compile(json.RawMessage(schemas[tt.schema]))
			require.NoError(t, err)
			got, receipt, err := s.Prepare(t.Context(), json.RawMessage(tt.raw))
			if tt.want == "" {
				require.Error(t, err, "became %s", got)
				require.Equal(t, tool.Invalid, tool.KindOf(err))
				require.Empty(t, got)
				if tt.path != "" {
					require.Equal(t, tt.path, tool.AsError(err).Path, err.Error())
				}
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want, string(got))
			var rules []schema.Rule
			for _, e := range receipt {
				rules = append(rules, e.Rule)
			}
			require.Equal(t, tt.rules, rules)
			require.NoError(t, s.Validate(t.Context(), got))
		})
	}
}
