package v1

import (
	"time"

	"github.com/toolcrib/toolcrib/toolembed"
)

// NewEmbedOrigin allows pages of an origin to frame the tenant's tools.
type NewEmbedOrigin struct {
	Origin string `json:"origin" minLength:"1" maxLength:"255" doc:"Scheme, host and port of the pages, as browsers write them: https, or http of this machine. No wildcards" example:"https://shop.example.com"`
}

// EmbedOrigin is an origin whose pages may frame the tenant's tools.
type EmbedOrigin struct {
	ID        string    `json:"id" example:"01975c2e-7d1a-7c3e-9f00-0000000000ec"`
	Origin    string    `json:"origin" example:"https://shop.example.com"`
	CreatedBy string    `json:"created_by,omitempty" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d1"`
	CreatedAt time.Time `json:"created_at"`
}

// NewEmbedToken asks for a token for a view of a page that frames a tool.
type NewEmbedToken struct {
	Tool    string `json:"tool" minLength:"1" maxLength:"64" doc:"Slug or id" example:"searchOrders"`
	Version string `json:"version,omitempty" maxLength:"64" doc:"A published version, or a constraint such as ^1.2; the one that calls get now when absent" example:"1.2.0"`
	Origin  string `json:"origin" minLength:"1" maxLength:"255" doc:"Of the page that frames the tool; the tenant allows it" example:"https://shop.example.com"`
	Caller  string `json:"caller" minLength:"1" maxLength:"128" doc:"Your id of the person before the page, of letters, digits and ._@:/+=-. Calls are recorded as theirs" example:"customer-7"`
}

// EmbedToken runs a tool in a frame.
type EmbedToken struct {
	Token     string    `json:"token" doc:"For the page in the frame, by postMessage alone. It is not stored" example:"tce_AZdcLn0afD6fAA"`
	ExpiresAt time.Time `json:"expires_at" doc:"Five minutes from now. The page asks for another one then"`
	URL       string    `json:"url" doc:"Of the frame" example:"https://tools.example.com/embed/acme/searchOrders"`
	Origin    string    `json:"origin" example:"https://shop.example.com"`
	Tool      string    `json:"tool" doc:"Slug" example:"searchOrders"`
	Version   string    `json:"version" doc:"The one that calls with the token get" example:"1.2.0"`
	Subject   string    `json:"subject" doc:"Whom calls with the token are recorded as" example:"embed:01975c2e-7d1a-7c3e-9f00-0000000000d1:customer-7"`
}

// FromEmbedOrigin returns o as the API shows it.
func FromEmbedOrigin(o toolembed.Origin) EmbedOrigin {
	return EmbedOrigin{ID: o.ID, Origin: o.Origin, CreatedBy: o.CreatedBy, CreatedAt: o.CreatedAt}
}
