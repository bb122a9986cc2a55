package v1

// Payloads are payloads of Temporal, in the form of its codec protocol.
type Payloads struct {
	Payloads []Payload `json:"payloads" nullable:"false" maxItems:"10000"`
}

// Payload is a payload of Temporal.
type Payload struct {
	_        struct{}          `additionalProperties:"true"`
	Metadata map[string][]byte `json:"metadata,omitempty" doc:"Of which encoding is how data is encoded; each value is in base64" example:"{\"encoding\":\"anNvbi9wbGFpbg==\"}"`
	Data     []byte            `json:"data,omitempty" doc:"In base64" example:"eyJuYW1lIjoiQWRhIn0="`
}
