package definition

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/tool"
)

// Contract is a tool in a Markdown file: the definition is its front matter, and its prose says
// what the tool does, when to use it, and with which arguments.
type Contract struct {
	Document
	Examples []Example
}

// Example is a call that a contract shows.
type Example struct {
	Name      string
	Arguments json.RawMessage
	Expect    json.RawMessage // What the answer has to contain; empty for anything.
	Line      int
}

// ReadContracts reads contracts from files, and from folders recursively: there those that are named
// TOOL.md or *.tool.md.
func ReadContracts(ctx context.Context, paths []string, stdin io.Reader) ([]Contract, error) {
	var all []Contract
	for _, path := range paths {
		files, err := contractFiles(ctx, path)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			raw, err := readDefinition(ctx, file, stdin)
			if err != nil {
				return nil, err
			}
			c, err := ParseContract(file, raw)
			if err != nil {
				return nil, err
			}
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		return nil, &tool.Error{Kind: tool.Invalid, Msg: "there is no TOOL.md or *.tool.md in " + strings.Join(paths, ", ")}
	}
	return all, nil
}

// IsContract reports whether a name is that of a contract rather than of a tool.
func IsContract(name string) bool { return strings.EqualFold(filepath.Ext(name), ".md") }

func contractFiles(ctx context.Context, path string) ([]string, error) {
	info, err := os.Lstat(path)
	if path == "-" || err != nil || !info.IsDir() {
		if path != "-" {
			_, err = regular(path)
		}
		return []string{path}, err
	}
	var files []string
	err = filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		name := strings.ToLower(entry.Name())
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return interrupted(ctx.Err())
		case entry.IsDir() && file != path && strings.HasPrefix(name, "."):
			return filepath.SkipDir
		case !entry.IsDir() && (name == "tool.md" || strings.HasSuffix(name, ".tool.md")):
			if _, err := regular(file); err != nil {
				return err
			}
			files = append(files, file)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return files, nil
}

// ParseContract reads a contract. Its front matter is one YAML mapping between two lines of "---".
// Of the prose behind it,
//
//   - the first heading is the tool's name, unless the front matter has one;
//   - the text below that heading, and the sections "When to use" and "When not to use", are the
//     description, unless the front matter has one;
//   - in the section "Examples", each block of json is the arguments of a call, named by the heading
//     or line before it, and a block of "json expect" is what the answer to the call before it contains.
//
// It fails with a [*FileError] at the line of the fault.
func ParseContract(name string, raw []byte) (Contract, error) {
	lines := strings.Split(strings.ReplaceAll(string(raw), "\r\n", "\n"), "\n")
	lines[0] = strings.TrimPrefix(lines[0], "\uFEFF")
	fault := func(line int, format string, args ...any) error {
		e := &FileError{File: name, Line: line, Column: 1, Msg: fmt.Sprintf(format, args...)}
		if line <= len(lines) {
			e.Source = lines[line-1]
		}
		return e
	}
	if strings.TrimRight(lines[0], " \t") != "---" {
		return Contract{}, fault(1, "a contract begins with its definition: YAML between two lines of ---")
	}
	end := 1
	for end < len(lines) && strings.TrimRight(lines[end], " \t") != "---" {
		end++
	}
	if end == len(lines) {
		return Contract{}, fault(1, "the definition has no end: a second line of ---")
	}
	// An empty first line keeps the places of the others.
	documents, err := Parse(name, []byte("\n"+strings.Join(lines[1:end], "\n")+"\n"))
	if err != nil {
		return Contract{}, err
	}
	if len(documents) != 1 {
		return Contract{}, fault(1, "the definition is empty: write slug, implementation_type and the like here")
	}
	c := Contract{Document: documents[0]}
	c.source = raw
	p := prose{fault: fault}
	if err := p.read(lines, end+1); err != nil {
		return Contract{}, err
	}
	c.Examples = p.examples
	var fields map[string]json.RawMessage
	if json.Unmarshal(c.Raw, &fields) != nil || fields == nil {
		return Contract{}, fault(2, "the definition has to be names and values")
	}
	if kind, ok := fields["kind"]; ok && string(kind) != `"tool"` {
		return Contract{}, c.Fault("/kind", "a contract defines a tool")
	}
	for field, text := range map[string]string{"name": p.title, "description": p.description()} {
		if _, given := fields[field]; !given && text != "" {
			fields[field], _ = json.Marshal(text) // A string.
		}
	}
	fields["kind"] = json.RawMessage(`"tool"`)
	if c.Raw, err = json.Marshal(fields); err != nil {
		return Contract{}, fault(2, "the definition cannot be written as JSON")
	}
	return c, nil
}

