package embedded

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// account is the user PostgreSQL runs as. It refuses to run as root, so root
// runs it as another user; every other user runs it as itself, with a nil
// account.
type account struct {
	name     string
	uid, gid int
}

// unprivilegedAccount returns the account to run PostgreSQL as. It is nil
// unless the process is root; then it is the distribution's account postgres,
// or else the account nobody.
func unprivilegedAccount() (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.Atoi(u.Uid)
		gid, gidErr := strconv.Atoi(u.Gid)
		if uidErr == nil && gidErr == nil && uid != 0 {
			return &account{name: name, uid: uid, gid: gid}, nil
		}
	}
	return nil, errors.New("PostgreSQL does not run as root, and there is no user postgres or nobody to run it as")
}

// own gives an open file to the account: by its handle, because a name may lead
// elsewhere by the time it is used.
func (a *account) own(file *os.File) error {
	if a == nil {
		return nil
	}
	if err := file.Chown(a.uid, a.gid); err != nil {
		return fmt.Errorf("giving %s to %s: %w", file.Name(), a.name, err)
	}
	return nil
}

// reaches reports whether the account may pass through dir and all its parents.
func (a *account) reaches(dir string) bool {
	if a == nil {
		return true
	}
	for {
		info, err := os.Stat(dir)
		if err != nil || !a.passes(info) {
			return false
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return true
		}
		dir = parent
	}
}

func (a *account) passes(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	switch mode := info.Mode().Perm(); {
	case int(stat.Uid) == a.uid:
		return mode&0o100 != 0
	case int(stat.Gid) == a.gid:
		return mode&0o010 != 0
	default:
		return mode&0o001 != 0
	}
}

// credential returns what a child needs to run as the account.
func (a *account) credential() *syscall.Credential {
	if a == nil {
		return nil
	}
	return &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)} //nolint:gosec // Ids of the user database fit.
}
