package operator

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"

	"github.com/toolcrib/toolcrib/internal/payload"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/tool"
)

// maxDecoded bounds a document whose payloads are decrypted: a history has at most 50 MB.
const maxDecoded = 256 << 20

func (a *app) payloadsDecodeCommand() *cobra.Command {
	var file string
	cmd := cli.Describe(&cobra.Command{
		Use: "decode [FILE]", Short: "Decrypt the payloads in a JSON document, such as a history",
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			keys, err := a.PayloadKeys(file)
			if err != nil {
				return err
			}
			from := a.Env.In
			if len(args) == 1 && args[0] != "-" {
				opened, err := os.Open(args[0])
				if err != nil {
					return cli.Usagef("%v", err)
				}
				defer func() { _ = opened.Close() }()
				from = opened
			}
			return decodeDocument(a.Env.Out, from, keys)
		},
	}, `Reads JSON as Temporal's tools print it, from a file or standard input, and prints it
with all encrypted payloads replaced by what they hold, of all tenants and of hosts.
The output may hold what tenants keep secret.`,
		`  temporal workflow show --workflow-id t/… --output json | toolcrib payloads decode
  toolcrib payloads decode history.json --payload-keys-file /etc/toolcrib/payload-keys`)
	cli.PayloadKeysFlag(cmd, &file)
	return cmd
}

// decodeDocument writes a document with its payloads decrypted.
func decodeDocument(to io.Writer, from io.Reader, keys *payload.Keyring) error {
	reader := json.NewDecoder(io.LimitReader(from, maxDecoded))
	reader.UseNumber()
	writer := json.NewEncoder(to)
	writer.SetEscapeHTML(false)
	writer.SetIndent("", "  ")
	for {
		var document any
		err := reader.Decode(&document)
		if err == io.EOF { //nolint:errorlint // The decoder returns it as it is.
			return nil
		}
		if err != nil {
			return &tool.Error{Kind: tool.Invalid, Op: "payloads", Msg: "the document is not JSON: " + err.Error(), Err: err}
		}
		if document, err = decodeValue(document, payload.NewCodec(keys)); err != nil {
			return err
		}
		if err := writer.Encode(document); err != nil {
			return fmt.Errorf("writing the document: %w", err)
		}
	}
}

func decodeValue(value any, codec *payload.Codec) (any, error) {
	switch value := value.(type) {
	case []any:
		for i := range value {
			var err error
			if value[i], err = decodeValue(value[i], codec); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		if p := payloadIn(value); p != nil {
			return decodePayload(p, codec)
		}
		for name := range value {
			var err error
			if value[name], err = decodeValue(value[name], codec); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}

// payloadIn returns the encrypted payload that an object is; nil for any other.
func payloadIn(object map[string]any) *commonpb.Payload {
	fields, ok := object["metadata"].(map[string]any)
	if !ok {
		return nil
	}
	p := &commonpb.Payload{Metadata: map[string][]byte{}}
	for name, text := range fields {
		p.Metadata[name] = fromBase64(text)
	}
	p.Data = fromBase64(object["data"])
	if !payload.Encrypted(p) {
		return nil
	}
	return p
}

func fromBase64(value any) []byte {
	text, _ := value.(string)
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	return raw
}

// decodePayload returns what a payload holds: a JSON value as it is, anything else as a payload.
func decodePayload(p *commonpb.Payload, codec *payload.Codec) (any, error) {
	opened, err := codec.Decode([]*commonpb.Payload{p})
	if err != nil {
		return nil, err
	}
	data := opened[0].GetData()
	if string(opened[0].GetMetadata()[converter.MetadataEncoding]) == converter.MetadataEncodingJSON && json.Valid(data) {
		return json.RawMessage(data), nil
	}
	return map[string]any{"metadata": opened[0].GetMetadata(), "data": data}, nil
}
