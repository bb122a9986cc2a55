package operator

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/temporalproto"

	"github.com/toolcrib/toolcrib/internal/payload"
	"github.com/toolcrib/toolcrib/tool"
)

// A history that Temporal's tools print is printed with what its payloads hold; the rest stays as it is.
func TestDecodeDocument(t *testing.T) {
	t.Parallel()

	keys, err := payload.ParseKeys(payload.GenerateKey())
	require.NoError(t, err)
	sealed, err := payload.NewCodec(keys).Encode([]*commonpb.Payload{
		{Metadata: map[string][]byte{"encoding": []byte("json/plain")}, Data: []byte(`{"id":9007199254740993,"html":"<b>"}`)},
		{Metadata: map[string][]byte{"encoding": []byte("binary/plain")}, Data: []byte("raw")},
	})
	require.NoError(t, err)
	raw, err := temporalproto.CustomJSONMarshalOptions{}.Marshal(&historypb.History{Events: []*historypb.HistoryEvent{{
		EventId: 7, Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
			WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{
				Input: &commonpb.Payloads{Payloads: sealed}, Identity: "me",
			},
		},
	}}})
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, decodeDocument(&out, bytes.NewReader(raw), keys))
	require.Contains(t, out.String(), "9007199254740993", "numbers are not rounded")
	require.Contains(t, out.String(), `"<b>"`)
	require.Contains(t, out.String(), `"data": "cmF3"`)
	require.Contains(t, out.String(), `"me"`)
	require.NotContains(t, out.String(), payload.KeyField)

	err = decodeDocument(&out, bytes.NewReader(raw), nil)
	require.ErrorContains(t, err, keys.IDs()[0])
	require.Equal(t, tool.Invalid, tool.KindOf(decodeDocument(&out, strings.NewReader(`{"a":`), keys)))

	out.Reset()
	plain := `{"metadata":{"encoding":"anNvbi9wbGFpbg=="},"data":"MQ==","list":[1,{"metadata":null}]}`
	require.NoError(t, decodeDocument(&out, strings.NewReader(plain+plain), keys))
	reader := json.NewDecoder(&out)
	for range 2 {
		var again json.RawMessage
		require.NoError(t, reader.Decode(&again))
		require.JSONEq(t, plain, string(again))
	}
}
