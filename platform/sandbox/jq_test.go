package sandbox_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// jqCase is a filter, its input, and its outputs as they are written: object
// keys sorted, no spaces.
type jqCase struct{ filter, input, want string }

// jqLanguage are the features of jq, as gojq has them.
var jqLanguage = map[string][]jqCase{
	"Paths": {
		{`.`, `{"b":1,"a":[2]}`, `[{"a":[2],"b":1}]`},
		{`.a.b`, `{"a":{"b":1}}`, `[1]`},
		{`.a.b.c`, `{"a":null}`, `[null]`},
		{`."a b", .["a b"]`, `{"a b":1}`, `[1,1]`},
		{`.a?, .[0]?`, `5`, `[]`},
		{`.[]`, `{"b":1,"a":2}`, `[2,1]`},
		{`.[0], .[-1], .[9]`, `[1,2,3]`, `[1,3,null]`},
		{`.[1:3], .[:-1], .[1:][1:]`, `[1,2,3,4]`, `[[2,3],[1,2,3],[3,4]]`},
		{`.[1:3]`, `"aüçd"`, `["üç"]`},
		{`..`, `[[1],{"a":2}]`, `[[[1],{"a":2}],[1],1,{"a":2},2]`},
		{`[.. | numbers]`, `[[1],{"a":2}]`, `[[1,2]]`},
		{`[paths]`, `{"a":[1]}`, `[[["a"],["a",0]]]`},
		{`[paths(type == "number")]`, `{"a":[1,"x"]}`, `[[["a",0]]]`},
		{`getpath(["a",0,"b"]), path(.a[0].b)`, `{"a":[{"b":5}]}`, `[5,["a",0,"b"]]`},
		{`pick(.a.b, .c)`, `{"a":{"b":1,"x":2},"c":3,"d":4}`, `[{"a":{"b":1},"c":3}]`},
	},
	"Construction": {
		{`{a, b: 2, "c": .a, (.k): 4, "x\(.a)": 5}`, `{"a":1,"k":"key"}`, `[{"a":1,"b":2,"c":1,"key":4,"x1":5}]`},
		{`{a: (1, 2)}`, `null`, `[{"a":1},{"a":2}]`},
		{`. as $x | {$x, y: [$x, $x]}`, `1`, `[{"x":1,"y":[1,1]}]`},
		{`[.[] | . * 2], []`, `[1,2]`, `[[2,4],[]]`},
		{`"\(1 + 2) is \("three") \([1, null])"`, `null`, `["3 is three [1,null]"]`},
		{`"é\n\u00fc\ud83d\ude00"`, `null`, `["é\nü😀"]`},
	},
	"Arithmetic": {
		{`1 + 2 * 3 - 4 / 2, 7 % 3, -7 % 3, 5.5 % 2`, `null`, `[5,1,-1,1]`},
		{`.[0] + .[1]`, `[{"a":1,"b":1},{"b":2}]`, `[{"a":1,"b":2}]`},
		{`null + 1, "a" + "b", [1] + [2], [1,2,1] - [1]`, `null`, `[1,"ab",[1,2],[2]]`},
		{`{a: {b: 1, c: 2}} * {a: {b: 3}}`, `null`, `[{"a":{"b":3,"c":2}}]`},
		{`"ab" * 3, "a,b" / ","`, `null`, `["ababab",["a","b"]]`},
		{`floor, ceil, round, sqrt, fabs`, `6.25`, `[6,7,6,2.5,6.25]`},
		{`pow(2; 10), log2, exp10`, `2`, `[1024,1,100]`},
		{`[.[] | abs]`, `[-5,0,2.5]`, `[[5,0,2.5]]`},
		{`infinite > 1e308, nan < 1, ([nan] | sort == [nan]), (nan | isnan)`, `null`, `[true,true,false,true]`},
		{`. + 1, . * .`, `9007199254740993`, `[9007199254740994,81129638414606699710187514626049]`},
		{`1 / 3, 10 / 5, 1e3`, `null`, `[0.3333333333333333,2,1000]`},
		{`.price`, `{"price":1.10}`, `[1.10]`},
	},
	"Logic": {
		{`1 == 1.0, "a" != "b", [1] == [1], {} == []`, `null`, `[true,true,true,false]`},
		{`null < false, false < true, true < 0, 0 < "", "" < [], [] < {}`, `null`, `[true,true,true,true,true,true]`},
		{`(true, false) and (true, false)`, `null`, `[true,false,false]`},
		{`null or 0, (false | not), (null | not), (0 | not)`, `null`, `[true,true,true,false]`},
		{`if . > 2 then "big" elif . == 2 then "two" else "small" end`, `2`, `["two"]`},
		{`if . then 1 end`, `false`, `[false]`},
		{`if (true, false) then 1 else 2 end`, `null`, `[1,2]`},
		{`.a // "default", (false, null, 1) // 2, empty // 3, (null, false) // 4`, `{}`, `["default",1,3,4]`},
		{`select(.n > 1) | .id`, `{"id":"x","n":2}`, `["x"]`},
		{`any, all, any(. > 2), all(. > 0)`, `[1,2,3]`, `[true,true,true,true]`},
		{`[] | any, all`, `null`, `[false,true]`},
	},
	"Variables": {
		{`. as [$a, {b: $c}] | $a + $c`, `[1,{"b":2}]`, `[3]`},
		{`. as {a: $x, b: [$y]} | [$x, $y]`, `{"a":1,"b":[2]}`, `[[1,2]]`},
		{`.[] as [$a] ?// $a | $a`, `[[1],2]`, `[1,2]`},
		{`(1, 2) as $x | (10, 20) as $y | $x + $y`, `null`, `[11,21,12,22]`},
	},
	"Functions": {
		{`def f: . * 2; f | f`, `3`, `[12]`},
		{`def f(g): [g, g]; f(.a)`, `{"a":1}`, `[[1,1]]`},
		{`def f($x; $y): $x - $y; f(5; 3)`, `null`, `[2]`},
		{`def fac: if . <= 1 then 1 else . * (. - 1 | fac) end; fac`, `25`, `[15511210043330985984000000]`},
		{`def f: def g: 3; g * 2; f`, `null`, `[6]`},
		{`def f(x): x | x; f(. + 1)`, `1`, `[3]`},
		{`[recurse(if . < 3 then . + 1 else empty end)]`, `0`, `[[0,1,2,3]]`},
	},
	"Reduction": {
		{`reduce .[] as $x (0; . + $x)`, `[1,2,3]`, `[6]`},
		{`reduce .[] as [$k, $v] ({}; .[$k] += $v)`, `[["a",1],["b",2],["a",3]]`, `[{"a":4,"b":2}]`},
		{`[foreach .[] as $x (0; . + $x)]`, `[1,2,3]`, `[[1,3,6]]`},
		{`[foreach .[] as $x (0; . + $x; [$x, .])]`, `[1,2]`, `[[[1,1],[2,3]]]`},
		{`[range(3)], [range(2; 4)], [range(0; 10; 4)], [range(3; 0; -1)]`, `null`, `[[0,1,2],[2,3],[0,4,8],[3,2,1]]`},
		{`[limit(2; .[])], first(.[]), last(.[]), nth(1; .[])`, `[5,6,7]`, `[[5,6],5,7,6]`},
		{`[.[] | until(. > 100; . * 2)], [1 | while(. < 9; . * 2)]`, `[3,7]`, `[[192,112],[1,2,4,8]]`},
		{`[label $out | .[] | if . > 2 then break $out else . end]`, `[1,2,3,1]`, `[[1,2]]`},
		{`isempty(.[]), isempty(empty)`, `[1]`, `[false,true]`},
		{`add, add(.[] * 2), ([] | add)`, `[1,2]`, `[3,6,null]`},
	},
	"Errors": {
		{`try error("no") catch .`, `null`, `["no"]`},
		{`try error({code: 1}) catch .code`, `null`, `[1]`},
		{`[.[] | try tonumber catch "?"]`, `["1","x"]`, `[[1,"?"]]`},
		{`[.[] | tonumber?]`, `["1","x","2.50"]`, `[[1,2.5]]`},
		{`(.a | error)? // "none"`, `{"a":1}`, `["none"]`},
	},
	"Updates": {
		{`.a = 1, .b.c = 2`, `{"a":0}`, `[{"a":1},{"a":0,"b":{"c":2}}]`},
		{`.[] |= . + 1`, `[1,2]`, `[[2,3]]`},
		{
			`.a += 1 | .b -= 1 | .c *= 2 | .d /= 2 | .e //= 5 | .f %= 4`, `{"a":1,"b":1,"c":3,"d":4,"f":7}`,
			`[{"a":2,"b":0,"c":6,"d":2,"e":5,"f":3}]`,
		},
		{`(.[] | select(. > 1)) |= empty`, `[1,5,2]`, `[[1]]`},
		{`.[1:2] = ["x","y"]`, `[1,2,3]`, `[[1,"x","y",3]]`},
		{`del(.a, .b[0])`, `{"a":1,"b":[1,2]}`, `[{"b":[2]}]`},
		{`delpaths([["a"],["b","c"]])`, `{"a":1,"b":{"c":1,"d":2}}`, `[{"b":{"d":2}}]`},
		{`setpath(["a",1]; 5)`, `null`, `[{"a":[null,5]}]`},
		{`to_entries, (to_entries | from_entries)`, `{"a":1}`, `[[{"key":"a","value":1}],{"a":1}]`},
		{`with_entries(.value += 1 | .key |= ascii_upcase)`, `{"a":1}`, `[{"A":2}]`},
		{`map_values(. + 1), map(. * 2)`, `{"a":1}`, `[{"a":2},[2]]`},
		{`walk(if type == "number" then . + 1 else . end)`, `[1,{"a":2}]`, `[[2,{"a":3}]]`},
	},
	"Collections": {
		{`length`, `"aü😀"`, `[3]`},
		{`[.[] | length]`, `[null,-5,"ab",[1],{"a":1}]`, `[[0,5,2,1,1]]`},
		{`keys, has("a"), (.b | has(0))`, `{"b":[1],"a":0}`, `[["a","b"],true,true]`},
		{`[.[] | in({"a":1})]`, `["a","b"]`, `[[true,false]]`},
		{`contains({a: ["x"]}), inside({a: ["xyz"], b: 1})`, `{"a":["xyz"]}`, `[true,true]`},
		{`sort, sort_by(-.), min, max, unique, reverse`, `[2,1,2]`, `[[1,2,2],[2,2,1],1,2,[1,2],[2,1,2]]`},
		{`sort_by(.a, .b) | map(.b)`, `[{"a":2,"b":1},{"a":1,"b":3},{"a":1,"b":2}]`, `[[2,3,1]]`},
		{
			`group_by(.k) | map({k: .[0].k, n: length})`, `[{"k":"b"},{"k":"a"},{"k":"b"}]`,
			`[[{"k":"a","n":1},{"k":"b","n":2}]]`,
		},
		{`unique_by(.k) | map(.v)`, `[{"k":1,"v":"a"},{"k":1,"v":"b"}]`, `[["a"]]`},
		{`min_by(.v), max_by(.v)`, `[{"v":3},{"v":1}]`, `[{"v":1},{"v":3}]`},
		{`flatten, flatten(1), transpose`, `[[1,[2]],[3]]`, `[[1,2,3],[1,[2],3],[[1,3],[[2],null]]]`},
		{`index(2), rindex(2), indices(2), indices([2,3])`, `[1,2,3,2]`, `[1,3,[1,3],[1]]`},
		{`[combinations], [.[0] | combinations(2)]`, `[[1,2],[3]]`, `[[[1,3],[2,3]],[[1,1],[1,2],[2,1],[2,2]]]`},
		{`[splits(", *")], [.[0:1], .[2:]]`, `"a, b"`, `[["a","b"],["a"," b"]]`},
		{`INDEX(.id) | map_values(.v)`, `[{"id":"x","v":1},{"id":"y","v":2}]`, `[{"x":1,"y":2}]`},
		{`[IN(.[]; 2, 3)], (.[0] | IN(1, 9))`, `[1,2]`, `[[true],true]`},
		{`bsearch(3), bsearch(2)`, `[1,3,5]`, `[1,-2]`},
		{`tostream`, `{"a":[1]}`, `[[["a",0],1],[["a",0]],[["a"]]]`},
		{`fromstream(tostream)`, `{"a":[1,{"b":2}]}`, `[{"a":[1,{"b":2}]}]`},
		{`[.[] | scalars], [.[] | iterables | length]`, `[1,"a",[2],{},null]`, `[[1,"a",null],[1,0]]`},
	},
	"Texts": {
		{`ascii_downcase, ascii_upcase, explode, (explode | implode)`, `"aB"`, `["ab","AB",[97,66],"aB"]`},
		{`split(", "), join("-")?, ltrimstr("a"), rtrimstr("b")`, `"a, b"`, `[["a","b"],", b","a, "]`},
		{`join("-")`, `["a",1,null,true]`, `["a-1--true"]`},
		{`startswith("a"), endswith("c"), trim, ltrim, rtrim`, `" a "`, `[false,false,"a","a "," a"]`},
		{`test("B"; "i"), test("^b$")`, `"abc"`, `[true,false]`},
		{`match("(?<y>\\d+)-(\\d+)") | .captures | map([.name, .string])`, `"on 2024-05"`, `[[["y","2024"],[null,"05"]]]`},
		{`capture("(?<y>\\d+)-(?<m>\\d+)")`, `"2024-05"`, `[{"m":"05","y":"2024"}]`},
		{`[scan("\\d+")], [match("b"; "g").offset]`, `"a1b22b"`, `[["1","22"],[2,5]]`},
		{
			`sub("a"; "x"), gsub("a"; "x"), gsub("(?<c>[an])"; "<\(.c)>")`, `"banana"`,
			`["bxnana","bxnxnx","b<a><n><a><n><a>"]`,
		},
		{`tostring, tojson, ([1, "2"] | tostring)`, `"x"`, `["x","\"x\"","[1,\"2\"]"]`},
		{`fromjson | .a`, `"{\"a\":[1]}"`, `[[1]]`},
		{`type`, `"x"`, `["string"]`},
		{`[.[] | type]`, `[null,true,1,"",[],{}]`, `[["null","boolean","number","string","array","object"]]`},
		{`utf8bytelength, ([65, 252] | implode)`, `"ü"`, `[2,"Aü"]`},
	},
	"Formats": {
		{`@text, @json`, `[1,"a"]`, `["[1,\"a\"]","[1,\"a\"]"]`},
		{`@csv, @tsv`, `[1,"a\"b",null,true]`, `["1,\"a\"\"b\",,true","1\ta\"b\t\ttrue"]`},
		{
			`@html, @uri, @sh`, `"<a b='c'>&"`,
			`["&lt;a b=&apos;c&apos;&gt;&amp;","%3Ca%20b%3D%27c%27%3E%26","'<a b='\\''c'\\''>&'"]`,
		},
		{`@base64, (@base64 | @base64d)`, `"hi ü"`, `["aGkgw7w=","hi ü"]`},
		{`@uri "https://x.example/?q=\(.q)"`, `{"q":"a&b"}`, `["https://x.example/?q=a%26b"]`},
		{`@urid`, `"a%20b"`, `["a b"]`},
	},
	"Dates": {
		{`todate, gmtime, (gmtime | mktime)`, `1709632800`, `["2024-03-05T10:00:00Z",[2024,2,5,10,0,0,2,64],1709632800]`},
		{`fromdate, (strptime("%Y-%m-%dT%H:%M:%SZ") | mktime)`, `"2024-03-05T10:00:00Z"`, `[1709632800,1709632800]`},
		{`strftime("%A %d %B %Y %j")`, `1709632800`, `["Tuesday 05 March 2024 065"]`},
	},
	"Inputs": {
		{`env, $ENV`, `null`, `[{},{}]`},
		{`[.[] | tojson], (tojson | fromjson)`, `[1.10,1e1000]`, `[["1.10","1e1000"],[1.10,1e1000]]`},
		{`now | type`, `null`, `["number"]`},
		{`1, halt, 2`, `null`, `[1]`},
	},
	// Where gojq differs from jq, intended or not: check these when upgrading
	// it.
	"Differences": {
		{`.[1], .[-1]`, `"text"`, `["e","t"]`},
		{`[limit(3; repeat(. * 2))]`, `1`, `[[2,2,2]]`},
		{`fromdate`, `"2024-03-05T10:00:00+02:00"`, `[1709625600]`},
		{`strptime("%Y-%m-%d %H:%M %z") | mktime`, `"2024-03-05 10:00 +0200"`, `[1709625600]`},
		{`. % 1000000007`, `100000000000000000000000000`, `[899999972]`},
	},
}

