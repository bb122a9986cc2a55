package programs

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// build names the system that programs are built for, as the repository's
// artifacts do.
type build struct {
	system  string // "linux", "darwin".
	machine string // "amd64", "arm64v8", "amd64-alpine".
}

func (b build) String() string { return b.system + "-" + b.machine }

// machineBuild returns the build for this machine.
func machineBuild() (build, error) { return buildFor(runtime.GOOS, runtime.GOARCH, usesMusl("/")) }

// buildFor fails for systems that no programs are published for.
func buildFor(system, machine string, musl bool) (build, error) {
	published := map[string]string{
		"linux/amd64": "amd64", "linux/arm64": "arm64v8", "linux/386": "i386", "linux/ppc64le": "ppc64le",
		"darwin/amd64": "amd64", "darwin/arm64": "arm64v8",
	}
	name, ok := published[system+"/"+machine]
	if !ok {
		return build{}, fmt.Errorf("no programs are published for %s/%s", system, machine)
	}
	if system == "linux" && musl {
		name += "-alpine"
	}
	return build{system: system, machine: name}, nil
}

// usesMusl reports whether programs of the system below root are linked with
// musl, as Alpine's are. A system that has both keeps to the usual library.
func usesMusl(root string) bool {
	has := func(pattern string) bool {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		return err == nil && len(found) > 0
	}
	if _, err := os.Stat(filepath.Join(root, "etc/alpine-release")); err == nil {
		return true
	}
	return has("lib/ld-musl-*.so.1") && !has("lib*/ld-linux*.so.*")
}
