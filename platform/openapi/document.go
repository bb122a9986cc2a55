package openapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/toolcrib/toolcrib/platform/yamlvalue"
	"github.com/toolcrib/toolcrib/tool"
)

// yamlLimits are the limits that YAML is read within.
var yamlLimits = yamlvalue.Limits{Nodes: maxNodes, Depth: maxDepth}

// document is a parsed document. It is immutable.
type document struct {
	root    object
	version string // Of OpenAPI, such as 3.0.3.
	legacy  bool   // 3.0, which has its own dialect of JSON Schema.
	digest  string // Of the bytes, SHA-256 in hexadecimal.
	work    int    // Schema nodes that may still be converted.
	notes   []Loss // Found while parsing.
	budget
}

// object is a JSON object. The methods of a nil object return zero values.
type object map[string]any

func (o object) object(name string) object { return asObject(o[name]) }

func (o object) list(name string) []any {
	list, _ := o[name].([]any)
	return list
}

func (o object) text(name string) string {
	text, _ := o[name].(string)
	return text
}

func (o object) flag(name string) bool {
	flag, _ := o[name].(bool)
	return flag
}

func asObject(v any) object {
	m, _ := v.(map[string]any)
	return m
}

// refuse returns the failure of a whole import. path is a JSON Pointer within
// the document.
func refuse(path, format string, args ...any) *tool.Error {
	return &tool.Error{
		Kind: tool.Invalid, Op: "openapi.Map", Path: path,
		Msg: "the document" + at(path) + ": " + fmt.Sprintf(format, args...),
	}
}

func at(path string) string {
	if path == "" {
		return ""
	}
	return " at " + clip(path, 200)
}

// read reads a document, JSON or YAML.
func read(ctx context.Context, raw []byte) (*document, error) {
	if len(raw) > MaxDocumentBytes {
		return nil, refuse("", "it has %d bytes: at most %d are read", len(raw), MaxDocumentBytes)
	}
	sum := sha256.Sum256(raw)
	raw = bytes.TrimPrefix(raw, []byte("\uFEFF"))
	value, err := decode(raw)
	if err != nil {
		return nil, refuse("", "%s", clean(err.Error(), 300))
	}
	root, ok := value.(map[string]any)
	if !ok {
		return nil, refuse("", "expected an object")
	}
	d := &document{root: root, digest: hex.EncodeToString(sum[:]), work: maxWork, budget: budget{ctx: ctx}}
	return d, d.checkVersion()
}

func decode(raw []byte) (any, error) {
	if text := bytes.TrimLeft(raw, " \t\r\n"); len(text) == 0 || text[0] != '{' {
		return yamlvalue.Read(raw, yamlLimits)
	}
	v, err := readJSON(raw)
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		if fromYAML, yamlErr := yamlvalue.Read(raw, yamlLimits); yamlErr == nil { // YAML in its flow style.
			return fromYAML, nil
		}
	}
	return v, err
}

func readJSON(raw []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("it is no JSON: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more than one JSON value in it")
	}
	nodes := 0
	return v, measure(v, 0, &nodes)
}

// measure holds a JSON document to the limits that YAML is read within.
func measure(v any, depth int, nodes *int) error {
	*nodes++
	if *nodes > maxNodes {
		return fmt.Errorf("more than %d values", maxNodes)
	}
	if depth > maxDepth {
		return fmt.Errorf("nested more than %d deep", maxDepth)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, member := range v {
			if err := measure(member, depth+1, nodes); err != nil {
				return err
			}
		}
	case []any:
		for _, item := range v {
			if err := measure(item, depth+1, nodes); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *document) checkVersion() error {
	if version := d.root["swagger"]; version != nil {
		if fmt.Sprint(version) != swaggerVersion {
			return refuse("/swagger", "it is Swagger %s: Swagger 2.0, OpenAPI 3.0 and 3.1 are read",
				clean(fmt.Sprint(version), 20))
		}
		if err := d.checkPaths(); err != nil {
			return err
		}
		return d.convertSwagger()
	}
	switch v := d.root["openapi"].(type) {
	case string:
		d.version = clean(v, 20)
	case json.Number: // YAML without quotes.
		d.version = clean(v.String(), 20)
	default:
		return refuse(
			"/openapi", "expected the version of OpenAPI, 3.0 or 3.1 (or swagger: 2.0): is this an OpenAPI document?",
		)
	}
	switch {
	case d.version == "3.0" || strings.HasPrefix(d.version, "3.0."):
		d.legacy = true
	case d.version == "3.1" || strings.HasPrefix(d.version, "3.1."):
	default:
		return refuse("/openapi", "it is of OpenAPI %s: Swagger 2.0, OpenAPI 3.0 and 3.1 are read", d.version)
	}
	if dialect := d.root.text("jsonSchemaDialect"); dialect != "" && !knownDialect(dialect) {
		return refuse("/jsonSchemaDialect", "its schemas are of the dialect %s: JSON Schema 2020-12 and draft 7 are read",
			clean(dialect, 120))
	}
	return d.checkPaths()
}

func (d *document) checkPaths() error {
	if paths, has := d.root["paths"]; has && asObject(paths) == nil && paths != nil {
		return refuse("/paths", "expected an object")
	}
	return nil
}

func knownDialect(uri string) bool {
	for _, known := range []string{
		"spec.openapis.org/oas/3.1/dialect/", "json-schema.org/draft/2020-12/schema", "json-schema.org/draft-07/schema",
	} {
		if strings.Contains(uri, known) {
			return true
		}
	}
	return false
}