// TestJQLanguage asks every case of one pool.
func TestJQLanguage(t *testing.T) {
	t.Parallel()
	p := newPool(t)

	count := 0
	for name, cases := range jqLanguage {
		count += len(cases)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, c := range cases {
				got, err := run(t, p, sandbox.Job{Language: sandbox.JQ, Program: []byte(c.filter), Input: json.RawMessage(c.input)})
				require.NoError(t, err, c.filter)
				require.Equal(t, c.want, got, c.filter)
			}
		})
	}
	require.GreaterOrEqual(t, count, 80)
}

// TestJQRefuses checks the class of errors of filters, by which callers
// distinguish an invalid filter from one that fails.
func TestJQRefuses(t *testing.T) {
	t.Parallel()
	p := newPool(t)

	for _, c := range []struct {
		filter, input string
		class         sandbox.Class
		says          string
	}{
		{`.[`, `null`, sandbox.Malformed, "does not parse"},
		{`{a: }`, `null`, sandbox.Malformed, "does not parse"},
		{`.a |`, `null`, sandbox.Malformed, "does not parse"},
		{`if . then 1`, `null`, sandbox.Malformed, "does not parse"},
		{`"\(1"`, `null`, sandbox.Malformed, "does not parse"},
		{`$x`, `null`, sandbox.Malformed, "$x"},
		{`f`, `null`, sandbox.Malformed, "f/0"},
		{`map(1; 2)`, `null`, sandbox.Malformed, "map/2"},
		{`break $out`, `null`, sandbox.Malformed, "out"},
		{`include "x"; .`, `null`, sandbox.Malformed, "module"},
		{`inputs`, `null`, sandbox.Malformed, "input"},
		{`input_filename`, `null`, sandbox.Malformed, "input_filename"},
		{`$__loc__`, `null`, sandbox.Malformed, "__loc__"},
		{`get_search_list`, `null`, sandbox.Malformed, "get_search_list"},
		{`.a`, `[1]`, sandbox.Failed, "expected an object"},
		{`.[0]`, `{"a":1}`, sandbox.Failed, "expected an array"},
		{`.[]`, `1`, sandbox.Failed, "iterate"},
		{`1 + "a"`, `null`, sandbox.Failed, "cannot add"},
		{`{} - 1`, `null`, sandbox.Failed, "cannot subtract"},
		{`1 / 0`, `null`, sandbox.Failed, "cannot divide"},
		{`tonumber`, `"x"`, sandbox.Failed, "tonumber"},
		{`fromjson`, `"{"`, sandbox.Failed, "fromjson"},
		{`test("(")`, `"a"`, sandbox.Failed, "regular expression"},
		{`test("a(?=b)")`, `"a"`, sandbox.Failed, "regular expression"},
		{`@base64d`, `"*"`, sandbox.Failed, "base64"},
		{`@csv`, `[[1]]`, sandbox.Failed, "csv"},
		{`@nosuch`, `"x"`, sandbox.Failed, "format not defined"},
		{`error`, `"said"`, sandbox.Failed, "said"},
		{`error({a: 1})`, `null`, sandbox.Failed, `{"a":1}`},
		{`implode`, `["x"]`, sandbox.Failed, "implode"},
		{`"a" * 1e12`, `null`, sandbox.Failed, "too large"},
		{`.[1e12] = 1`, `null`, sandbox.Failed, "index"},
	} {
		_, err := run(t, p, sandbox.Job{Language: sandbox.JQ, Program: []byte(c.filter), Input: json.RawMessage(c.input)})
		require.Equal(t, c.class, classOf(err), "%s: %v", c.filter, err)
		require.ErrorContains(t, err, c.says, c.filter)
	}
}
