package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/tool"
)

// comparison compares two schemas recursively.
type comparison struct {
	direction     Direction
	before, after any // The documents, for references.
	seen          map[[2]string]bool
	changes       []Change
}

func (c *comparison) add(path string, b Bump, format string, args ...any) {
	c.changes = append(c.changes, Change{Path: path, Bump: b, Reason: fmt.Sprintf(format, args...)})
}

// narrowed records that fewer values are valid than before. That breaks writers of the
// values, but not their readers.
func (c *comparison) narrowed(path, format string, args ...any) {
	c.add(path, map[Direction]Bump{Input: Major, Output: Minor}[c.direction], format, args...)
}

// widened records that more values are valid than before.
func (c *comparison) widened(path, format string, args ...any) {
	c.add(path, map[Direction]Bump{Input: Minor, Output: Major}[c.direction], format, args...)
}

// schemas compares two subschemas for the value at path.
func (c *comparison) schemas(before, after any, path string) {
	old, oldRef := resolve(c.before, before)
	now, nowRef := resolve(c.after, after)
	if oldRef != "" || nowRef != "" {
		key := [2]string{oldRef, nowRef}
		if c.seen[key] {
			return
		}
		c.seen[key] = true
	}
	a, okA := asMap(old)
	b, okB := asMap(now)
	if !okA || !okB { // At least one is false, which accepts nothing.
		switch {
		case okA:
			c.add(path, Major, "nothing is accepted any more")
		case okB:
			c.widened(path, "something is accepted now")
		}
		return
	}
	c.types(a, b, path)
	c.members(a, b, path)
	c.bounds(a, b, path)
	c.properties(a, b, path)
	c.required(a, b, path)
	c.surplus(a, b, path)
	c.items(a, b, path)
	c.branches(a, b, path)
	c.opaque(a, b, path)
}

// resolve follows local references.
func resolve(doc, node any) (any, string) {
	ref := ""
	for range 16 {
		m, _ := node.(map[string]any)
		next, ok := m["$ref"].(string)
		if !ok || !strings.HasPrefix(next, "#") {
			return node, ref
		}
		target, found := lookup(doc, unescapeLocation(next[1:]))
		if !found {
			return node, ref
		}
		node, ref = target, next
	}
	return node, ref
}

// asMap returns a subschema as an object; not ok for false.
func asMap(node any) (map[string]any, bool) {
	switch n := node.(type) {
	case bool:
		return map[string]any{}, n
	case map[string]any:
		return n, true
	default:
		return map[string]any{}, true
	}
}

func (c *comparison) types(a, b map[string]any, path string) {
	old, now := typeSet(a["type"]), typeSet(b["type"])
	lost, gained := missingFrom(old, now), missingFrom(now, old)
	if len(lost) > 0 {
		c.narrowed(path, "type %s is no longer accepted", strings.Join(lost, ", "))
	}
	if len(gained) > 0 {
		c.widened(path, "type %s is accepted now", strings.Join(gained, ", "))
	}
}

// typeSet lists the types that a "type" keyword accepts. A number is an integer or a
// fraction, so it includes integer.
func typeSet(keyword any) []string {
	var names []string
	switch k := keyword.(type) {
	case string:
		names = []string{k}
	case []any:
		for _, name := range k {
			names = append(names, fmt.Sprint(name))
		}
	default:
		names = []string{"array", "boolean", "null", "number", "object", "string"}
	}
	if slices.Contains(names, "number") {
		names = append(names, "integer")
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// missingFrom lists the elements of a that are not in b.
func missingFrom(a, b []string) []string {
	var out []string
	for _, s := range a {
		if !slices.Contains(b, s) {
			out = append(out, s)
		}
	}
	return out
}

// members compares enum and const.
func (c *comparison) members(a, b map[string]any, path string) {
	old, oldSet := memberSet(a)
	now, nowSet := memberSet(b)
	switch {
	case oldSet && !nowSet:
		c.widened(path, "any value is accepted now, not only those of a list")
	case !oldSet && nowSet:
		c.narrowed(path, "only the values of a list are accepted now")
	default:
		if lost := missingFrom(old, now); len(lost) > 0 {
			c.narrowed(path, "%s is no longer accepted", tool.Clip(strings.Join(lost, ", "), 120))
		}
		if gained := missingFrom(now, old); len(gained) > 0 {
			c.widened(path, "%s is accepted now", tool.Clip(strings.Join(gained, ", "), 120))
		}
	}
}

func memberSet(m map[string]any) ([]string, bool) {
	values, listed := m["enum"].([]any)
	if value, ok := m["const"]; ok {
		values, listed = []any{value}, true
	}
	var out []string
	for _, v := range values {
		out = append(out, literal(v))
	}
	return out, listed
}

// bounds compares keywords with a number: a greater lower bound and a smaller upper bound
// are narrower.
func (c *comparison) bounds(a, b map[string]any, path string) {
	for _, keyword := range slices.Sorted(maps.Keys(bounds)) {
		old, hadOld := number(a[keyword])
		now, hasNow := number(b[keyword])
		order := 0
		switch {
		case hadOld && hasNow:
			order = now.Cmp(old)
		case hasNow:
			c.narrowed(path, "%s %s applies now", keyword, literal(b[keyword]))
		case hadOld:
			c.widened(path, "%s no longer applies", keyword)
		}
		if strings.HasPrefix(keyword, "max") || keyword == "exclusiveMaximum" {
			order = -order
		}
		if order > 0 {
			c.narrowed(path, "%s went from %s to %s", keyword, literal(a[keyword]), literal(b[keyword]))
		} else if order < 0 {
			c.widened(path, "%s went from %s to %s", keyword, literal(a[keyword]), literal(b[keyword]))
		}
	}
}

func number(v any) (*big.Rat, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return nil, false
	}
	return new(big.Rat).SetString(string(n))
}

// items compares the schemas of an array's items.
func (c *comparison) items(a, b map[string]any, path string) {
	old, now := a["items"], b["items"]
	_, oldList := old.([]any)
	_, nowList := now.([]any)
	switch {
	case oldList || nowList: // Positions in draft 7.
		if !same(old, now) {
			c.add(path, Major, "items by position changed")
		}
	case old != nil && now != nil:
		c.schemas(old, now, path+"/*")
	case now != nil:
		c.schemas(true, now, path+"/*")
	case old != nil:
		c.schemas(old, true, path+"/*")
	}
}

// branches compares anyOf and oneOf: by position if their number is unchanged, else by
// content.
func (c *comparison) branches(a, b map[string]any, path string) {
	for _, keyword := range []string{"anyOf", "oneOf"} {
		old, _ := a[keyword].([]any)
		now, _ := b[keyword].([]any)
		switch {
		case len(old) == len(now):
			for i := range old {
				c.schemas(old[i], now[i], path)
			}
		case len(now) == 0:
			c.widened(path, "the alternatives of %s no longer apply", keyword)
		case len(old) == 0:
			c.narrowed(path, "the alternatives of %s apply now", keyword)
		default:
			was, is := texts(old), texts(now)
			if n := len(missingFrom(was, is)); n > 0 {
				c.narrowed(path, "%s alternatives of %s were removed", strconv.Itoa(n), keyword)
			}
			if n := len(missingFrom(is, was)); n > 0 {
				c.widened(path, "%s alternatives of %s are new", strconv.Itoa(n), keyword)
			}
		}
	}
}

func texts(nodes []any) []string {
	out := make([]string, len(nodes))
	for i, n := range nodes {
		raw, _ := encode(withoutWords(n)) // Decoded JSON always encodes.
		out[i] = string(raw)
	}
	return out
}
