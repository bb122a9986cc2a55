package v1

// Health says whether the server can do its work.
type Health struct {
	Status string            `json:"status" enum:"ok,unavailable"`
	Checks map[string]string `json:"checks,omitempty" doc:"What was looked at, and what was found"`
}
