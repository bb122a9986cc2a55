package input_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/input"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/schema/field"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

const (
	questions = `{"title":"Trip","questions":[{"id":"city","label":"Where to?"},
		{"id":"nights","label":"How long?","type":"number","optional":true}]}`
	oneOf  = `{"title":"Hero","choose":{"options":[{"id":"bold","label":"Bold"},{"id":"calm","label":"Calm"}]}}`
	someOf = `{"title":"Hero","choose":{"chooseMode":"multiple","options":[{"id":"bold","label":"Bold"},
		{"id":"calm","label":"Calm","imageUrl":"https://example.com/a.png"}]}}`
	approve = `{"title":"Publish?","approve":{}}`
)

func read(t *testing.T, arguments string) input.Spec {
	t.Helper()
	s, err := input.Read(json.RawMessage(arguments))
	require.NoError(t, err)
	return s
}

// Every kind of request becomes a form whose schema accepts what a person can answer.
func TestFormsAcceptTheirAnswers(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct{ name, spec, sent, want string }{
		{"Questions", questions, "city=+Oslo%0D%0Acentre&nights=2%2C5&other=1", `{"city":"Oslo\ncentre","nights":2.5}`},
		{"Small", questions, "city=Oslo&nights=%2B0,125", `{"city":"Oslo","nights":0.125}`},
		{"Zeros", questions, "city=Oslo&nights=-007.50", `{"city":"Oslo","nights":-7.50}`},
		{"Optional", questions, "city=Oslo&nights=+", `{"city":"Oslo"}`},
		{"One", oneOf, "choice=calm", `{"choice":"calm"}`},
		{"Several", someOf, "choice=calm&choice=bold&choice=calm", `{"choice":["calm","bold"]}`},
		{"Yes", approve, "approved=yes&notes=ok", `{"approved":true,"notes":"ok"}`},
		{"No", approve, "approved=no", `{"approved":false}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			spec := read(t, tt.spec)
			sent, err := url.ParseQuery(tt.sent)
			require.NoError(t, err)
			answer, problems := spec.ReadForm(sent, nil)
			require.Empty(t, problems)
			raw, err := json.Marshal(answer)
			require.NoError(t, err)
			require.JSONEq(t, tt.want, string(raw))

			// A program that submits the same answer gets the same result.
			packet, err := input.Result("v", answer)
			require.NoError(t, err)
			for _, submitted := range []json.RawMessage{raw, packet, json.RawMessage(`{"answer":` + string(raw) + `}`)} {
				read, err := spec.ReadResult("v", submitted, nil)
				require.NoError(t, err)
				got, err := read.Result("v", nil)
				require.NoError(t, err)
				require.Equal(t, string(packet), string(got))
			}

			compiled, err := field.Compile(spec.Fields())
			require.NoError(t, err)
			form, err := schema.New(0).Compile(compiled)
			require.NoError(t, err)
			require.NoError(t, form.Validate(t.Context(), raw))
		})
	}
}

func TestAnswersThatAreRefused(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct{ name, spec, sent, key, problem string }{
		{"Nothing", questions, "nights=1", "city", "an answer is needed"},
		{"Blank", questions, "city=+%0D%0A+", "city", "an answer is needed"},
		{"Twice", questions, "city=a&city=b", "city", "one answer"},
		{"Long", questions, "city=" + strings.Repeat("x", 10_001), "city", "more than 10000 characters"},
		{"Binary", questions, "city=a%00b", "city", "cannot be kept"},
		{"Broken", questions, "city=%ff", "city", "cannot be kept"},
		{"NoNumber", questions, "city=a&nights=two", "nights", "a number is expected"},
		{"NotANumber", questions, "city=a&nights=NaN", "nights", "a number is expected"},
		{"Null", questions, "city=a&nights=null", "nights", "a number is expected"},
		{"Exponent", questions, "city=a&nights=1e-400", "nights", "a number is expected"},
		{"Thousand", questions, "city=a&nights=1,000", "nights", "without separators"},
		{"Thousands", questions, "city=a&nights=-10.000", "nights", "without separators"},
		{"Million", questions, "city=a&nights=1,000,000", "nights", "a number is expected"},
		{"HugeNumber", questions, "city=a&nights=1" + strings.Repeat("0", 70), "nights", "a number is expected"},
		{"OtherOption", oneOf, "choice=loud", "choice", "one of the options"},
		{"TwoOfOne", oneOf, "choice=bold&choice=calm", "choice", "one answer"},
		{"NoOption", someOf, "", "choice", "an answer is needed"},
		{"OtherOptions", someOf, "choice=bold&choice=loud", "choice", "among the options"},
		{"Maybe", approve, "approved=maybe", "approved", "yes or no"},
		{"NotSaid", approve, "notes=fine", "approved", "an answer is needed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			spec := read(t, tt.spec)
			sent, err := url.ParseQuery(tt.sent)
			require.NoError(t, err)
			_, problems := spec.ReadForm(sent, nil)
			require.Len(t, problems, 1)
			require.Contains(t, problems[tt.key], tt.problem)
		})
	}
}

// Exactly one of the kinds is asked for (S0-126).
func TestRequestsThatAreRefused(t *testing.T) {
	t.Parallel()

	option := `{"id":"a","label":"A"}`
	for name, tt := range map[string]struct{ spec, path, msg string }{
		"Nothing":    {`{"title":"x"}`, "", "exactly one"},
		"Two":        {`{"title":"x","approve":{},"questions":[{"id":"a","label":"A"}]}`, "", "exactly one"},
		"NoTitle":    {`{"title":" ","approve":{}}`, "/title", "title"},
		"Unknown":    {`{"title":"x","draw":{}}`, "", "unknown field"},
		"OneOption":  {`{"title":"x","choose":{"options":[` + option + `]}}`, "/choose/options", "2 to 6"},
		"SameOption": {`{"title":"x","choose":{"options":[` + option + `,` + option + `]}}`, "/choose/options/1/id", "twice"},
		"SevenOf":    {`{"title":"x","choose":{"options":[{},{},{},{},{},{},{}]}}`, "/choose/options", "2 to 6"},
		"Script":     {`{"title":"x","choose":{"options":[{"id":"a","label":"A","imageUrl":"javascript:alert(1)"},{"id":"b","label":"B"}]}}`, "/choose/options/0/imageUrl", "https"},
		"UserName": {
			strings.Replace(someOf, "https://example.com/", "https://bank.example@evil.example/", 1),
			"/choose/options/1/imageUrl", "user name",
		},
		"NoHost":      {strings.Replace(someOf, "example.com/", "/", 1), "/choose/options/1/imageUrl", "https"},
		"Homoglyph":   {strings.Replace(someOf, "example", "ехample", 1), "/choose/options/1/imageUrl", "ASCII"},
		"Trailing":    {approve + `{}`, "", "one request"},
		"BadMode":     {`{"title":"x","choose":{"chooseMode":"any","options":[` + option + `,{"id":"b","label":"B"}]}}`, "/choose/chooseMode", "single"},
		"BadID":       {`{"title":"x","questions":[{"id":"1a","label":"A"}]}`, "/questions/0/id", "letter"},
		"NoLabel":     {`{"title":"x","questions":[{"id":"a","label":" "}]}`, "/questions/0/label", "label"},
		"BadType":     {`{"title":"x","questions":[{"id":"a","label":"A","type":"date"}]}`, "/questions/0/type", "number"},
		"NoObject":    {`[]`, "", "request for input"},
		"Undecodable": {`{`, "", "request for input"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := input.Read(json.RawMessage(tt.spec))
			e := tool.AsError(err)
			require.Equal(t, tool.Invalid, e.Kind)
			require.Equal(t, tt.path, e.Path)
			require.Contains(t, e.Msg, tt.msg)
		})
	}
}

func asked() *wait.Call {
	c := &wait.Call{ID: uuid.NewString(), Key: []byte(strings.Repeat("k", 32))}
	c.Principal.Tenant, c.Implementation = tool.TenantID(uuid.NewString()), tool.Input
	return c
}

func token(t *testing.T, c *wait.Call, expires time.Time) (input.Token, string) {
	t.Helper()
	link, err := input.Link(c, expires)
	require.NoError(t, err)
	text, ok := strings.CutPrefix(link, input.Path)
	require.True(t, ok)
	got, ok := input.ReadToken(text)
	require.True(t, ok)
	return got, text
}

func TestLinkOpensItsCallOnly(t *testing.T) {
	t.Parallel()

	now := time.Now()
	c := asked()
	got, text := token(t, c, now.Add(time.Hour))
	require.Equal(t, c.ID, got.CallID)
	require.Equal(t, c.Principal.Tenant, got.Tenant)
	require.True(t, got.Opens(c, now))
	require.False(t, got.Opens(c, now.Add(time.Hour)), "it has expired")

	renewed := *c
	renewed.Key = []byte(strings.Repeat("x", 32))
	require.False(t, got.Opens(&renewed, now), "it was revoked")
	renewed.Key = nil
	require.False(t, got.Opens(&renewed, now), "a call without a key is opened by nothing")
	other := *c
	other.Implementation = tool.HTTP
	require.False(t, got.Opens(&other, now), "a link opens requests for input only")

	for i := range text {
		changed := []byte(text)
		changed[i] = map[bool]byte{true: 'A', false: 'B'}[changed[i] != 'A']
		if token, ok := input.ReadToken(string(changed)); ok {
			require.False(t, token.Opens(c, now), "byte %d does not count", i)
		}
	}
	for _, bad := range []string{
		"", "x", text + "A", text[1:], strings.Repeat("!", len(text)), text[:len(text)-1] + "\n",
	} {
		_, ok := input.ReadToken(bad)
		require.False(t, ok, bad)
	}
}

// What a model sends is read without a panic, and a request that is read has a form.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{questions, oneOf, someOf, approve, `{}`, `[1`} {
		f.Add(seed, "choice=a&approved=yes")
	}
	f.Fuzz(func(t *testing.T, arguments, sent string) {
		spec, err := input.Read(json.RawMessage(arguments))
		if err != nil {
			return
		}
		require.NotEmpty(t, spec.Fields())
		values, _ := url.ParseQuery(sent)
		answer, problems := spec.ReadForm(values, nil)
		if len(problems) == 0 {
			_, err := input.Result("id", answer)
			require.NoError(t, err)
		}
	})
}
