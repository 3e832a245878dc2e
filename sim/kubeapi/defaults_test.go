package kubeapi_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"lockstep/sim/kubeapi"
)

// A DaemonSet always shows the generation of its template, which only a change of the template moves.
func TestADaemonSetShowsTheGenerationOfItsTemplate(t *testing.T) {
	w := start(t, kubeapi.Options{})
	labels := map[string]string{"app": "agent"}
	want := func(what string, set *appsv1.DaemonSet, err error, template string, generation int64) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if got := set.Annotations[appsv1.DeprecatedTemplateGeneration]; got != template || set.Generation != generation {
			t.Errorf("%s: the template is of generation %q, the object of %d, want %s and %d", what, got, set.Generation, template, generation)
		}
	}
	sets := w.typed(kubeapi.Admin).AppsV1().DaemonSets("default")
	set := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "agent"}, Spec: appsv1.DaemonSetSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels}, UpdateStrategy: appsv1.DaemonSetUpdateStrategy{Type: "OnDelete"},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "agent", Image: "agent:1"}}}}}}
	made, err := sets.Create(w.ctx, set, metav1.CreateOptions{})
	want("created", made, err, "1", 1)
	put, err := sets.Update(w.ctx, set, metav1.UpdateOptions{}) // without the annotation, and without what the server fills in
	want("put again", put, err, "1", 1)
	patch := func(body string, subresources ...string) (*appsv1.DaemonSet, error) {
		return sets.Patch(w.ctx, "agent", types.MergePatchType, []byte(body), metav1.PatchOptions{}, subresources...)
	}
	for _, step := range []struct {
		what, body string
		sub        []string
		template   string
		generation int64
	}{
		{"the strategy", `{"spec":{"updateStrategy":{"type":"RollingUpdate"}}}`, nil, "1", 2},
		{"the image", `{"spec":{"template":{"spec":{"containers":[{"name":"agent","image":"agent:2"}]}}}}`, nil, "2", 3},
		{"a label", `{"metadata":{"labels":{"a":"b"}}}`, nil, "2", 3},
		{"the annotation removed", `{"metadata":{"annotations":{"deprecated.daemonset.template.generation":null}}}`, nil, "2", 3},
		{"the annotation set", `{"metadata":{"annotations":{"deprecated.daemonset.template.generation":"9"}}}`, nil, "2", 3},
		{"the status", `{"status":{"observedGeneration":3}}`, []string{"status"}, "2", 3},
	} {
		set, err := patch(step.body, step.sub...)
		want(step.what, set, err, step.template, step.generation)
	}
	set = &appsv1.DaemonSet{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"},
		ObjectMeta: metav1.ObjectMeta{Name: "loaded", Namespace: "default"}, Spec: set.Spec}
	if err := w.Load(set); err != nil {
		t.Fatal(err)
	}
	loaded, err := sets.Get(w.ctx, "loaded", metav1.GetOptions{})
	want("loaded", loaded, err, "1", 1)
}
