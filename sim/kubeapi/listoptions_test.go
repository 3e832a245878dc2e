package kubeapi

import (
	"net/url"
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	internalscheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The parameters of a list mean what client-go's decoder makes of them, its errors included.
func TestListOptionsAreReadAsByClientGo(t *testing.T) {
	for _, text := range []string{
		"", "limit=500", "limit=500&continue=abc", "resourceVersion=0", "resourceVersion=12&resourceVersionMatch=Exact&limit=1",
		"allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=33&watch=true", "watch=1&timeout=5s", "watch=0", "watch=false", "watch=",
		"watch=no", "allowWatchBookmarks=0&watch=true", "limit=", "limit=many", "limit=-1",
		"timeoutSeconds=", "timeoutSeconds=x", "timeoutSeconds=0",
		"labelSelector=a%3Db&limit=5", "fieldSelector=metadata.name%3Da", "labelSelector=%3D", "sendInitialEvents=true&watch=true", "pretty=true",
		"limit=1&limit=2", "resourceVersion=1&resourceVersion=2", "dryRun=All", "limit=99999999999999999999",
	} {
		query, err := url.ParseQuery(text)
		if err != nil {
			t.Fatal(err)
		}
		var got, want internalversion.ListOptions
		gotErr := readListOptions(query, &got)
		wantErr := internalscheme.ParameterCodec.DecodeParameters(query, metav1.SchemeGroupVersion, &want)
		for _, o := range []*internalversion.ListOptions{&got, &want} { // no selector and an empty one are the same
			if o.LabelSelector != nil && o.LabelSelector.Empty() {
				o.LabelSelector = nil
			}
			if o.FieldSelector != nil && o.FieldSelector.Empty() {
				o.FieldSelector = nil
			}
		}
		if (gotErr == nil) != (wantErr == nil) || gotErr == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%q is\n%+v, %v, and for client-go\n%+v, %v", text, got, gotErr, want, wantErr)
		}
	}
}
