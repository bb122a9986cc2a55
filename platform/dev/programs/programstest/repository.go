// Package programstest plays a repository that PostgreSQL's programs are
// downloaded from.
package programstest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/ulikunitz/xz"

	"github.com/toolcrib/toolcrib/platform/dev/programs"
)

// Repository serves one artifact, for any version and build.
type Repository struct {
	URL      string
	Artifact []byte
	// Digests are the files beside the artifact, by their suffix. Serve makes
	// the one of SHA-256.
	Digests map[string]string
	// Answer answers a request for the artifact instead, if it is set, and
	// returns whether it did.
	Answer func(w http.ResponseWriter, r *http.Request, artifact []byte) bool

	asked atomic.Int64
}

// Serve serves an artifact until the test ends.
func Serve(t *testing.T, artifact []byte) *Repository {
	t.Helper()
	sum := sha256.Sum256(artifact)
	r := &Repository{Artifact: artifact, Digests: map[string]string{".sha256": hex.EncodeToString(sum[:])}}
	server := httptest.NewServer(http.HandlerFunc(r.serve))
	t.Cleanup(server.Close)
	r.URL = server.URL
	return r
}

// Asked returns how often the artifact was asked for.
func (r *Repository) Asked() int { return int(r.asked.Load()) }

func (r *Repository) serve(w http.ResponseWriter, req *http.Request) {
	switch suffix := path.Ext(req.URL.Path); suffix {
	case ".jar":
		r.asked.Add(1)
		if r.Answer != nil && r.Answer(w, req, r.Artifact) {
			return
		}
		http.ServeContent(w, req, "artifact.jar", time.Time{}, bytes.NewReader(r.Artifact))
	default:
		digest, ok := r.Digests[suffix]
		if !ok || !strings.HasPrefix(req.URL.Path, "/io/zonky/test/postgres/embedded-postgres-binaries-") {
			http.NotFound(w, req)
			return
		}
		_, _ = w.Write([]byte(digest))
	}
}

// Entry is one entry of an archive.
type Entry struct {
	tar.Header
	Content []byte
}

// Program returns the entry of a shell script.
func Program(name, script string) Entry {
	return Entry{tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o755}, []byte("#!/bin/sh\n" + script + "\n")}
}

// Artifact packs entries as the published artifacts are.
func Artifact(t *testing.T, entries ...Entry) []byte {
	t.Helper()
	var plain, packed, outer bytes.Buffer
	archive := tar.NewWriter(&plain)
	for _, e := range entries {
		e.Size = int64(len(e.Content))
		require.NoError(t, archive.WriteHeader(&e.Header))
		_, err := archive.Write(e.Content)
		require.NoError(t, err)
	}
	require.NoError(t, archive.Close())
	compressor, err := xz.NewWriter(&packed)
	require.NoError(t, err)
	_, err = compressor.Write(plain.Bytes())
	require.NoError(t, err)
	require.NoError(t, compressor.Close())
	jar := zip.NewWriter(&outer)
	for name, content := range map[string][]byte{
		"META-INF/MANIFEST.MF": []byte("Manifest-Version: 1.0\n"), "postgres.txz": packed.Bytes(),
	} {
		w, err := jar.Create(name)
		require.NoError(t, err)
		_, err = w.Write(content)
		require.NoError(t, err)
	}
	require.NoError(t, jar.Close())
	return outer.Bytes()
}

// MachineArtifact packs the PostgreSQL that this machine has. It takes seconds.
func MachineArtifact(t *testing.T) []byte {
	t.Helper()
	found, err := programs.Machine().Find(t.Context())
	require.NoError(t, err)
	server, err := filepath.EvalSymlinks(found[0].Path("postgres"))
	require.NoError(t, err)
	var entries []Entry
	for _, program := range []string{"postgres", "initdb"} {
		entries = append(entries, file(t, found[0].Path(program), "bin/"+program))
	}
	// Programs that were moved look for what they need where it was beside them
	// when they were built, and else where it was.
	prefix := filepath.Dir(filepath.Dir(server))
	for _, beside := range []struct{ folder, sign string }{
		{"share", "postgres.bki"},
		{"share/postgresql", "postgres.bki"},
		{"lib", "dict_snowball.*"},
		{"lib/postgresql", "dict_snowball.*"},
	} {
		signs, err := filepath.Glob(filepath.Join(prefix, beside.folder, beside.sign))
		require.NoError(t, err)
		if len(signs) > 0 {
			entries = append(entries, folder(t, prefix, beside.folder)...)
		}
	}
	return Artifact(t, entries...)
}

// folder packs a folder, without the compiler that nothing here uses.
func folder(t *testing.T, prefix, name string) []Entry {
	t.Helper()
	var entries []Entry
	require.NoError(t, filepath.WalkDir(filepath.Join(prefix, name), func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(p, "llvmjit") || strings.HasSuffix(p, ".bc") {
			return err
		}
		inside, err := filepath.Rel(prefix, p)
		entries = append(entries, file(t, p, filepath.ToSlash(inside)))
		return err
	}))
	return entries
}

func file(t *testing.T, p, name string) Entry {
	t.Helper()
	content, err := os.ReadFile(p)
	require.NoError(t, err)
	return Entry{tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o755}, content}
}
