package httpcall

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// withParameter returns a raw query in which a parameter has one value; the others
// keep their order and spelling.
func withParameter(query, name, value string) string {
	var kept []string
	for pair := range strings.SplitSeq(query, "&") {
		key, _, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(key); pair == "" || err == nil && plain == name {
			continue
		}
		kept = append(kept, pair)
	}
	return strings.Join(append(kept, url.QueryEscape(name)+"="+url.QueryEscape(value)), "&")
}

// place returns raw with value at the path of tokens, creating missing objects;
// everything else keeps its bytes.
func place(raw json.RawMessage, tokens []string, value json.RawMessage) (json.RawMessage, error) {
	if len(tokens) == 0 {
		return value, nil
	}
	if len(bytes.TrimSpace(raw)) == 0 || isNull(raw) {
		raw = json.RawMessage("{}")
	}
	switch kind(raw) {
	case '{':
		return placeMember(raw, tokens, value)
	case '[':
		var items []json.RawMessage
		i, err := strconv.Atoi(tokens[0])
		if json.Unmarshal(raw, &items) != nil || err != nil || i < 0 || i >= len(items) {
			return nil, argument("", fmt.Sprintf("the body has no item %.40q to put a cursor into", tokens[0]))
		}
		if items[i], err = place(items[i], tokens[1:], value); err != nil {
			return nil, err
		}
		return append(append([]byte("["), bytes.Join(asBytes(items), []byte(","))...), ']'), nil
	default:
		return nil, argument("", fmt.Sprintf("the body cannot take a cursor at %.40q", tokens[0]))
	}
}

func placeMember(raw json.RawMessage, tokens []string, value json.RawMessage) (json.RawMessage, error) {
	object, err := readArguments(raw)
	if err != nil {
		return nil, err
	}
	if _, ok := object.members[tokens[0]]; !ok {
		object.names = append(object.names, tokens[0])
	}
	if object.members[tokens[0]], err = place(object.members[tokens[0]], tokens[1:], value); err != nil {
		return nil, err
	}
	return writeMembers(object, object.names)
}

func asBytes(items []json.RawMessage) [][]byte {
	out := make([][]byte, len(items))
	for i, item := range items {
		out[i] = item
	}
	return out
}
