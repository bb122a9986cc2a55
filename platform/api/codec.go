package api

import (
	"context"
	"net/http"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"

	"github.com/toolcrib/toolcrib/internal/payload"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// codecPath is what the paths of the codec begin with. Without its last slash it is the endpoint
// that the Temporal UI and CLI are given.
const codecPath = "/v1/codec/"

type codecInput struct {
	References bool `query:"preserveStorageRefs" doc:"The Temporal UI sends it; it changes nothing here"`
	Body       v1.Payloads
}

// registerCodec adds the endpoints of Temporal's codec protocol.
func (s *server) registerCodec() {
	handle(s, route{
		id: "decodePayloads", method: http.MethodPost, path: codecPath + "decode", tag: "codec",
		permission: PayloadsDecrypt, maxBody: MaxApplyBytes, ephemeral: true,
		summary: "Decrypt payloads of workflows",
		detail: "The decode call of Temporal's codec protocol: the UI and CLI of Temporal show with it what workflows " +
			"of the tenant have in their histories. Payloads of other tenants, and of the workflows of hosts, stay " +
			"encrypted, as does what was not encrypted here. Values that look like secrets are redacted as in runs.",
	}, s.decodePayloads)
	handle(s, route{
		id: "encodePayloads", method: http.MethodPost, path: codecPath + "encode", tag: "codec",
		permission: PayloadsEncrypt, maxBody: MaxApplyBytes, ephemeral: true,
		summary: "Encrypt payloads for workflows",
		detail: "The encode call of Temporal's codec protocol: the CLI of Temporal sends with it what it gives to " +
			"workflows of the tenant. Without payload keys in the server, nothing is encrypted.",
	}, s.encodePayloads)
}

func (s *server) decodePayloads(ctx context.Context, p tool.Principal, in *codecInput) (*body[v1.Payloads], error) {
	masked, err := s.maskOf(ctx, p.Tenant)
	if err != nil {
		return nil, err
	}
	codec := payload.NewCodec(s.cfg.PayloadKeys).For(p.Tenant)
	given := fromPayloads(in.Body)
	for i, one := range given {
		if !payload.Encrypted(one) || payload.TenantOf(one) != p.Tenant {
			continue
		}
		opened, err := codec.Decode([]*commonpb.Payload{one})
		if err != nil {
			return nil, err
		}
		if encoding := opened[0].GetMetadata()[converter.MetadataEncoding]; strings.HasPrefix(string(encoding), "json/") {
			opened[0].Data = masked.json(opened[0].Data)
		}
		given[i] = opened[0]
	}
	return answer(toPayloads(given)), nil
}

func (s *server) encodePayloads(_ context.Context, p tool.Principal, in *codecInput) (*body[v1.Payloads], error) {
	sealed, err := payload.NewCodec(s.cfg.PayloadKeys).For(p.Tenant).Encode(fromPayloads(in.Body))
	if err != nil {
		return nil, err
	}
	return answer(toPayloads(sealed)), nil
}

func fromPayloads(in v1.Payloads) []*commonpb.Payload {
	out := make([]*commonpb.Payload, len(in.Payloads))
	for i, p := range in.Payloads {
		out[i] = &commonpb.Payload{Metadata: p.Metadata, Data: p.Data}
	}
	return out
}

func toPayloads(in []*commonpb.Payload) v1.Payloads {
	out := v1.Payloads{Payloads: make([]v1.Payload, len(in))}
	for i, p := range in {
		out.Payloads[i] = v1.Payload{Metadata: p.GetMetadata(), Data: p.GetData()}
	}
	return out
}
