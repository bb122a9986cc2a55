package input

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// maxImageHosts bounds the hosts of a tool's images.
const maxImageHosts = 16

// Config is the configuration of a tool that asks for input.
type Config struct {
	// ImageHosts are the hosts, such as cdn.example.com or cdn.example.com:8443, whose images
	// a page shows. A browser loads them when the page opens, with whatever an address says:
	// a model that could name any host could tell it anything. Images elsewhere are links.
	ImageHosts []string `json:"image_hosts,omitempty"`
}

// host is a name and perhaps a port, in lower case: nothing that could end a source of a
// Content-Security-Policy.
var host = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+(:[1-9][0-9]{0,4})?$`)

// ReadConfig reads a configuration. It fails with tool.Invalid and the path of the fault.
func ReadConfig(raw json.RawMessage) (Config, error) {
	var c Config
	if len(bytes.TrimSpace(raw)) == 0 {
		return c, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&c); err != nil {
		return c, invalid("", "the configuration of a tool that asks for input may have image_hosts: "+
			strings.TrimPrefix(err.Error(), "json: "))
	}
	if len(c.ImageHosts) > maxImageHosts {
		return c, invalid("/image_hosts", fmt.Sprintf("expected at most %d hosts", maxImageHosts))
	}
	for i, h := range c.ImageHosts {
		if !host.MatchString(h) || len(h) > 255 {
			return c, invalid(fmt.Sprintf("/image_hosts/%d", i), "expected a host in lower case, such as cdn.example.com")
		}
	}
	return c, nil
}

// Shows reports whether the image at an address is shown, rather than linked to.
func (c *Config) Shows(address string) bool {
	h := strings.ToLower(Host(address))
	return h != "" && slices.Contains(c.ImageHosts, h)
}
