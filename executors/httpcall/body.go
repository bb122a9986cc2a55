package httpcall

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// checkBody reports malformed references in a body.
func checkBody(path string, raw json.RawMessage) error {
	if _, ok, err := reference(raw); err != nil {
		return fault(path+"/from", messageOf(err))
	} else if ok {
		return nil
	}
	switch kind(raw) {
	case '{':
		object, err := readArguments(raw)
		if err != nil {
			return fault(path, "malformed JSON")
		}
		for _, name := range object.names {
			if err := checkBody(path+"/"+escape(name), object.members[name]); err != nil {
				return err
			}
		}
	case '[':
		var array []json.RawMessage
		if err := json.Unmarshal(raw, &array); err != nil {
			return fault(path, "malformed JSON")
		}
		for i, item := range array {
			if err := checkBody(path+"/"+strconv.Itoa(i), item); err != nil {
				return err
			}
		}
	}
	return nil
}

// fill writes a body with its references replaced by arguments, byte for
// byte. It returns nil for an absent argument.
func fill(raw json.RawMessage, args *arguments) (json.RawMessage, error) {
	if p, ok, err := reference(raw); err != nil {
		return nil, err
	} else if ok {
		v, found := p.find(args.raw)
		if !found {
			return nil, nil
		}
		return v, nil
	}
	switch kind(raw) {
	case '{':
		object, err := readArguments(raw)
		if err != nil {
			return nil, err
		}
		return writeObject(object.names, func(name string) (json.RawMessage, error) { return fill(object.members[name], args) })
	case '[':
		var array []json.RawMessage
		if err := json.Unmarshal(raw, &array); err != nil {
			return nil, fmt.Errorf("reading body: %w", err)
		}
		return writeArray(array, args)
	default:
		return raw, nil
	}
}

// writeObject writes an object of members in the given order; those of which
// value returns nil are left out.
func writeObject(names []string, value func(name string) (json.RawMessage, error)) (json.RawMessage, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for _, name := range names {
		v, err := value(name)
		if err != nil {
			return nil, err
		}
		if v == nil {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, fmt.Errorf("writing member name: %w", err)
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(v)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// writeArray writes an array in which absent arguments are null.
func writeArray(items []json.RawMessage, args *arguments) (json.RawMessage, error) {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, item := range items {
		v, err := fill(item, args)
		if err != nil {
			return nil, err
		}
		if v == nil {
			v = json.RawMessage("null")
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(v)
	}
	b.WriteByte(']')
	return b.Bytes(), nil
}

func kind(raw json.RawMessage) byte {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return 0
	}
	return raw[0]
}
