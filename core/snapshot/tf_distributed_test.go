package snapshot

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/vfs"
	"infeed/internal/testkit"
)

// distributed returns a copy of a snapshot that tf.data's service wrote: 20 elements in
// two chunks of 10.
func distributed(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "s")
	require.NoError(t, os.CopyFS(folder, os.DirFS(testkit.TF(t, "distributed/none"))))
	return folder
}

func TestSnapshotsOfTheServiceThatCannotBeRead(t *testing.T) {
	for said, damage := range map[string]func(folder string) error{
		"it is not finished: tf.data's service has not written the file DONE": func(folder string) error { return os.Remove(folder + "/DONE") },
		`failed to write the snapshot: "no \"space\""`:                        func(folder string) error { return os.WriteFile(folder+"/ERROR", []byte(`no "space"`), 0o600) },
		"chunk 0 of stream 0 is missing: chunk_0_1_10 follows":                func(folder string) error { return os.Remove(folder + "/chunks/chunk_0_0_10") },
		"chunk 1 of stream 3 is missing: chunk_3_2_5 follows":                 func(folder string) error { return os.WriteFile(folder+"/chunks/chunk_3_0_0", nil, 0o600) },
		"elements are missing: there are 10; 20 were saved":                   func(folder string) error { return os.Truncate(folder+"/chunks/chunk_0_1_10", 0) },
		"there are more than the 19 elements": func(folder string) error {
			return os.Rename(folder+"/chunks/chunk_0_1_10", folder+"/chunks/chunk_0_1_9")
		},
		"no metadata that tf.data wrote": func(folder string) error { return os.WriteFile(folder+"/snapshot.metadata", []byte("spec \"x"), 0o600) },
	} {
		folder := distributed(t)
		require.NoError(t, damage(folder))
		if said[:7] == "chunk 1" {
			require.NoError(t, os.WriteFile(folder+"/chunks/chunk_3_2_5", nil, 0o600))
		}
		got, err := walkTF(t, vfs.Local(), folder, TFOptions{Compression: Auto})
		require.Equal(t, errs.DataLoss, errs.KindOf(err), "%s: %v", said, err)
		require.ErrorContains(t, err, said)
		require.LessOrEqual(t, len(got), 19)
	}
}

// Older versions call the folder of chunks otherwise and do not count in their names. The
// spec is in the metadata too, in the text form of protocol buffers.
func TestOlderSnapshotsOfTheService(t *testing.T) {
	folder := distributed(t)
	require.NoError(t, os.Remove(folder+"/dataset_spec.pb"))
	require.NoError(t, os.Rename(folder+"/chunks", folder+"/committed_chunks"))
	for _, n := range []string{"0", "1"} {
		require.NoError(t, os.Rename(folder+"/committed_chunks/chunk_0_"+n+"_10", folder+"/committed_chunks/chunk_0_"+n))
	}
	require.NoError(t, os.WriteFile(folder+"/committed_chunks/other", nil, 0o600))
	d, err := LoadTF(vfs.Local(), folder, TFOptions{Compression: Auto})
	require.NoError(t, err)
	require.Equal(t, "(int64[], float32[2])", d.Spec().String())
	require.Equal(t, dataset.Unknown, d.Cardinality())
	require.Len(t, read(t, vfs.Local(), d), 20)

	about, err := DescribeTF(vfs.Local(), folder)
	require.NoError(t, err)
	require.Equal(t, "distributed snapshot", about.Kind)
	require.Equal(t, []string{"int64", "float32"}, about.Types)
	require.Equal(t, []string{"chunk_0_0", "chunk_0_1"}, []string{about.Parts[0].Name, about.Parts[1].Name})
}

func TestTextOfProtocolBuffers(t *testing.T) {
	for text, want := range map[string]map[string]string{
		"":                                    {},
		"a: \"x\\001\\x41y\" 'z\\''\nb: -1.5": {"a": "x\x01Ayz'", "b": "-1.5"},
		`a_1:"\a\b\f\n\r\t\v\\\"\?\377\0"`:    {"a_1": "\a\b\f\n\r\t\v\\\"?\xff\x00"},
		"a: true, b: false;":                  {"a": "true", "b": "false"},
	} {
		got := map[string]string{}
		require.True(t, textFields([]byte(text), func(name, value string) { got[name] = value }), text)
		require.Equal(t, want, got)
	}
	for _, text := range []string{"a", "a:", "a: \"", "a: \"\\", `a: "\x"`, `a: "\777"`, `a: "\q"`, "a { b: 1 }", ": 1", "a: {"} {
		require.False(t, textFields([]byte(text), func(string, string) {}), text)
	}
}
