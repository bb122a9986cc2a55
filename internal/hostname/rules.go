package hostname

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/tool"
)

// Bounds of a tool's egress rules, all of which are checked for every request.
const (
	maxHosts   = 100
	maxMethods = 20
	maxPorts   = 100
)

// ReadMethods are the methods that the egress class read_only may send; with postReads,
// POST too.
func ReadMethods(postReads bool) []string {
	if postReads {
		return []string{"GET", "HEAD", "OPTIONS", "POST"}
	}
	return []string{"GET", "HEAD", "OPTIONS"}
}

// ReadMethodNames lists [ReadMethods] for a message.
func ReadMethodNames(postReads bool) string {
	methods := ReadMethods(postReads)
	return strings.Join(methods[:len(methods)-1], ", ") + " and " + methods[len(methods)-1]
}

// CheckRules checks egress rules against an egress class; empty for any. It fails with
// [tool.Invalid] and the JSON Pointer of the fault within the rules. With postReads, the
// tool declares its POST read-only.
func CheckRules(r tool.EgressRules, class tool.Egress, postReads bool) error {
	switch {
	case r.IsZero():
		return nil
	case class == tool.EgressNone:
		return ruleFault(
			"", "a tool of egress class none sends no requests: drop egress_rules, or set egress_class to read_only or write",
		)
	case len(r.Hosts) > maxHosts:
		return ruleFault(
			"/hosts",
			fmt.Sprintf("%d hosts: expected at most %d; *.example.com stands for all below example.com", len(r.Hosts), maxHosts),
		)
	case len(r.Methods) > maxMethods:
		return ruleFault("/methods", fmt.Sprintf("%d methods: expected at most %d", len(r.Methods), maxMethods))
	case len(r.Ports) > maxPorts:
		return ruleFault("/ports", fmt.Sprintf("%d ports: expected at most %d", len(r.Ports), maxPorts))
	case r.MaxBytes < 0:
		return ruleFault("/max_bytes", "expected 0 for no bound, or a number of bytes")
	}
	for i, entry := range r.Hosts {
		if !ValidEntry(entry, true) {
			return ruleFault(
				fmt.Sprintf("/hosts/%d", i), fmt.Sprintf("%.80q is not a host, host:port or *.host in ASCII", entry),
			)
		}
	}
	for i, method := range r.Methods {
		at := fmt.Sprintf("/methods/%d", i)
		if !validMethod(method) {
			return ruleFault(at, fmt.Sprintf("%.40q is not a method in upper case, such as GET", method))
		}
		if class == tool.EgressReadOnly && !slices.Contains(ReadMethods(postReads), method) {
			return ruleFault(
				at,
				fmt.Sprintf("the egress class read_only sends %s, not %.40s: set egress_class to write", ReadMethodNames(postReads),
					method),
			)
		}
	}
	for i, port := range r.Ports {
		if port == 0 {
			return ruleFault(fmt.Sprintf("/ports/%d", i), "expected a port from 1 to 65535")
		}
	}
	return nil
}

// validMethod reports whether a method has upper-case letters, - and _ only.
func validMethod(method string) bool {
	return method != "" && len(method) <= 32 && strings.Trim(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-_") == ""
}

func ruleFault(path, msg string) *tool.Error {
	return &tool.Error{Kind: tool.Invalid, Op: "hostname.CheckRules", Path: path, Msg: msg}
}
