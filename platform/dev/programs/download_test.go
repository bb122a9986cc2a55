package programs_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/dev/programs"
	"github.com/toolcrib/toolcrib/platform/dev/programs/programstest"
)

// small is an artifact of programs that only print their version.
func small(t *testing.T, more ...programstest.Entry) []byte {
	t.Helper()
	script := `echo "postgres (PostgreSQL) 17.5"`
	return programstest.Artifact(t, append([]programstest.Entry{
		programstest.Program("./bin/postgres", script), programstest.Program("./bin/initdb", script),
		{Header: tar.Header{Typeflag: tar.TypeDir, Name: "./share/", Mode: 0o700}},
		{
			Header:  tar.Header{Typeflag: tar.TypeReg, Name: "./lib/libpq.so.5.17", Mode: 0o600},
			Content: bytes.Repeat([]byte("lib"), 50_000),
		},
		{Header: tar.Header{Typeflag: tar.TypeSymlink, Name: "./lib/libpq.so", Linkname: "libpq.so.5.17"}},
		{Header: tar.Header{Typeflag: tar.TypeLink, Name: "./lib/libpq.so.5", Linkname: "lib/libpq.so.5.17"}},
	}, more...)...)
}

func from(t *testing.T, r *programstest.Repository) programs.Download {
	t.Helper()
	return programs.Download{Repository: r.URL, Folder: filepath.Join(t.TempDir(), "cache")}
}

// What is downloaded is in place as a whole, is found, and is not downloaded
// again.
func TestDownload(t *testing.T) {
	t.Parallel()
	repository := programstest.Serve(t, small(t))
	d := from(t, repository)
	var said bytes.Buffer
	d.Progress = &said
	var offered programs.Offer
	d.Allow = func(_ context.Context, o programs.Offer) error {
		offered = o
		return nil
	}
	got, err := d.Install(t.Context())
	require.NoError(t, err)
	require.Equal(t, 17, got.Major)
	require.Equal(t, programs.DefaultVersion, offered.Version)
	require.Equal(t, filepath.Dir(got.Dir), offered.Folder)
	require.Contains(t, offered.URL, repository.URL)
	require.Contains(t, said.String(), "downloading "+repository.URL)
	require.Contains(t, said.String(), "100% of")

	home := filepath.Dir(got.Dir)
	for name, mode := range map[string]os.FileMode{
		"bin/initdb": 0o755, "lib/libpq.so": 0o644, "lib/libpq.so.5": 0o644, "share": 0o755,
	} {
		info, err := os.Stat(filepath.Join(home, name))
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode().Perm(), name)
	}
	requireOnly(t, d.Folder, filepath.Base(home))
	found, err := programs.Search{Downloaded: d.Folder}.Find(t.Context())
	require.NoError(t, err)
	require.Equal(t, []programs.Installation{got}, found)

	d.Allow = func(context.Context, programs.Offer) error { return errors.New("asked again") }
	_, err = d.Install(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, repository.Asked())
}

// Processes that download at the same time end with the same programs, and a
// folder that was left broken is replaced.
func TestDownloadAtOnce(t *testing.T) {
	t.Parallel()
	repository := programstest.Serve(t, small(t))
	d := from(t, repository)
	first, err := d.Install(t.Context())
	require.NoError(t, err)
	require.NoError(t, os.Remove(first.Path("initdb")))
	errs := make([]error, 4)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { _, errs[i] = d.Install(t.Context()) })
	}
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
	requireOnly(t, d.Folder, filepath.Base(filepath.Dir(first.Dir)))
}

// A repository that breaks off is asked for the rest, from where it broke off.
func TestDownloadGoesOn(t *testing.T) {
	t.Parallel()
	for name, ranges := range map[string]bool{"with ranges": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repository := programstest.Serve(t, small(t))
			var asked []string
			repository.Answer = func(w http.ResponseWriter, r *http.Request, artifact []byte) bool {
				asked = append(asked, r.Header.Get("Range"))
				switch {
				case len(asked) == 1: // Half of it, and the line goes dead.
					w.Header().Set("Content-Length", strconv.Itoa(len(artifact)))
					_, _ = w.Write(artifact[:len(artifact)/2])
					return true
				case len(asked) == 2:
					w.WriteHeader(http.StatusBadGateway)
					return true
				case !ranges:
					_, _ = w.Write(artifact)
					return true
				}
				return false
			}
			_, err := from(t, repository).Limited(1<<20, 1<<20, 100, time.Minute).Install(t.Context())
			require.NoError(t, err)
			rest := "bytes=" + strconv.Itoa(len(repository.Artifact)/2) + "-"
			require.Equal(t, []string{"", rest, rest}, asked)
		})
	}
}

