package remote

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strconv"

	"github.com/toolcrib/toolcrib/agent"
)

// maxName is the length of names that every provider accepts.
const maxName = 64

var namePattern = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// Names maps tools' names to names that a provider allows, and back. An allowed
// name is left unchanged; in any other, characters are replaced by underscores
// and a prefix of its digest is appended, the same at every turn.
type Names struct {
	wire map[string]string // By our name.
	ours map[string]string // By wire name.
}

// NewNames returns the names of a request's tools and of the tools that its
// transcript called. The names of the provider's own tools are reserved.
func NewNames(req *agent.ModelRequest) *Names {
	n := &Names{wire: make(map[string]string), ours: make(map[string]string)}
	for _, t := range req.ProviderTools {
		if name := t.CalledAs(); name != "" {
			n.ours[name] = t.Name
		}
	}
	var all []string
	for _, t := range req.Tools {
		all = append(all, t.Name)
	}
	for _, m := range req.Messages {
		for _, c := range m.Calls {
			all = append(all, c.Name)
		}
	}
	for _, name := range all { // Allowed names first, so that no generated name takes one.
		if namePattern.MatchString(name) && (n.ours[name] == "" || n.ours[name] == name) {
			n.wire[name], n.ours[name] = name, name
		}
	}
	for _, name := range all {
		if _, ok := n.wire[name]; ok {
			continue
		}
		made := spell(name, name)
		for i := 0; n.ours[made] != ""; i++ {
			made = spell(name, name+strconv.Itoa(i))
		}
		n.wire[name], n.ours[made] = made, name
	}
	return n
}

// Wire returns the provider's name of one of the tools.
func (n *Names) Wire(name string) string { return n.wire[name] }

// Ours returns our name of a tool that the provider called, or the same name if
// there is none.
func (n *Names) Ours(wire string) string {
	if name, ok := n.ours[wire]; ok {
		return name
	}
	return wire
}

// spell converts any name to an allowed one, made unique by the digest of salt.
func spell(name, salt string) string {
	sum := sha256.Sum256([]byte(salt))
	suffix := "_" + hex.EncodeToString(sum[:4])
	out := make([]byte, 0, maxName)
	for _, r := range name {
		if len(out) == maxName-len(suffix) {
			break
		}
		if r > '~' || !namePattern.MatchString(string(r)) {
			r = '_'
		}
		out = append(out, byte(r))
	}
	return string(out) + suffix
}
