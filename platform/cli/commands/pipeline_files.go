package commands

import (
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/definition"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// mediaTypes are the types of documents by the ends of their names.
var mediaTypes = map[string]retrieval.MediaType{
	".txt": retrieval.Plain, ".text": retrieval.Plain, ".md": retrieval.Markdown, ".markdown": retrieval.Markdown,
	".html": retrieval.HTML, ".htm": retrieval.HTML, ".pdf": retrieval.PDF,
}

// file is a file that is to be a document.
type file struct {
	path string // Empty for standard input.
	key  string // Slash-separated.
}

// readDocuments reads the documents to add. It fails if any of them can't be
// read, so that nothing is added.
func (a *app) readDocuments(f addFlags, paths []string) ([]v1.NewDocument, error) {
	metadata, err := readMetadata(f.metadata)
	if err != nil {
		return nil, err
	}
	var files []file
	for _, p := range paths {
		found, err := a.filesAt(p, f.mediaType != "")
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	if strings.HasPrefix(f.key, store.KeyPrefix) {
		return nil, cli.Usagef("a document's key is shown to all who search, and this one looks like an API key: give that " +
			"with --key, and the document another with --document-key")
	}
	if len(files) > 1 && (f.key != "" || f.title != "") {
		return nil, cli.Usagef("--document-key and --title are for one file, and there are %d", len(files))
	}
	out := make([]v1.NewDocument, len(files))
	seen := make(map[string]string)
	for i, file := range files {
		d := v1.NewDocument{Key: file.key, Title: f.title, Source: file.path, Metadata: metadata}
		if f.key != "" {
			d.Key = f.key
		}
		if d.Key == "" {
			return nil, cli.Usagef("standard input needs --document-key")
		}
		if first, twice := seen[d.Key]; twice {
			return nil, cli.Usagef("%s and %s would both be the document %q", first, file.path, d.Key)
		}
		seen[d.Key] = file.path
		switch {
		case f.source != "" && len(files) > 1:
			d.Source = strings.TrimRight(f.source, "/") + "/" + d.Key
		case f.source != "":
			d.Source = f.source
		}
		if d.MediaType, err = mediaTypeOf(f.mediaType, file.path); err != nil {
			return nil, err
		}
		content, err := a.readDocument(file.path)
		if err != nil {
			return nil, err
		}
		if err := fill(&d, content, fileName(file.path)); err != nil {
			return nil, err
		}
		out[i] = d
	}
	return out, nil
}

// fileName is how a file is named to people.
func fileName(p string) string {
	if p == "" {
		return "standard input"
	}
	return p
}

// fill puts content into a document, and refuses what can be none.
func fill(d *v1.NewDocument, content []byte, name string) error {
	switch {
	case len(content) == 0:
		return unfit("%s is empty", name)
	case len(content) > retrieval.MaxDocumentBytes:
		return unfit("%s has more than %d MiB, which is the most that a document may have: cut it into several", name,
			retrieval.MaxDocumentBytes>>20)
	}
	if err := d.MediaType.CheckContent(content); err != nil {
		return unfit("%s: %s", name, tool.AsError(err).Msg)
	}
	switch {
	case d.MediaType == retrieval.PDF || retrieval.IsUTF16(content):
		d.Base64 = base64.StdEncoding.EncodeToString(content)
	case !utf8.Valid(content):
		return unfit("%s is neither UTF-8 nor UTF-16: save it in one of these", name)
	default:
		d.Text = string(content)
	}
	return nil
}

func unfit(format string, args ...any) error {
	return &tool.Error{Kind: tool.Invalid, Op: "pipeline.add", Msg: fmt.Sprintf(format, args...)}
}

// mediaTypeOf returns what was asked for, or what the end of a name says.
func mediaTypeOf(wanted, name string) (retrieval.MediaType, error) {
	if wanted != "" {
		for _, known := range retrieval.MediaTypes() {
			if string(known) == wanted {
				return known, nil
			}
		}
		return "", cli.Usagef("--type %q: expected text/plain, text/markdown, text/html or application/pdf", wanted)
	}
	if name == "" {
		return retrieval.Plain, nil
	}
	if known, ok := mediaTypes[strings.ToLower(filepath.Ext(name))]; ok {
		return known, nil
	}
	return "", unfit("%s: unknown media type of documents that end in %q: expected .txt, .md, .html or .pdf, or --type",
		name,
		filepath.Ext(name))
}

// filesAt lists the file at a path, or the files below it of a known type; with
// anything, which --type sets, files of any type.
func (a *app) filesAt(p string, anything bool) ([]file, error) {
	if p == "-" {
		return []file{{}}, nil
	}
	info, err := os.Stat(p)
	if err != nil {
		return nil, &tool.Error{Kind: tool.NotFound, Op: "pipeline.add", Msg: definition.Unreadable(p, err), Err: err}
	}
	if !info.IsDir() {
		return []file{{path: p, key: path.Base(filepath.ToSlash(p))}}, nil
	}
	var files []file
	passed := 0
	err = filepath.WalkDir(p, func(at string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case at != p && strings.HasPrefix(entry.Name(), "."):
			if entry.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case !entry.Type().IsRegular():
			return nil
		}
		if _, known := mediaTypes[strings.ToLower(filepath.Ext(at))]; !known && !anything {
			passed++
			return nil
		}
		below, err := filepath.Rel(p, at)
		files = append(files, file{path: at, key: filepath.ToSlash(below)})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", p, err)
	}
	if len(files) == 0 {
		return nil, cli.Usagef("there is nothing to add: no file in %s ends in .txt, .md, .html or .pdf", p)
	}
	if passed > 0 {
		// For a person only: an error is ignored.
		_, _ = fmt.Fprintf(a.Env.Err, "toolcrib: %d files of other types in %s are passed over\n", passed, terminal.Clean(p))
	}
	return files, nil
}

// readDocument reads a file, and one byte more than a document may have.
func (a *app) readDocument(p string) ([]byte, error) {
	in := a.Env.In
	if p != "" {
		opened, err := os.Open(p) //nolint:gosec // The user's.
		if err != nil {
			return nil, &tool.Error{Kind: tool.NotFound, Op: "pipeline.add", Msg: definition.Unreadable(p, err), Err: err}
		}
		defer func() { _ = opened.Close() }()
		in = opened
	}
	if in == nil {
		return nil, nil
	}
	raw, err := io.ReadAll(io.LimitReader(in, retrieval.MaxDocumentBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", fileName(p), err)
	}
	return raw, nil
}

// readMetadata reads fields and their values.
func readMetadata(fields []string) (retrieval.Metadata, error) {
	if len(fields) == 0 {
		return nil, nil
	}
	out := make(retrieval.Metadata, len(fields))
	for _, text := range fields {
		field, value, ok := strings.Cut(text, "=")
		if !ok || field == "" {
			return nil, cli.Usagef("--meta %q: expected field=value", text)
		}
		out[field] = value
		if n, err := strconv.ParseFloat(value, 64); err == nil && plainNumber(value) {
			out[field] = n
		} else if value == "true" || value == "false" {
			out[field] = value == "true"
		}
	}
	return out, nil
}

// plainNumber reports whether a text is a number that is written as most are,
// and not a code such as 007 or 1e5.
func plainNumber(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	return strings.Trim(digits, "0123456789.") == "" && (len(digits) < 2 || digits[0] != '0' || digits[1] == '.') &&
		len(digits) <= 15
}
