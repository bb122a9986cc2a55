package v1

import "time"

// SignIn is what a browser signs in with: one of the two.
type SignIn struct {
	Credential string `json:"credential,omitempty" maxLength:"16384" doc:"An API key, or a token of an issuer that the server accepts" example:"tck_example"`
	Code       string `json:"code,omitempty" maxLength:"200" doc:"A code that toolcrib dev printed, which works once" example:"c0de"`
}

// SignedIn says which tenant a browser signed in to.
type SignedIn struct {
	Tenant BrowserTenant `json:"tenant"`
}

// BrowserTenant is a tenant as its members see it.
type BrowserTenant struct {
	Slug string `json:"slug" example:"acme"`
	Name string `json:"name,omitempty" example:"Acme"`
}

// Me is who asks.
type Me struct {
	Subject     string          `json:"subject,omitempty" doc:"Absent where a browser names no tenant" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d2"`
	Tenant      *BrowserTenant  `json:"tenant,omitempty" doc:"The tenant of the request"`
	Tenants     []BrowserTenant `json:"tenants" doc:"The tenants that the browser is signed in to; none for a request with a key"`
	Permissions []string        `json:"permissions" example:"[\"tools.read\",\"runs.write\"]"`
	Features    []Feature       `json:"features" doc:"Parts of the platform"`
}

// BrowserSession is the session of a browser that is signed in. Its id opens nothing.
type BrowserSession struct {
	ID         string    `json:"id" example:"01975c2e-7d1a-7c3e-9f00-0000000000f3"`
	Subject    string    `json:"subject" doc:"The key or person that it began with" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d2"`
	Browser    string    `json:"browser,omitempty" doc:"Its kind, as it called itself when it signed in" example:"Firefox on Linux"`
	CreatedAt  time.Time `json:"created_at"`
	LastUsedAt time.Time `json:"last_used_at" doc:"To the minute"`
	Until      time.Time `json:"until" doc:"When it ends unless it is used before; a session that lasted 7 days ends then, and that of a person after 12 hours"`
	Current    bool      `json:"current" doc:"Whether the request is of this session" example:"true"`
}

// EndedSessions says how many sessions a request ended.
type EndedSessions struct {
	Ended int `json:"ended" example:"2"`
}

// Feature is a part of the platform.
type Feature struct {
	Name      string `json:"name" example:"approvals"`
	Available bool   `json:"available" example:"false"`
	Because   string `json:"because,omitempty" doc:"Why it is not available" example:"your key lacks the permission approvals.read"`
}

// Meta is what a server is.
type Meta struct {
	Version             string            `json:"version" example:"0.9.0"`
	Development         bool              `json:"development" doc:"Whether it is toolcrib dev, or another server for its own machine" example:"false"`
	Tokens              bool              `json:"tokens" doc:"Whether tokens of issuers are accepted" example:"true"`
	TemporalUI          string            `json:"temporal_ui,omitempty" doc:"Where people find the workflows of runs: /workflows/ and the id of one follow" example:"https://temporal.example.com/namespaces/default"`
	MaxFileBytes        int64             `json:"max_file_bytes,omitempty" doc:"How large an uploaded file may be; absent where none are kept" example:"10485760"`
	ImplementationTypes []string          `json:"implementation_types" example:"[\"http\"]"`
	ProblemKinds        []string          `json:"problem_kinds" example:"[\"not_found\"]"`
	Permissions         []KnownPermission `json:"permissions" doc:"All that endpoints require"`
	AuditActions        []KnownName       `json:"audit_actions" doc:"What the audit log records"`
	WebhookEvents       []KnownName       `json:"webhook_events" doc:"What webhooks can be sent"`
}

// KnownPermission is a permission that endpoints require.
type KnownPermission struct {
	Name    string   `json:"name" example:"runs.read"`
	Meaning string   `json:"meaning" example:"see runs, transcripts, events and invocations"`
	Roles   []string `json:"roles" doc:"The built-in roles that have it" example:"[\"viewer\"]"`
}

// KnownName is a name with what it means.
type KnownName struct {
	Name    string `json:"name" example:"run.failed"`
	Meaning string `json:"meaning" example:"a run failed"`
}