// Sections of a contract's prose.
const (
	sectionAbout    = ""
	sectionWhen     = "when to use"
	sectionWhenNot  = "when not to use"
	sectionExamples = "examples"
)

// prose is what a contract says behind its definition.
type prose struct {
	fault    func(line int, format string, args ...any) error
	title    string
	texts    map[string][]string // Lines by section.
	examples []Example
}

// read reads the lines behind the front matter.
func (p *prose) read(lines []string, from int) error {
	p.texts = map[string][]string{}
	section, label := sectionAbout, ""
	for i := from; i < len(lines); i++ {
		line := strings.TrimRight(lines[i], " \t")
		if fence, info, ok := fenceOf(line); ok {
			end := i + 1
			for end < len(lines) && strings.TrimSpace(lines[end]) != fence {
				end++
			}
			if end == len(lines) {
				return p.fault(i+1, "the block of code has no end: a line of %s", fence)
			}
			if section == sectionExamples {
				if err := p.example(info, label, strings.Join(lines[i+1:end], "\n"), i+1); err != nil {
					return err
				}
			}
			i = end
			continue
		}
		if level, text := headingOf(line); level > 0 {
			switch {
			case level == 1 && p.title == "":
				p.title = text
			case level <= 2:
				section, label = strings.ToLower(strings.TrimRight(text, ":")), ""
			default:
				label = text
			}
			continue
		}
		if section == sectionExamples && strings.TrimSpace(line) != "" {
			label = strings.TrimRight(strings.TrimSpace(line), ":")
			continue
		}
		p.texts[section] = append(p.texts[section], line)
	}
	return nil
}

// example reads a block of the examples.
func (p *prose) example(info, label, text string, line int) error {
	words := strings.Fields(strings.ToLower(info))
	if len(words) == 0 || words[0] != "json" {
		return nil // Of something else, such as a shell.
	}
	value := json.RawMessage(text)
	var object map[string]json.RawMessage
	err := json.Unmarshal(value, &object)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		before := text[:min(len(text), int(syntax.Offset))]
		return p.fault(line+1+strings.Count(before, "\n"), "this is no JSON: %s", syntax.Error())
	}
	var compact bytes.Buffer
	if err == nil {
		err = json.Compact(&compact, value)
	}
	if err != nil {
		return p.fault(line, "an example is a JSON object")
	}
	if slices.Contains(words, "expect") {
		if len(p.examples) == 0 || p.examples[len(p.examples)-1].Expect != nil {
			return p.fault(line, "there is no call before it whose answer this is")
		}
		p.examples[len(p.examples)-1].Expect = compact.Bytes()
		return nil
	}
	p.examples = append(p.examples, Example{
		Name: label, Arguments: compact.Bytes(), Line: line,
	})
	return nil
}

// description joins the paragraphs of the text that models read.
func (p *prose) description() string {
	var parts []string
	for _, section := range []string{sectionAbout, sectionWhen, sectionWhenNot} {
		text := strings.Join(strings.Fields(strings.Join(p.texts[section], " ")), " ")
		if text == "" {
			continue
		}
		switch section {
		case sectionWhen:
			text = led("Use it", text)
		case sectionWhenNot:
			text = led("Do not use it", text)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}

// led returns a text that begins with a lead, unless it does already.
func led(lead, text string) string {
	lower := strings.ToLower(text)
	for _, own := range []string{"use ", "do not ", "don't ", "never ", "not "} {
		if strings.HasPrefix(lower, own) {
			return text
		}
	}
	return lead + ": " + text
}

// fenceOf returns the fence of a block of code that a line opens, and what stands behind it.
func fenceOf(line string) (fence, info string, ok bool) {
	trimmed := strings.TrimLeft(line, " ")
	if !strings.HasPrefix(trimmed, "```") {
		return "", "", false
	}
	rest := strings.TrimLeft(trimmed, "`")
	return trimmed[:len(trimmed)-len(rest)], strings.TrimSpace(rest), true
}

// headingOf returns the level and the text of a heading; zero for another line.
func headingOf(line string) (level int, text string) {
	rest := strings.TrimLeft(line, "#")
	level = len(line) - len(rest)
	if level == 0 || level > 6 || !strings.HasPrefix(rest, " ") {
		return 0, ""
	}
	return level, strings.TrimSpace(rest)
}
