package programs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Defaults of [Download].
const (
	// DefaultRepository is the Maven repository that has the artifacts.
	DefaultRepository = "https://repo1.maven.org/maven2"
	// DefaultVersion is the release that is downloaded.
	DefaultVersion = "17.5.0"
)

// Download says how PostgreSQL's programs come to a machine that has none: from
// the artifacts that are published for embedding PostgreSQL in a repository of
// Maven's layout. The zero Download takes the defaults.
type Download struct {
	// Repository is the base URL, of https or http. Its host is trusted, at any
	// address. Defaults to [DefaultRepository].
	Repository string
	// Version is a release as the artifacts are numbered. Defaults to
	// [DefaultVersion].
	Version string
	// SHA256 pins the digest of the artifact, in hexadecimal. Without it the
	// repository's own digest is what counts.
	SHA256 string
	// Folder is where the programs are kept, in a folder of their version.
	// Defaults to [CacheFolder].
	Folder string
	// Allow is asked before anything is fetched; its error ends it. Nil allows.
	Allow func(ctx context.Context, o Offer) error
	// Progress takes lines about what is done. Nil discards them.
	Progress io.Writer

	limits limits // Defaults to those that tests change.
}

// Offer is what a [Download] is about to do.
type Offer struct {
	Version string
	URL     string
	Folder  string
}

func (o Offer) String() string {
	return fmt.Sprintf("PostgreSQL %s from %s into %s", o.Version, o.URL, o.Folder)
}

// limits bound what a repository can make of a machine.
type limits struct {
	artifact int64         // Bytes of the artifact.
	unpacked int64         // Bytes of all files in it.
	files    int           // Their number, folders and links included.
	stall    time.Duration // How long it may send nothing.
	tries    int           // How often it may break off.
	pause    time.Duration // Before the second try; doubled each time.
}

var usualLimits = limits{
	artifact: 256 << 20, unpacked: 1 << 30, files: 20_000, stall: 30 * time.Second, tries: 5,
	pause: 500 * time.Millisecond,
}

func (d Download) withDefaults() (Download, error) {
	if d.Repository == "" {
		d.Repository = DefaultRepository
	}
	if d.Version == "" {
		d.Version = DefaultVersion
	}
	if !versionNumber.MatchString(d.Version) || versionNumber.FindString(d.Version) != d.Version {
		return d, fmt.Errorf("%q is no version such as %s", d.Version, DefaultVersion)
	}
	if d.Folder == "" {
		folder, err := CacheFolder()
		if err != nil {
			return d, err
		}
		d.Folder = folder
	}
	if d.Progress == nil {
		d.Progress = io.Discard
	}
	if d.limits == (limits{}) {
		d.limits = usualLimits
	}
	return d, nil
}

// Install fetches the programs unless they are in the folder already, checks
// that they run, and puts them in place at once: a folder that is there is
// complete. Processes that do so at the same time wait for each other.
func (d Download) Install(ctx context.Context) (Installation, error) {
	d, err := d.withDefaults()
	if err != nil {
		return Installation{}, err
	}
	target, err := machineBuild()
	if err != nil {
		return Installation{}, err
	}
	home := filepath.Join(d.Folder, d.Version+"-"+target.String())
	if have, err := inspect(ctx, filepath.Join(home, "bin")); err == nil {
		return have, nil
	}
	from, err := openRepository(d, target)
	if err != nil {
		return Installation{}, err
	}
	defer from.close()
	if d.Allow != nil {
		if err := d.Allow(ctx, Offer{Version: d.Version, URL: from.name(), Folder: home}); err != nil {
			return Installation{}, err
		}
	}
	return d.install(ctx, from, home)
}

func (d Download) install(ctx context.Context, from *repository, home string) (_ Installation, err error) {
	if err := os.MkdirAll(d.Folder, 0o755); err != nil { //nolint:gosec // The user that runs PostgreSQL must pass through.
		return Installation{}, fmt.Errorf("making the cache folder: %w", err)
	}
	endTurn, err := takeTurn(ctx, d.Folder)
	if err != nil {
		return Installation{}, err
	}
	defer endTurn()
	if have, err := inspect(ctx, filepath.Join(home, "bin")); err == nil {
		return have, nil // The turn before was theirs, and did it.
	}
	work, err := os.MkdirTemp(d.Folder, ".partial-")
	if err != nil {
		return Installation{}, fmt.Errorf("making a folder to download to: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	jar := filepath.Join(work, "artifact.jar")
	if err := from.fetch(ctx, jar); err != nil {
		return Installation{}, err
	}
	unpacked := filepath.Join(work, "programs")
	if err := os.Mkdir(unpacked, 0o755); err != nil { //nolint:gosec // See above.
		return Installation{}, fmt.Errorf("making a folder for the programs: %w", err)
	}
	_, _ = fmt.Fprintln(d.Progress, "unpacking it") // Progress is optional.
	if err := unpack(ctx, jar, unpacked, d.limits); err != nil {
		return Installation{}, fmt.Errorf("unpacking %s: %w", from.name(), err)
	}
	if _, err := inspect(ctx, filepath.Join(unpacked, "bin")); err != nil {
		return Installation{}, fmt.Errorf("the programs from %s do not run here: %w", from.name(), err)
	}
	// What is there is broken.
	if err := os.Rename(home, filepath.Join(work, "broken")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Installation{}, fmt.Errorf("putting broken programs aside: %w", err)
	}
	if err := os.Rename(unpacked, home); err != nil {
		return Installation{}, fmt.Errorf("putting the programs in place: %w", err)
	}
	return inspect(ctx, filepath.Join(home, "bin"))
}
