package cli

import (
	"encoding/base64"
	"fmt"
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
		right := string(st.place.cloudsYAML)
		st.place.cloudsYAML, st.place.osFromCluster, st.place.osCloud = nil, true, ""
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
