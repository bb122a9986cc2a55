package wire

import (
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/tool"
)

// WorkflowPrefix is what the ids of Toolcrib's own workflows begin with.
const WorkflowPrefix = "t/"

// Kinds of workflows, in the third segment of their ids. In ids of runs, the name of what runs stands
// there instead.
const (
	kindRun      = "run" // Of what has no name.
	kindCall     = "call"
	kindWait     = "wait"
	kindGraph    = "graph"
	kindSchedule = "schedule"
	kindIngest   = "ingest"
	kindReembed  = "reembed"
)

var kinds = []string{kindRun, kindCall, kindWait, kindGraph, kindSchedule, kindIngest, kindReembed}

// WorkflowID is a parsed id of one of Toolcrib's own workflows: t/<tenant>/<what>/<which>. The tenant is
// its id, or its slug, a dot and its id, so that people can read it and programs need no database
// to know the tenant. The slug is not checked: only the id means anything.
type WorkflowID struct {
	Tenant tool.TenantID
	What   string // The slug of an agent or tool, or a kind of workflow.
	Which  string // The id of the run, for an agent or tool.
}

// ParseWorkflowID parses an id, and reports whether it is one of Toolcrib's own workflows.
func ParseWorkflowID(id string) (WorkflowID, bool) {
	parts := strings.SplitN(id, "/", 4)
	if len(parts) != 4 || parts[0]+"/" != WorkflowPrefix || parts[2] == "" || parts[3] == "" {
		return WorkflowID{}, false
	}
	tenant, ok := tenantOfSegment(parts[1])
	return WorkflowID{Tenant: tenant, What: parts[2], Which: parts[3]}, ok
}

// Run returns the id of the run that the workflow is, and an empty string where its id does not tell.
func (w WorkflowID) Run() string {
	if w.What != kindRun && slices.Contains(kinds, w.What) || !tool.ValidID(w.Which) {
		return ""
	}
	return w.Which
}

// TenantOf returns the tenant of one of Toolcrib's own workflows, by its id, and reports whether it
// names one. Ids of workflows of hosts do not.
func TenantOf(workflowID string) (tool.TenantID, bool) {
	rest, ours := strings.CutPrefix(workflowID, WorkflowPrefix)
	segment, _, _ := strings.Cut(rest, "/")
	if !ours {
		return "", false
	}
	return tenantOfSegment(segment)
}

func tenantOfSegment(segment string) (tool.TenantID, bool) {
	id := segment[strings.LastIndexByte(segment, '.')+1:]
	if id == "" || !tool.ValidID(id) {
		return "", false
	}
	return tool.TenantID(id), true
}

// TenantSegment returns the segment of workflow ids that names a tenant with a slug, which may be empty.
func TenantSegment(tenant tool.TenantID, slug string) string {
	if slug == "" {
		return string(tenant)
	}
	return slug + "." + string(tenant)
}

// SegmentOf returns the segment that names a tenant in the id of one of its workflows, so that those
// below are named alike. It is the tenant's id where the workflow is a host's.
func SegmentOf(workflowID string, tenant tool.TenantID) string {
	if named, ok := TenantOf(workflowID); !ok || named != tenant {
		return string(tenant)
	}
	segment, _, _ := strings.Cut(strings.TrimPrefix(workflowID, WorkflowPrefix), "/")
	return segment
}

// NamedWorkflowID returns the workflow id of something that runs for a tenant: segment is the tenant's,
// name the slug of the agent or tool, and id the run's, which makes it unique. It is shorter
// than 210 bytes.
func NamedWorkflowID(segment, name, id string) string {
	switch {
	case name == "":
		name = kindRun
	case slices.Contains(kinds, name): // An agent or tool of that name.
		name += "~"
	}
	return WorkflowPrefix + segment + "/" + name + "/" + id
}

// RunWorkflowID returns the workflow id of a run of something without a name, which earlier
// releases gave to all runs.
func RunWorkflowID(tenant tool.TenantID, runID string) string {
	return workflowID(tenant, kindRun, runID)
}

// WaitWorkflowID returns the workflow id of a call of a host's workflow that waits.
func WaitWorkflowID(tenant tool.TenantID, effectID string) string {
	return workflowID(tenant, kindWait, effectID)
}

// GraphWorkflowID returns the workflow id that earlier releases gave to the run of a graph.
func GraphWorkflowID(tenant tool.TenantID, invocationID string) string {
	return workflowID(tenant, kindGraph, invocationID)
}

// CallWorkflowID returns the workflow id of a single call whose id the caller chose. It does not name the
// tool: an id that was used for another tool's call is refused.
func CallWorkflowID(tenant tool.TenantID, callID string) string {
	return workflowID(tenant, kindCall, callID)
}

func workflowID(tenant tool.TenantID, kind, which string) string {
	return WorkflowPrefix + string(tenant) + "/" + kind + "/" + which
}
