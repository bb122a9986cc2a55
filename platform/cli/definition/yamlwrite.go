package definition

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Format writes a JSON value as a YAML document, and keeps the order of
// members. [Parse] reads the same value from it. The writers of goccy/go-yaml and
// go.yaml.in/yaml/v3 do not hold that: they round large numbers, or leave texts
// unquoted that are read as something else.
func Format(raw json.RawMessage) (string, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var w yamlWriter
	if err := w.value(dec, "", ""); err != nil {
		return "", fmt.Errorf("writing YAML: %w", err)
	}
	return strings.TrimPrefix(w.out.String(), "\n"), nil
}

type yamlWriter struct{ out strings.Builder }

// value writes the next value after a name or a dash: on the same line after
// lead, or on lines of its own that begin with indent.
func (w *yamlWriter) value(dec *json.Decoder, lead, indent string) error {
	token, err := dec.Token()
	if err != nil {
		return err
	}
	switch token := token.(type) {
	case json.Delim:
		if !dec.More() {
			_, err := dec.Token()
			w.out.WriteString(lead + map[json.Delim]string{'{': "{}", '[': "[]"}[token] + "\n")
			return err
		}
		if token == '{' {
			err = w.object(dec, indent)
		} else {
			err = w.list(dec, indent)
		}
		if err != nil {
			return err
		}
		_, err = dec.Token()
		return err
	case string:
		w.out.WriteString(lead + yamlText(token, indent) + "\n")
	case nil:
		w.out.WriteString(lead + "null\n")
	case json.Number, bool:
		fmt.Fprintf(&w.out, "%s%v\n", lead, token)
	default:
		return errors.New("an unknown kind of value")
	}
	return nil
}

func (w *yamlWriter) object(dec *json.Decoder, indent string) error {
	w.out.WriteByte('\n')
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return err
		}
		name, _ := token.(string)
		w.out.WriteString(indent + yamlName(name) + ":")
		if err := w.value(dec, " ", indent+"  "); err != nil {
			return err
		}
	}
	return nil
}

// list writes items below each other. The first member of an object begins on
// the line of its dash.
func (w *yamlWriter) list(dec *json.Decoder, indent string) error {
	w.out.WriteByte('\n')
	for dec.More() {
		var item yamlWriter
		if err := item.value(dec, " ", indent+"  "); err != nil {
			return err
		}
		text := item.out.String()
		if rest, ok := strings.CutPrefix(text, "\n"+indent+"  "); ok {
			text = " " + rest
		}
		w.out.WriteString(indent + "-" + text)
	}
	return nil
}

var (
	// plainText needs no quotes at any position.
	plainText = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./@^()-]*(?: [A-Za-z0-9_./@^()-]+)*[.,]?$`)
	// blockLines are lines that need no escapes below "|".
	blockLines = regexp.MustCompile(`^[^\s\pC][^\pC]*$`)
	// words are not plain: YAML reads them as something else, or did once.
	yamlWords = regexp.MustCompile(`(?i)^(null|true|false|yes|no|on|off|y|n|inf|nan|[0-9a-f.e_]+)$`)
)

func yamlText(text, indent string) string {
	if block, ok := yamlBlock(text, indent); ok {
		return block
	}
	return yamlName(text)
}

func yamlName(text string) string {
	if plainText.MatchString(text) && !yamlWords.MatchString(text) {
		return text
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // A string.
	return strings.TrimSpace(b.String())
}

// yamlBlock writes a text of several lines as a literal block, if that is safe.
func yamlBlock(text, indent string) (string, bool) {
	body, ended := strings.CutSuffix(text, "\n")
	lines := strings.Split(body, "\n")
	if len(lines) < 2 || indent == "" {
		return "", false
	}
	var block strings.Builder
	block.WriteString("|")
	if !ended {
		block.WriteString("-")
	}
	for i, line := range lines {
		if strings.TrimRight(line, " ") != line || (i == 0 || i == len(lines)-1) && line == "" ||
			line != "" && !blockLines.MatchString(strings.TrimLeft(line, " ")) || i == 0 && strings.HasPrefix(line, " ") {
			return "", false
		}
		block.WriteString("\n")
		if line != "" {
			block.WriteString(indent + line)
		}
	}
	return block.String(), true
}
