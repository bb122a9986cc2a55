package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// mostBytes bounds a file of settings, and a file that one refers to.
const mostBytes = 1 << 20

var yamlLine = regexp.MustCompile(`line (\d+): `)

// Read reads a file of known settings. References are resolved: a file is named
// from the folder of the settings, and a variable is read by getenv. All mistakes
// are returned, each an [*Error], joined.
func Read(file string, known []Setting, getenv func(string) string) ([]Value, error) {
	raw, err := readFile(file)
	if err != nil {
		return nil, &Error{File: file, Msg: err.Error()}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	var document yaml.Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, syntaxError(file, err)
	}
	var second yaml.Node
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, &Error{File: file, Msg: "expected one YAML document"}
	}
	root := document.Content[0]
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		return nil, nil
	}
	if root.Kind != yaml.MappingNode {
		return nil, &Error{File: file, Line: root.Line, Msg: "expected settings as name: value"}
	}
	r := reader{file: file, known: known, getenv: getenv, lines: map[string]int{}}
	for i := 0; i+1 < len(root.Content); i += 2 {
		r.entry(root.Content[i], root.Content[i+1])
	}
	return r.values, errors.Join(r.mistakes...)
}

// readFile returns the content of a regular file of bounded size. Its errors do
// not repeat the name.
func readFile(name string) ([]byte, error) {
	f, err := os.Open(name) //nolint:gosec // The operator names it.
	if err != nil {
		return nil, withoutPath(err)
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, mostBytes+1))
	switch {
	case err != nil:
		return nil, withoutPath(err)
	case len(raw) > mostBytes:
		return nil, errors.New("the file is larger than 1 MiB")
	}
	return raw, nil
}

func withoutPath(err error) error {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return fmt.Errorf("cannot be read: %w", e.Err)
	}
	return err
}

// syntaxError says where a file is no YAML. The parser's message may quote a part
// of the text, which may be a secret: it is left out.
func syntaxError(file string, err error) error {
	line := 0
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		line, _ = strconv.Atoi(m[1]) // Digits alone.
	}
	return &Error{File: file, Line: line, Msg: "is not valid YAML here or above"}
}

type reader struct {
	file     string
	known    []Setting
	getenv   func(string) string
	lines    map[string]int // Where a variable was set.
	values   []Value
	mistakes []error
}

func (r *reader) fail(at *yaml.Node, format string, args ...any) {
	r.mistakes = append(r.mistakes, &Error{File: r.file, Line: at.Line, Msg: fmt.Sprintf(format, args...)})
}

func (r *reader) entry(key, value *yaml.Node) {
	if key.Kind != yaml.ScalarNode {
		r.fail(key, "expected the name of a setting")
		return
	}
	s, hint, ok := find(key.Value, r.known)
	if !ok {
		if hint == "" {
			hint = "; toolcrib settings lists them"
		}
		r.fail(key, "there is no setting %q%s", key.Value, hint)
		return
	}
	if line, set := r.lines[s.Variable]; set {
		r.fail(key, "%s is set twice: in line %d too", s.Key, line)
		return
	}
	r.lines[s.Variable] = key.Line
	v := Value{Setting: s, Line: key.Line}
	switch value.Kind { //nolint:exhaustive // The others are refused.
	case yaml.ScalarNode:
		ok = r.scalar(value, &v)
	case yaml.SequenceNode:
		ok = r.list(value, &v)
	case yaml.MappingNode:
		ok = r.reference(value, &v)
	default:
		r.fail(value, "%s: expected %s; YAML aliases are not supported", s.Key, s.Kind)
		return
	}
	if ok {
		r.values = append(r.values, v)
	}
}

// tags are those of scalars that a kind takes.
var tags = map[Kind][]string{
	Text: {"!!str"}, Bool: {"!!bool"}, Whole: {"!!int"}, Number: {"!!int", "!!float"}, Duration: {"!!str"},
}

func (r *reader) scalar(node *yaml.Node, v *Value) bool {
	for _, tag := range tags[v.Kind] {
		if node.Tag == tag && v.Kind.check(node.Value) == "" {
			v.Text = node.Value
			return true
		}
	}
	expected := string(v.Kind)
	if v.Kind == Text && node.Tag != "!!null" {
		expected = "a text: put it in quotes"
	}
	r.fail(node, "%s: expected %s", v.Key, expected)
	return false
}

func (r *reader) list(node *yaml.Node, v *Value) bool {
	if v.Kind != List {
		r.fail(node, "%s: expected %s, not a list", v.Key, v.Kind)
		return false
	}
	var items []string
	for _, item := range node.Content {
		switch {
		case item.Kind != yaml.ScalarNode || item.Tag != "!!str" && item.Tag != "!!int":
			r.fail(item, "%s: expected a list of texts", v.Key)
			return false
		case item.Value == "" || strings.Contains(item.Value, ","):
			r.fail(item, "%s: an item is empty or has a comma: give one text an item", v.Key)
			return false
		}
		items = append(items, item.Value)
	}
	v.Text = strings.Join(items, ",")
	return true
}

// reference resolves {file: NAME} and {env: NAME}.
func (r *reader) reference(node *yaml.Node, v *Value) bool {
	if len(node.Content) != 2 || node.Content[1].Kind != yaml.ScalarNode || node.Content[1].Value == "" {
		r.fail(node, "%s: a reference is {file: NAME} or {env: NAME}", v.Key)
		return false
	}
	name := node.Content[1].Value
	switch node.Content[0].Value {
	case "file":
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(r.file), name)
		}
		raw, err := readFile(name)
		if err != nil {
			r.fail(node, "%s: the file %s %v", v.Key, name, err)
			return false
		}
		v.Text, v.From = strings.TrimRight(string(raw), "\r\n"), name
	case "env":
		v.Text, v.From = r.getenv(name), name
	default:
		r.fail(node.Content[0], "%s: a reference is {file: NAME} or {env: NAME}, not %q", v.Key, node.Content[0].Value)
		return false
	}
	if v.Text == "" {
		r.fail(node, "%s: %s is empty or not set", v.Key, v.From)
		return false
	}
	if wrong := v.Kind.check(v.Text); wrong != "" {
		r.fail(node, "%s: %s has another value: %s", v.Key, v.From, wrong)
		return false
	}
	return true
}
