package payload

import (
	commonpb "go.temporal.io/api/common/v1"
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/proto"

	"github.com/toolcrib/toolcrib/tool"
)

// Configure makes a client, and the workers made from it, encrypt with the keys of a keyring, and
// decrypt. It wraps the converters that are set: what they encode is encrypted. With a nil keyring
// nothing is encrypted, and what is encrypted is refused by an error that names its key.
func Configure(o *client.Options, keys *Keyring) {
	o.DataConverter, o.FailureConverter = Wrap(o.DataConverter, o.FailureConverter, keys)
}

// Wrap puts a codec around converters; nil stands for the defaults. See [Configure].
func Wrap(
	data converter.DataConverter, failures converter.FailureConverter, keys *Keyring,
) (converter.DataConverter, converter.FailureConverter) {
	if data == nil {
		data = converter.GetDefaultDataConverter()
	}
	if failures == nil {
		failures = temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{DataConverter: data})
	}
	codec := NewCodec(keys)
	return converter.NewCodecDataConverter(data, codec), &failureConverter{parent: failures, codec: codec}
}

// failureConverter encrypts the messages, stack traces and details of failures, as a parent makes
// them. It is the parent's EncodeCommonAttributes, for whatever parent, in the same form.
type failureConverter struct {
	parent converter.FailureConverter
	codec  *Codec
}

// WithSerializationContext implements [converter.FailureConverterWithSerializationContext].
func (f *failureConverter) WithSerializationContext(ctx converter.SerializationContext) converter.FailureConverter {
	return &failureConverter{
		parent: converter.WithFailureConverterSerializationContext(f.parent, ctx),
		codec:  f.codec.in(ctx),
	}
}

// ErrorToFailure implements [converter.FailureConverter].
func (f *failureConverter) ErrorToFailure(err error) *failurepb.Failure {
	made := f.parent.ErrorToFailure(err)
	if made == nil || f.codec.keys == nil {
		return made
	}
	made = proto.CloneOf(made) // The parent may have it from an error, which keeps it.
	for at := made; at != nil; at = at.GetCause() {
		if at.GetEncodedAttributes() == nil {
			if err := converter.EncodeCommonFailureAttributes(converter.GetDefaultDataConverter(), at); err != nil {
				panic(err) // Two strings always encode.
			}
		}
		if err := visit(at, f.codec.Encode); err != nil {
			panic(err) // As the SDK does: the text must not go out as it is.
		}
	}
	return made
}

// FailureToError implements [converter.FailureConverter]. A failure that cannot be decrypted becomes
// the error why, which is [tool.Error], and in a workflow task a panic.
func (f *failureConverter) FailureToError(failure *failurepb.Failure) error {
	if failure == nil {
		return nil
	}
	opened := proto.CloneOf(failure)
	for at := opened; at != nil; at = at.GetCause() {
		if err := f.open(at); err != nil {
			return err
		}
	}
	return f.parent.FailureToError(opened)
}

func (f *failureConverter) open(at *failurepb.Failure) error {
	ours := Encrypted(at.GetEncodedAttributes())
	if err := visit(at, f.codec.Decode); err != nil {
		return tool.AsError(err)
	}
	if ours && string(at.EncodedAttributes.GetMetadata()[converter.MetadataEncoding]) == converter.MetadataEncodingJSON {
		// An error keeps its failure as it is here. Without this it would count as encoded, texts and all.
		converter.DecodeCommonFailureAttributes(converter.GetDefaultDataConverter(), at)
		at.EncodedAttributes = nil
	} // Otherwise the parent encoded them before, and decodes them itself.
	return nil
}

// visit replaces the payloads of a failure, without those of its cause.
func visit(f *failurepb.Failure, do func([]*commonpb.Payload) ([]*commonpb.Payload, error)) error {
	if p := f.GetEncodedAttributes(); p != nil {
		done, err := do([]*commonpb.Payload{p})
		if err != nil {
			return err
		}
		f.EncodedAttributes = done[0]
	}
	for _, details := range []*commonpb.Payloads{
		f.GetApplicationFailureInfo().GetDetails(), f.GetCanceledFailureInfo().GetDetails(),
		f.GetTimeoutFailureInfo().GetLastHeartbeatDetails(), f.GetResetWorkflowFailureInfo().GetLastHeartbeatDetails(),
	} {
		if len(details.GetPayloads()) == 0 {
			continue
		}
		done, err := do(details.GetPayloads())
		if err != nil {
			return err
		}
		details.Payloads = done
	}
	return nil
}
