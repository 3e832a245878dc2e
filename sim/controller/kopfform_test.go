package controller

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// The simulated controller stores the same bytes on objects as the real one.
func TestWhatIsKeptHasTheRealControllersForm(t *testing.T) {
	raw, err := os.ReadFile("../../kube/testdata/bookkeeping.yaml")
	if err != nil {
		t.Fatal(err)
	}
	handlers, essences := 0, 0
	for _, manifest := range strings.Split(string(raw), "\n---\n")[1:] {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(manifest), &object.Object); err != nil {
			t.Fatal(err)
		}
		for key, value := range object.GetAnnotations() {
			name, ours := strings.CutPrefix(key, kopfPrefix)
			switch {
			case !ours:
			case key == annotationHandled:
				essences++
				if got := essence(object); got != value {
					t.Errorf("%s %s: the essence is\n%s, the real one\n%s", object.GetKind(), object.GetName(), got, value)
				}
			default:
				handlers++
				kept := progressOf(object, name)
				if kept == nil {
					t.Fatalf("%s cannot be read", value)
				}
				if got := compactJSON(kept); got != value {
					t.Errorf("%s: kept is\n%s, the real one\n%s", name, got, value)
				}
				if kopfStamp(kept.due()) != kept.Delayed {
					t.Errorf("%s is read as %s", kept.Delayed, kopfStamp(kept.due()))
				}
			}
		}
	}
	if handlers != 2 || essences != 4 {
		t.Errorf("%d handlers and %d essences were compared", handlers, essences)
	}
}

// Python escapes everything except printable ASCII.
func TestKeptTextIsASCII(t *testing.T) {
	for text, want := range map[string]string{"<a> & \u007f": `"<a> & \u007f"`, "M\u00fcnchen \U0001F600": `"M\u00fcnchen \ud83d\ude00"`} {
		got := compactJSON(text)
		back := ""
		if err := json.Unmarshal([]byte(got), &back); err != nil || got != want || back != text {
			t.Errorf("%q becomes %s, and that %q (%v)", text, got, back, err)
		}
	}
}