func TestDownloadDigest(t *testing.T) {
	t.Parallel()
	artifact := small(t)
	sum, weak := sha256.Sum256(artifact), sha1.Sum(artifact)
	good, other := hex.EncodeToString(sum[:]), strings.Repeat("0", 64)
	for name, tt := range map[string]struct {
		digests map[string]string
		pin     string
		says    string // Empty where it is installed.
	}{
		"with a name":        {digests: map[string]string{".sha256": strings.ToUpper(good) + "  artifact.jar\n"}},
		"older repositories": {digests: map[string]string{".sha1": hex.EncodeToString(weak[:])}},
		"pinned":             {digests: nil, pin: good},
		"another":            {digests: map[string]string{".sha256": other}, says: "should be " + other},
		"pinned to another":  {digests: map[string]string{".sha256": good}, pin: other, says: "should be " + other},
		"none":               {digests: nil, says: "or no digest of it"},
		"a page":             {digests: map[string]string{".sha256": "<html>"}, says: "is no digest"},
		"a bad pin":          {pin: "abc", says: "no SHA-256"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repository := programstest.Serve(t, artifact)
			repository.Digests = tt.digests
			d := from(t, repository)
			d.SHA256 = tt.pin
			_, err := d.Install(t.Context())
			if tt.says == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.says)
			requireOnly(t, d.Folder)
		})
	}
}

// A repository can waste a download and nothing more.
func TestHostileArtifacts(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "outside")
	entry := func(kind byte, name, link string) programstest.Entry {
		return programstest.Entry{Header: tar.Header{Typeflag: kind, Name: name, Linkname: link, Mode: 0o644}}
	}
	for name, tt := range map[string]struct {
		entries []programstest.Entry
		says    string
	}{
		"traversal":        {[]programstest.Entry{entry(tar.TypeReg, "../escaped", "")}, "leads out"},
		"hidden traversal": {[]programstest.Entry{entry(tar.TypeReg, "bin/../../escaped", "")}, "leads out"},
		"an absolute name": {[]programstest.Entry{entry(tar.TypeReg, outside, "")}, "leads out"},
		"a link out":       {[]programstest.Entry{entry(tar.TypeSymlink, "etc", "../../etc")}, "leads out"},
		"an absolute link": {[]programstest.Entry{entry(tar.TypeSymlink, "etc", "/etc")}, "leads out"},
		"a hard link out":  {[]programstest.Entry{entry(tar.TypeLink, "shadow", "../../etc/shadow")}, "leads out"},
		"written through one": {
			[]programstest.Entry{
				entry(tar.TypeSymlink, "bin/deep/a", ".."), entry(tar.TypeSymlink, "bin/deep/a/b", "../.."),
				entry(tar.TypeReg, "bin/b/escaped", ""),
			},
			"escaped",
		},
		"over a file": {[]programstest.Entry{entry(tar.TypeReg, "bin/postgres", "")}, "exists"},
		"a device":    {[]programstest.Entry{entry(tar.TypeChar, "null", "")}, "neither folder, file nor link"},
		"a pipe":      {[]programstest.Entry{entry(tar.TypeFifo, "pipe", "")}, "neither folder, file nor link"},
		"huge": {[]programstest.Entry{
			{Header: tar.Header{Typeflag: tar.TypeReg, Name: "zeros", Mode: 0o644}, Content: make([]byte, 2<<20)},
		}, "too large"},
		"crowded": {many(200), "too many files"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := from(t, programstest.Serve(t, small(t, tt.entries...)))
			_, err := d.Limited(1<<20, 1<<20, 100, time.Minute).Install(t.Context())
			require.ErrorContains(t, err, tt.says)
			requireOnly(t, d.Folder)
			require.NoFileExists(t, outside)
			require.NoFileExists(t, filepath.Join(filepath.Dir(d.Folder), "escaped"))
		})
	}
}

