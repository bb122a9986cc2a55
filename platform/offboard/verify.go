package offboard

import (
	"archive/tar"
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/toolcrib/toolcrib/audit"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// maxManifest bounds the manifest that is read.
const maxManifest = 256 << 20

// Verify compares the files of an export with its manifest, and its audit log with the head that the
// manifest has. It returns the manifest and what is wrong; nothing for a whole export. It fails with
// tool.NotFound where there is no export, and with tool.Invalid where its manifest cannot be read.
func Verify(target string) (Manifest, []string, error) {
	found := &found{files: map[string]File{}}
	err := eachFile(target, found.add)
	if err != nil {
		return Manifest{}, nil, err
	}
	if found.manifest == nil {
		return Manifest{}, nil, &tool.Error{
			Kind: tool.Invalid, Op: "offboard", Msg: target + " has no " + manifestName + ": it is no whole export",
		}
	}
	return *found.manifest, found.faults(), nil
}

// found is what an export has.
type found struct {
	manifest *Manifest
	files    map[string]File
	chain    audit.Verifier
	broken   string
}

// eachFile calls fn for each file of a folder or tar file.
func eachFile(target string, fn func(name string, from io.Reader) error) error {
	in, err := os.Open(target) //nolint:gosec // The operator names it.
	if err != nil {
		return &tool.Error{Kind: tool.NotFound, Op: "offboard", Err: err, Msg: fmt.Sprintf("the export %s: %v", target, err)}
	}
	defer func() { _ = in.Close() }()
	info, err := in.Stat()
	if err != nil {
		return unreadable(target, err)
	}
	if !info.IsDir() {
		return eachEntry(target, in, fn)
	}
	root, err := os.OpenRoot(target)
	if err != nil {
		return unreadable(target, err)
	}
	defer func() { _ = root.Close() }()
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		from, err := root.Open(filepath.FromSlash(name))
		if err != nil {
			return unreadable(name, err)
		}
		defer func() { _ = from.Close() }()
		return fn(name, from)
	})
}

func eachEntry(target string, in io.Reader, fn func(name string, from io.Reader) error) error {
	entries := tar.NewReader(bufio.NewReader(in))
	for {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return unreadable(target, err)
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		if err := fn(header.Name, entries); err != nil {
			return err
		}
	}
}

func unreadable(name string, err error) error {
	return &tool.Error{Kind: tool.Invalid, Op: "offboard", Err: err, Msg: fmt.Sprintf("%s cannot be read: %v", name, err)}
}

// add reads a file.
func (f *found) add(name string, from io.Reader) error {
	if name == manifestName {
		f.manifest = &Manifest{}
		if err := json.NewDecoder(io.LimitReader(from, maxManifest)).Decode(f.manifest); err != nil {
			return unreadable(name, err)
		}
		if f.manifest.Format != Format {
			return &tool.Error{
				Kind: tool.Invalid, Op: "offboard",
				Msg: fmt.Sprintf("%s has the format %q, this binary reads %q", name, f.manifest.Format, Format),
			}
		}
		return nil
	}
	sum, counted := sha256.New(), &lines{}
	all := io.TeeReader(from, io.MultiWriter(sum, counted))
	if name == "audit.jsonl" {
		f.readChain(all)
	}
	if _, err := io.Copy(io.Discard, all); err != nil {
		return unreadable(name, err)
	}
	file := File{Path: name, Bytes: counted.bytes, SHA256: hex.EncodeToString(sum.Sum(nil))}
	if isLines(name) {
		file.Rows = counted.lines
	}
	f.files[name] = file
	return nil
}

// lines counts bytes and lines.
type lines struct{ bytes, lines int64 }

// Write implements [io.Writer].
func (l *lines) Write(p []byte) (int, error) {
	l.bytes += int64(len(p))
	l.lines += int64(bytes.Count(p, []byte("\n")))
	return len(p), nil
}

// readChain verifies the audit log.
func (f *found) readChain(from io.Reader) {
	rows := json.NewDecoder(from)
	for {
		var row v1.AuditRecord
		err := rows.Decode(&row)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			f.broken = fmt.Sprintf("audit.jsonl: what follows row %d is no row: %v", f.chain.Head.Seq, err)
			return
		}
		if broken := f.chain.Next(row.Entry()); broken != nil {
			f.broken = fmt.Sprintf("audit.jsonl: the chain is broken at row %d: %s", broken.Seq, broken.Reason)
			return
		}
	}
}

// faults lists what is not as the manifest has it.
func (f *found) faults() []string {
	var out []string
	if f.broken != "" {
		out = append(out, f.broken)
	} else if broken := f.chain.End(f.manifest.Audit.state()); broken != nil {
		out = append(out, fmt.Sprintf("audit.jsonl: row %d: %s", broken.Seq, broken.Reason))
	}
	for _, want := range f.manifest.Files {
		switch got, there := f.files[want.Path]; {
		case !there:
			out = append(out, want.Path+" is missing")
		case got != want:
			out = append(out, fmt.Sprintf("%s was changed: it has %d bytes and the hash %s", want.Path, got.Bytes, got.SHA256))
		}
		delete(f.files, want.Path)
	}
	for name := range f.files {
		out = append(out, name+" is not in the manifest")
	}
	slices.Sort(out)
	return out
}
