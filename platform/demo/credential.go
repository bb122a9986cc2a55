package demo

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolcrib/toolcrib/examples/support-desk/shop"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// loyaltyCredential is the name under which getLoyalty asks for its client.
const loyaltyCredential = "loyalty-client"

// keepCredential keeps the client of the loyalty programme with the platform,
// encrypted, bound to the shop. One that an earlier demo left gets the new value.
func (d *demo) keepCredential(ctx context.Context) (string, error) {
	parts, err := json.Marshal(map[string]string{"client_id": shop.ClientID, "client_secret": d.company.token})
	if err != nil {
		return "", fmt.Errorf("writing the credential: %w", err)
	}
	value, hosts := string(parts), []string{d.company.address}
	kept, err := d.api.CreateCredential(ctx, v1.NewCredential{Ref: loyaltyCredential, Value: value, Hosts: hosts})
	if tool.KindOf(err) == tool.Conflict {
		kept, err = d.api.ChangeCredential(ctx, loyaltyCredential, v1.CredentialChange{Value: &value, Hosts: hosts})
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s, which goes to %s alone", kept.Ref, kept.Hosts[0]), nil
}
