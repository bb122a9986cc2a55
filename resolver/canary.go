package resolver

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/toolcrib/toolcrib/tool"
)

// withheldFromAll is the Withheld of a canary that was taken back.
const withheldFromAll = 100

// offered returns the versions of an entry that a run may get: without those that a canary withholds from
// it. Without a canary it is the entry's own slice.
func offered(entry *Entry, req Request, want constraint, log *trail) []VersionInfo {
	if !slices.ContainsFunc(entry.Versions, func(v VersionInfo) bool { return v.Withheld > 0 }) {
		return entry.Versions
	}
	out := make([]VersionInfo, 0, len(entry.Versions))
	for _, v := range entry.Versions {
		gets, why := drawn(&entry.Tool, v, req, want)
		if v.Withheld > 0 {
			log.pass(RuleCanary, "%s %s", v.Number, why)
		}
		if gets {
			out = append(out, v)
		}
	}
	return out
}

// drawn reports whether a run gets a version, and why.
func drawn(t *tool.Tool, v VersionInfo, req Request, want constraint) (gets bool, why string) {
	share := withheldFromAll - v.Withheld
	switch {
	case v.Withheld == 0:
		return true, ""
	case v.Withheld >= withheldFromAll:
		return false, "was a canary that was taken back: no run gets it"
	case want.exact() && want.text == v.Number:
		return true, fmt.Sprintf("is a canary for %d %% of the runs; exactly this version was asked for", share)
	case req.Run == "":
		return false, fmt.Sprintf("is a canary for %d %% of the runs, and no run was named", share)
	case place(t, v, req.Run) >= share:
		return false, fmt.Sprintf("is a canary for %d %% of the runs: run %s is not one of them", share, req.Run)
	default:
		return true, fmt.Sprintf("is a canary for %d %% of the runs: run %s is one of them", share, req.Run)
	}
}

// place returns the place of a run among a hundred, which is always the same for a run and a version.
func place(t *tool.Tool, v VersionInfo, run string) int {
	sum := sha256.Sum256([]byte(string(t.Tenant) + "\n" + t.ID + "\n" + v.Number + "\n" + run))
	return int(binary.BigEndian.Uint64(sum[:8]) % 100)
}

// Highest returns the version that a constraint means for runs that get no canary: the highest published one that
// meets it. It is false where none does, and fails with tool.Invalid for a malformed constraint.
func Highest(versions []VersionInfo, text string) (VersionInfo, bool, error) {
	want, err := parseConstraint(text)
	if err != nil {
		return VersionInfo{}, false, &tool.Error{Kind: tool.Invalid, Op: "resolver.Highest", Msg: err.Error()}
	}
	entry := Entry{Versions: versions}
	best, ok := highest(offered(&entry, Request{}, want, &trail{}), want, true)
	return best, ok, nil
}
