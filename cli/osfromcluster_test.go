package cli

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"lockstep/core"
	"lockstep/sim"
	"lockstep/sim/bubble"
	"lockstep/sim/fault"
	"lockstep/sim/kubeapi"
)

// With --os-from-cluster the secret is read when it becomes readable: after an outage at the start, and again after its password
// was refused.
func TestTheClustersOwnCredentialsAreReadWhenTheyAreNeeded(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		st := newStory(t, sim.Options{Paused: true, User: kubeapi.Operator})
		right := string(st.place.CloudsYAML)
		st.place.CloudsYAML, st.place.OSFromCluster, st.place.OSCloud = nil, true, ""
		write := func(yaml string) {
			patch := fmt.Sprintf(`{"data":{"clouds.yaml":%q}}`, base64.StdEncoding.EncodeToString([]byte(yaml)))
			if _, err := kubernetesOf(t, st.Cloud).CoreV1().Secrets("openstack-external").Patch(t.Context(), "openstack-identity-credentials",
				types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		cloud := strings.Replace(right, "sim:", "admin:", 1)
		wrong := strings.ReplaceAll(cloud, "password: ", "password: x")
		if wrong == cloud {
			t.Fatalf("there is no password in %s", right)
		}
		write(wrong)
		outage := fault.Setting{Server: fault.Kubernetes, Kind: "503"}
		if err := st.Faults.On(outage); err != nil {
			t.Fatal(err)
		}
		st.begin()
		said := func(words string) func(*core.Snapshot) bool {
			return func(s *core.Snapshot) bool {
				src := s.Sources[core.SourceInstances]
				return src.Err != nil && strings.Contains(src.Err.Error(), words)
			}
		}
		st.until("it is told why there are no credentials",
			said("get secret openstack-identity-credentials in namespace openstack-external: server error"))
		if err := st.Faults.Off(outage.Server, outage.Kind); err != nil {
			t.Fatal(err)
		}
		st.until("the password of the secret is refused", said("log in to admin at "))
		write(cloud)
		mended := time.Now()
		st.until("OpenStack is seen", func(s *core.Snapshot) bool { return live(s, core.ServerOpenStack) })
		if took := time.Since(mended); took > time.Minute {
			t.Errorf("it took %s", took)
		}
	})
}

// A clouds.yaml that was wrong when Lockstep started is read again: once it is corrected, OpenStack is seen without a restart.
func TestACloudsYAMLThatIsCorrectedIsTakenUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clouds.yaml")
	t.Setenv("OS_CLIENT_CONFIG_FILE", path)
	write := func(content string) {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bubble.Alone(t, func(t *testing.T) {
		st := newStory(t, sim.Options{Paused: true, User: kubeapi.Operator})
		right := string(st.place.CloudsYAML)
		st.place.CloudsYAML = nil
		write("clouds: [")
		st.begin()
		st.until("it is told that the file is wrong", func(s *core.Snapshot) bool {
			src := s.Sources[core.SourceInstances]
			return src.State == core.SourceFailed && src.Err != nil && src.Err.Kind == core.ErrConfiguration &&
				strings.Contains(src.Err.Error(), "not a valid clouds.yaml")
		})
		write(right)
		mended := time.Now()
		st.until("OpenStack is seen", func(s *core.Snapshot) bool { return live(s, core.ServerOpenStack) })
		if took := time.Since(mended); took > time.Minute {
			t.Errorf("it took %s", took)
		}
	})
}
