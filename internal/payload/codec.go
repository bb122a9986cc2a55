package payload

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"

	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// Encoding is the encoding of encrypted payloads, as their metadata have it.
const Encoding = "binary/toolcrib-aes256gcm"

// Metadata of encrypted payloads.
const (
	KeyField    = "toolcrib-key"    // The id of the payload key.
	TenantField = "toolcrib-tenant" // The id of the tenant; absent for payloads of the platform.
)

// Parts of an encrypted payload's data, before the ciphertext. The seed makes its key one of its
// own, so that no key encrypts more than one payload, however many a tenant has.
const (
	format    = 1 // The first byte.
	seedSize  = 20
	nonceSize = 12
	headSize  = 1 + seedSize + nonceSize
)

// Overhead is about how many bytes a payload grows by.
const Overhead = 220

// Codec encrypts payloads, and decrypts them. It is safe for concurrent use.
type Codec struct {
	keys   *Keyring
	tenant tool.TenantID // Of the workflow; empty for those of hosts, and where none is known.
}

var (
	_ converter.PayloadCodec                         = (*Codec)(nil)
	_ converter.PayloadCodecWithSerializationContext = (*Codec)(nil)
)

// NewCodec returns a codec. With a nil keyring it encrypts nothing, and fails for what is encrypted.
func NewCodec(keys *Keyring) *Codec { return &Codec{keys: keys} }

// For returns the codec of a tenant's payloads, which refuses those of others.
func (c *Codec) For(tenant tool.TenantID) *Codec { return &Codec{keys: c.keys, tenant: tenant} }

// WithSerializationContext implements [converter.PayloadCodecWithSerializationContext]: it returns
// the codec of the tenant in the workflow's id. Workflows of hosts have the platform's.
func (c *Codec) WithSerializationContext(ctx converter.SerializationContext) converter.PayloadCodec {
	return c.in(ctx)
}

func (c *Codec) in(ctx converter.SerializationContext) *Codec {
	var id string
	switch ctx := ctx.(type) {
	case converter.WorkflowSerializationContext:
		id = ctx.WorkflowID
	case converter.ActivitySerializationContext:
		id = ctx.WorkflowID
	}
	if tenant := tenantOf(id); tenant != c.tenant {
		return c.For(tenant)
	}
	return c
}

// tenantOf returns the tenant in the id of a workflow of Toolcrib's own; empty for any other.
func tenantOf(workflowID string) tool.TenantID {
	tenant, _ := wire.TenantOf(workflowID)
	return tenant
}

// Encrypted reports whether a payload was encrypted by a codec.
func Encrypted(p *commonpb.Payload) bool {
	return string(p.GetMetadata()[converter.MetadataEncoding]) == Encoding
}

// KeyOf returns the id of the key that a payload is encrypted by; empty if it is not.
func KeyOf(p *commonpb.Payload) string {
	if !Encrypted(p) {
		return ""
	}
	return string(p.GetMetadata()[KeyField])
}

// TenantOf returns the tenant of an encrypted payload; empty for the platform's.
func TenantOf(p *commonpb.Payload) tool.TenantID { return tool.TenantID(p.GetMetadata()[TenantField]) }

// Encode implements [converter.PayloadCodec]. What is encrypted already stays as it is.
func (c *Codec) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	if c.keys == nil {
		return payloads, nil
	}
	return each(payloads, c.encrypt)
}

// Decode implements [converter.PayloadCodec]. What is not encrypted stays as it is. In a workflow
// task it panics where it fails: see the package.
func (c *Codec) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out, err := each(payloads, c.decrypt)
	if err != nil && inWorkflowTask() {
		panic(err)
	}
	return out, err
}

func each(
	payloads []*commonpb.Payload, do func(*commonpb.Payload) (*commonpb.Payload, error),
) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		var err error
		if out[i], err = do(p); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (c *Codec) encrypt(p *commonpb.Payload) (*commonpb.Payload, error) {
	if Encrypted(p) {
		return p, nil
	}
	plain, err := proto.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encoding a payload: %w", err)
	}
	k := c.keys.keys[0]
	head := make([]byte, headSize, headSize+len(plain)+16)
	head[0] = format
	_, _ = rand.Read(head[1:]) // It never fails.
	sealer, err := k.sealer(c.tenant, head)
	if err != nil {
		return nil, err
	}
	metadata := map[string][]byte{converter.MetadataEncoding: []byte(Encoding), KeyField: []byte(k.id)}
	if c.tenant != "" {
		metadata[TenantField] = []byte(c.tenant)
	}
	return &commonpb.Payload{
		Metadata: metadata,
		Data:     sealer.Seal(head, head[1+seedSize:headSize], plain, bound(k.id, c.tenant)),
	}, nil
}

func (c *Codec) decrypt(p *commonpb.Payload) (*commonpb.Payload, error) {
	if !Encrypted(p) {
		return p, nil
	}
	id, tenant := KeyOf(p), TenantOf(p)
	if c.tenant != "" && tenant != "" && tenant != c.tenant {
		return nil, &tool.Error{Kind: tool.Denied, Op: op, Msg: "the payload belongs to another tenant than the workflow"}
	}
	k, ok := c.keys.find(id)
	if !ok {
		return nil, missing(id)
	}
	if len(p.GetData()) < headSize || p.GetData()[0] != format {
		return nil, corrupt(nil)
	}
	head, sealed := p.GetData()[:headSize], p.GetData()[headSize:]
	sealer, err := k.sealer(tenant, head)
	if err != nil {
		return nil, err
	}
	plain, err := sealer.Open(nil, head[1+seedSize:], sealed, bound(id, tenant))
	if err != nil {
		return nil, corrupt(err)
	}
	out := &commonpb.Payload{}
	if err := proto.Unmarshal(plain, out); err != nil {
		return nil, corrupt(err)
	}
	return out, nil
}

// sealer returns the cipher of the payload with a head.
func (k key) sealer(tenant tool.TenantID, head []byte) (cipher.AEAD, error) {
	secret, err := k.of(tenant, head[1:1+seedSize])
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, fmt.Errorf("making a cipher: %w", err)
	}
	sealer, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("making a cipher: %w", err)
	}
	return sealer, nil
}

// bound is the associated data: neither a payload's key nor its tenant can be exchanged.
func bound(id string, tenant tool.TenantID) []byte {
	return []byte("toolcrib.payload\x00" + id + "\x00" + string(tenant))
}
