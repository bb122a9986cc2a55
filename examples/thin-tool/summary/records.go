package summary

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// Bundle is what a tenant has to have installed for the tool to be there.
const Bundle = "cbt-ai-tech-consulting"

// Tenant is a customer of the consultancy's software.
type Tenant struct {
	Bundles    []string            `json:"bundles"`
	Workspaces map[string][]string `json:"workspaces"` // By subject; "*" is everyone.
	Settings   Settings            `json:"settings"`
}

// Settings are put on every summary of a tenant.
type Settings struct {
	Classification string `json:"classification"`
	Disclaimer     string `json:"disclaimer"`
}

// Engagement is work for a client, with what was learned in it.
type Engagement struct {
	ID        string        `json:"id"`
	Tenant    tool.TenantID `json:"tenant"`
	Workspace string        `json:"workspace"`
	Client    string        `json:"client"`
	Entities  []Entity      `json:"entities"` // Those connected with it.
}

// Entity is something that was learned: the source of claims.
type Entity struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// Claim is a sentence of a summary with the entities that it rests on.
type Claim struct {
	Text    string   `json:"text" jsonschema:"one sentence"`
	Sources []string `json:"source_entity_ids" jsonschema:"ids of the entities that it rests on"`
}

// Status is how far a summary is.
type Status string

// The statuses of summaries.
const (
	Filling  Status = "filling"
	Complete Status = "complete"
	Failed   Status = "failed"
)

// Summary is the record that the thin tool creates, and the graph fills.
type Summary struct {
	ID         string             `json:"id"`
	Tenant     tool.TenantID      `json:"tenant"`
	Engagement string             `json:"engagement"`
	Settings   Settings           `json:"settings"` // Of the tenant, when the summary was created.
	Status     Status             `json:"status"`
	Reason     string             `json:"reason,omitempty"` // Why it failed.
	Fields     map[string][]Claim `json:"fields"`
	CreatedAt  time.Time          `json:"created_at"`
}

// Records are the application's own, kept in one file. It stands in the place of a database of
// yours. Records are safe for concurrent use in one process.
type Records struct {
	mu   sync.Mutex
	file string
	all  content
}

type content struct {
	Tenants     map[tool.TenantID]Tenant `json:"tenants"`
	Engagements map[string]Engagement    `json:"engagements"`
	Summaries   map[string]Summary       `json:"summaries"`
}

// Open reads the records of a directory; where there are none, it writes the example's, those of
// the tenant.
func Open(dir string, tenant tool.TenantID) (*Records, error) {
	r := &Records{file: filepath.Join(dir, "records.json")}
	raw, err := os.ReadFile(r.file)
	if errors.Is(err, os.ErrNotExist) {
		r.all = example(tenant)
		return r, r.write()
	}
	if err != nil {
		return nil, fmt.Errorf("reading the records: %w", err)
	}
	if err := json.Unmarshal(raw, &r.all); err != nil {
		return nil, fmt.Errorf("reading the records of %s: %w", r.file, err)
	}
	return r, nil
}

// write keeps the records: all of them, or what was there before.
func (r *Records) write() error {
	raw, err := json.MarshalIndent(r.all, "", "  ")
	if err != nil {
		return fmt.Errorf("writing the records: %w", err)
	}
	if err := os.WriteFile(r.file+".new", raw, 0o600); err != nil {
		return fmt.Errorf("writing the records: %w", err)
	}
	if err := os.Rename(r.file+".new", r.file); err != nil {
		return fmt.Errorf("writing the records: %w", err)
	}
	return nil
}

// Tenant returns a tenant; a zero one where there is none.
func (r *Records) Tenant(id tool.TenantID) Tenant {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all.Tenants[id]
}

// Engagement returns an engagement of any tenant.
func (r *Records) Engagement(id string) (Engagement, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, ok := r.all.Engagements[id]
	return e, ok
}

// Summary returns a summary of any tenant.
func (r *Records) Summary(id string) (Summary, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, ok := r.all.Summaries[id]
	s.Fields = maps.Clone(s.Fields)
	return s, ok
}

// Create adds a summary; one with the same id is left as it is.
func (r *Records) Create(s Summary) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.all.Summaries[s.ID]; ok {
		return nil
	}
	r.all.Summaries[s.ID] = s
	return r.write()
}

// Change changes a summary of a tenant by change, unless that fails.
func (r *Records) Change(tenant tool.TenantID, id string, change func(*Summary) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, ok := r.all.Summaries[id]
	if !ok || s.Tenant != tenant {
		return fmt.Errorf("there is no summary %q", id)
	}
	s.Fields = maps.Clone(s.Fields)
	if err := change(&s); err != nil {
		return err
	}
	r.all.Summaries[id] = s
	return r.write()
}

// visible reports whether a subject is in a workspace.
func (t Tenant) visible(subject, workspace string) bool {
	return slices.Contains(t.Workspaces[subject], workspace) || slices.Contains(t.Workspaces["*"], workspace)
}
