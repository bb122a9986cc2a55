package publicresult_test

import (
	"encoding/json"
	"html/template"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/publicresult"
	"github.com/toolcrib/toolcrib/tool"
)

var shown = publicresult.Define(template.Must(template.New("page").Parse(`{{template "sections" .}}`)))

func html(t *testing.T, sections []publicresult.Section) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, shown.Execute(&b, sections))
	return b.String()
}

func section(t *testing.T, kind tool.SectionType, config, value string) publicresult.Section {
	t.Helper()
	listed, err := json.Marshal([]tool.OutputSection{
		{Key: "part", Label: "Part", Type: kind, Config: json.RawMessage(config)},
	})
	require.NoError(t, err)
	out, rest := publicresult.Read(listed, json.RawMessage(`{"part":`+value+`}`))
	require.Len(t, out, 1)
	require.Nil(t, rest)
	require.Contains(t, html(t, out), "Part")
	return out[0]
}

// Each type of section draws what fits it, with the digits and in the order of the result.
func TestSectionsOfEachType(t *testing.T) {
	t.Parallel()

	s := section(t, tool.SectionSummary, `{}`, `{"open_orders":9007199254740993,"late":null,"rate":"12 %"}`)
	require.Equal(t, "open orders", s.Stats[0].Name)
	require.Equal(t, "9007199254740993", s.Stats[0].Value)
	require.Equal(t, "–", s.Stats[1].Value)
	require.Equal(t, "1.50 EUR", section(t, tool.SectionSummary, `{"unit":"EUR"}`, `1.50`).Text)

	s = section(t, tool.SectionTable, `{"columns":["sku",{"key":"price"}]}`,
		`[{"price":1.50,"sku":"A","cost":1},{"sku":"B","price":2,"more":[1]}]`)
	require.Equal(t, []string{"sku", "price"}, s.Table.Columns)
	require.Equal(t, [][]string{{"A", "1.50"}, {"B", "2"}}, s.Table.Rows)
	require.Equal(t, []bool{false, true}, s.Table.Numbers)
	s = section(t, tool.SectionTable, `{}`, `[{"z":1,"a":{"b":2}},{"c":3}]`)
	require.Equal(t, []string{"z", "a", "c"}, s.Table.Columns)
	require.Equal(t, "–", s.Table.Rows[1][0])

	s = section(t, tool.SectionChart, `{"x":"day","y":["sold","sent"]}`,
		`[{"day":"Mon","sold":3,"sent":1},{"day":"Tue","sold":-2,"sent":null}]`)
	require.Len(t, s.Chart.Shapes, 3, "a bar for each number")
	require.Equal(t, []string{"Name", "sold", "sent"}, s.Table.Columns)
	require.Equal(t, []string{"Tue", "-2", "–"}, s.Table.Rows[1])
	require.Len(t, s.Chart.Legend, 2)
	s = section(t, tool.SectionChart, `{"type":"line"}`, `{"labels":["a","b"],"series":[{"name":"n","values":[1,2]}]}`)
	require.True(t, s.Chart.Shapes[0].Line)
	s = section(t, tool.SectionRadar, `{}`, `{"speed":3,"price":5,"range":1}`)
	require.Len(t, s.Radar.Rings, 4)
	require.Equal(t, []string{"speed", "3"}, s.Table.Rows[0])
	s = section(t, tool.SectionRanking, `{}`, `[["North",40],["South",10]]`)
	require.Equal(t, "North", s.Ranking.Places[0].Name)
	require.Equal(t, "25", s.Ranking.Places[1].Part)
	require.Contains(t, section(t, tool.SectionCustom, `{}`, `{"a":[1]}`).Code, `"a"`)
}