func many(n int) []programstest.Entry {
	entries := make([]programstest.Entry, n)
	for i := range entries {
		entries[i].Header = tar.Header{Typeflag: tar.TypeDir, Name: "d" + strconv.Itoa(i), Mode: 0o755}
	}
	return entries
}

// An artifact that is not what it should be is refused, and nothing of it
// stays.
func TestBrokenArtifacts(t *testing.T) {
	t.Parallel()
	good := small(t)
	for name, tt := range map[string]struct {
		artifact []byte
		says     string
	}{
		"no archive":       {[]byte("not a zip file"), "zip"},
		"cut short":        {good[:len(good)/2], "zip"},
		"nothing in it":    {zipped(t), "no archive of programs"},
		"two in it":        {zipped(t, "a.txz", "b.txz"), "more than one"},
		"not compressed":   {zipped(t, "a.txz"), "opening a.txz"},
		"without programs": {programstest.Artifact(t), "do not run here"},
		"that do not run": {
			programstest.Artifact(t, programstest.Program("bin/postgres", "exit 1"), programstest.Program("bin/initdb", "")),
			"do not run here",
		},
		"larger than is due": {bytes.Repeat([]byte("x"), 2<<20), "is larger than"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := from(t, programstest.Serve(t, tt.artifact))
			_, err := d.Limited(1<<20, 1<<20, 100, time.Minute).Install(t.Context())
			require.ErrorContains(t, err, tt.says)
			requireOnly(t, d.Folder)
		})
	}
}

func zipped(t *testing.T, names ...string) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, name := range names {
		f, err := w.Create(name)
		require.NoError(t, err)
		_, err = f.Write([]byte("anything"))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return buf.Bytes()
}

// A repository that is missing, is empty or stops answering is reported by
// name, and in time.
func TestRepositoriesThatDoNotServe(t *testing.T) {
	t.Parallel()
	stalls := programstest.Serve(t, small(t))
	stalls.Answer = func(w http.ResponseWriter, r *http.Request, artifact []byte) bool {
		w.Header().Set("Content-Length", strconv.Itoa(len(artifact)))
		_, _ = w.Write(artifact[:10])
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		return true
	}
	gone := programstest.Serve(t, small(t))
	gone.Answer = func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		http.NotFound(w, r)
		return true
	}
	empty := programstest.Serve(t, small(t))
	empty.Digests = nil
	for name, tt := range map[string]struct {
		repository *programstest.Repository
		stall      time.Duration
		says       string
		again      int // How often it is tried again.
	}{
		"stalls":  {stalls, 200 * time.Millisecond, "sent nothing for too long", 2},
		"gone":    {gone, time.Minute, "answered 404", 0},
		"empty":   {empty, time.Minute, "does not have", 0},
		"refuses": {&programstest.Repository{URL: "http://127.0.0.1:1"}, time.Minute, "refused the connection", 0},
		"no URL":  {&programstest.Repository{URL: "ftp://elsewhere"}, time.Minute, "is no https or http URL", 0},
		"no TLS":  {&programstest.Repository{URL: "http://elsewhere.example"}, time.Minute, "reached without TLS", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := from(t, tt.repository)
			var said bytes.Buffer
			d.Progress = &said
			_, err := d.Limited(1<<20, 1<<20, 100, tt.stall).Install(t.Context())
			require.ErrorContains(t, err, tt.says)
			require.Equal(t, tt.again, strings.Count(said.String(), "trying again"), "where that may help, and not for ever")
			requireOnly(t, d.Folder)
		})
	}
}

// After a refusal nothing is downloaded.
func TestDownloadThatIsNotAllowed(t *testing.T) {
	t.Parallel()
	repository := programstest.Serve(t, small(t))
	d := from(t, repository)
	d.Allow = func(context.Context, programs.Offer) error { return errors.New("rather not") }
	_, err := d.Install(t.Context())
	require.ErrorContains(t, err, "rather not")
	require.Zero(t, repository.Asked())
	require.NoDirExists(t, d.Folder)
}

// requireOnly requires that the folder holds these and nothing else; a folder
// that is not there holds nothing.
func requireOnly(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		require.ErrorIs(t, err, os.ErrNotExist)
	}
	var have []string
	for _, e := range entries {
		if e.Name() != "lock" {
			have = append(have, e.Name())
		}
	}
	require.Equal(t, names, have)
}
