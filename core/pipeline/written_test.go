package pipeline

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// list writes a definition in which operations stand inside of one another, as tests
// have them, as Python writes it.
func list(t testing.TB, nested string) []byte {
	var out []any
	flatten(t, json.RawMessage(nested), &out)
	text, err := json.Marshal(out)
	require.NoError(t, err)
	return text
}

func flatten(t testing.TB, nested json.RawMessage, out *[]any) int {
	var handle uint64
	if json.Unmarshal(nested, &handle) == nil {
		*out = append(*out, map[string]uint64{"handle": handle})
		return len(*out) - 1
	}
	var node map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(nested, &node), string(nested))
	if given, has := node["inputs"]; has {
		var inputs []json.RawMessage
		require.NoError(t, json.Unmarshal(given, &inputs))
		places := []int{}
		for _, in := range inputs {
			places = append(places, flatten(t, in, out))
		}
		node["inputs"], _ = json.Marshal(places)
	}
	node["args"] = flatTemplates(t, node["args"])
	*out = append(*out, node)
	return len(*out) - 1
}

// flatTemplates writes the templates in arguments as lists.
func flatTemplates(t testing.TB, args json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(args, &fields) != nil {
		return args
	}
	for name, value := range fields {
		if name == "template" && string(value) != "null" {
			fields[name] = list(t, string(value))
		} else if name != "program" {
			fields[name] = flatTemplates(t, value)
		}
	}
	out, err := json.Marshal(fields)
	require.NoError(t, err)
	return out
}

// definitionOf reads the one definition of a text in which operations stand inside of one another.
func definitionOf(t testing.TB, nested string, find Finding) (*Dataset, error) {
	all, err := Parse(list(t, nested), find)
	if err != nil {
		return nil, err
	}
	return all[len(all)-1], nil
}