// What does not fit its type is shown as any value is; a result without a part that a section names is not drawn.
func TestSectionsThatDoNotFit(t *testing.T) {
	t.Parallel()

	for _, value := range []string{
		`"many"`, `[{"name":"a"}]`, `[1,"two"]`, `[[1,2,3]]`, `{"a":1,"b":"x"}`, `1e308`, `[1e308,-1e308]`, `null`, `[]`,
		`{}`, `true`, `{"labels":["a"],"series":[{"values":["x"]}]}`, `[{"y":{"z":1}}]`,
	} {
		for _, kind := range []tool.SectionType{
			tool.SectionChart, tool.SectionRadar, tool.SectionRanking, tool.SectionSummary, "other",
		} {
			s := section(t, kind, `{}`, value)
			require.False(t, s.Drawn(), "%s as %s", value, kind)
			require.True(t, s.Text != "" || s.Code != "" || s.Table != nil || s.Stats != nil, "%s as %s", value, kind)
		}
	}
	require.Nil(t, section(t, tool.SectionRadar, `{}`, `{"a":1,"b":2}`).Radar, "a radar has three axes")
	const one = `[{"key":"a","type":"table"}]`
	for _, result := range []string{`{"b":1}`, `[1]`, `"a"`, ``, `{"a":`, strings.Repeat("[", 100) + strings.Repeat("]", 100)} {
		out, rest := publicresult.Read(json.RawMessage(one), json.RawMessage(result))
		require.Nil(t, out, result)
		require.Equal(t, result, string(rest), "as it is written")
	}
	out, rest := publicresult.Read(json.RawMessage(one), json.RawMessage(`{"z":1.0,"a":[],"b":[2]}`))
	require.Len(t, out, 1)
	require.JSONEq(t, `{"z":1.0,"b":[2]}`, string(rest))
	for _, listed := range []string{``, `{}`, `[1]`, `[{"key":"b","type":"table"}]`} {
		out, _ = publicresult.Read(json.RawMessage(listed), json.RawMessage(`{"a":[]}`))
		require.Nil(t, out, listed)
	}
}

// Names, texts and numbers of a hostile result stay text, secrets and hidden characters are not shown, and no result
// makes a page without bounds.
func TestHostileSections(t *testing.T) {
	t.Parallel()

	const script, attribute = `<script>alert(1)</script>`, `\" onload=\"alert(1)`
	rows := `[{"` + script + `":"` + script + `","` + attribute + `":1},{"` + script + `":"` + attribute + `","` + attribute + `":2},` +
		`{"` + script + `":"\u202ehidden\u200b","` + attribute + `":3}]`
	for _, kind := range tool.SectionTypes() {
		listed, err := json.Marshal([]tool.OutputSection{
			{Key: "part", Label: script, Type: kind, Config: json.RawMessage(`{"unit":"` + script + `"}`)},
		})
		require.NoError(t, err)
		for _, value := range []string{rows, `{"` + script + `":1,"b":2,"c":3}`, `"` + script + `"`} {
			out, _ := publicresult.Read(listed, json.RawMessage(`{"part":`+value+`}`))
			body := html(t, out)
			require.NotContains(t, body, "<script", kind)
			require.NotContains(t, body, `" onload`, kind)
			require.NotContains(t, body, "\u202e", kind)
			require.NotContains(t, body, "ZgotmplZ", kind)
		}
	}
	s := section(t, tool.SectionTable, `{}`, `[{"api_key":"s3cr3t-value-of-a-test","who":"https://ada:hunter2@x.example/"}]`)
	require.NotContains(t, html(t, []publicresult.Section{s}), "s3cr3t")
	require.NotContains(t, html(t, []publicresult.Section{s}), "hunter2")

	var long []string
	for i := range 1000 {
		long = append(long, `{"name":"`+strings.Repeat("x", 200)+strconv.Itoa(i)+`","value":`+strconv.Itoa(i)+`}`)
	}
	for _, kind := range tool.SectionTypes() {
		s := section(t, kind, `{}`, "["+strings.Join(long, ",")+"]")
		require.Less(t, len(html(t, []publicresult.Section{s})), 200<<10, kind)
		if s.Table != nil {
			require.Equal(t, 1000, len(s.Table.Rows)+s.Table.More, kind)
		}
	}
}
