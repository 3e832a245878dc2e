package controller

import (
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestPythonForms(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{pyList(nil), "[]"},
		{pyList([]string{"a", "b"}), "['a', 'b']"},
		{pyDict([]pyVerdict{{"compute", true}, {"database", false}}), "{'compute': True, 'database': False}"},
		{pyTime(time.Date(2026, 1, 16, 15, 25, 37, 123456789, time.UTC)), "2026-01-16 15:25:37.123456"},
		{pyTime(time.Date(2026, 1, 16, 16, 25, 37, 999, time.FixedZone("CET", 3600))), "2026-01-16 15:25:37"},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
}

func TestActionOfAnInstance(t *testing.T) {
	tag := func(actions ...string) *[]string {
		var tags []string
		for _, a := range actions {
			tags = append(tags, tagPrefix+a)
		}
		return &tags
	}
	for name, c := range map[string]struct {
		tags *[]string
		want string
	}{
		"no tags":                    {nil, "fallback"},
		"one tag":                    {tag("notify"), actionNotify},
		"a tag beside a strange one": {tag("poweroff", "dance"), actionOff},
		"only a strange one":         {tag("dance"), "fallback"},
		"two tags cancel each other": {tag("live_migrate", "notify"), "fallback"},
	} {
		if got := instanceAction(&servers.Server{Tags: c.tags}, "fallback"); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestConfigurationOfANode(t *testing.T) {
	for name, c := range map[string]struct {
		annotations map[string]string
		want        nodeConfig
		fails       bool
	}{
		"nothing said":       {nil, nodeConfig{actionLive, 3}, false},
		"manual":             {map[string]string{annotationMode: "manual"}, nodeConfig{actionNotify, 3}, false},
		"skip, five tries":   {map[string]string{annotationMode: "skip", annotationAttempts: "5"}, nodeConfig{actionOff, 5}, false},
		"a mode of the docs": {map[string]string{annotationMode: "cold"}, nodeConfig{}, true},
		"an empty mode":      {map[string]string{annotationMode: ""}, nodeConfig{}, true},
		"tries as a word":    {map[string]string{annotationAttempts: "many"}, nodeConfig{}, true},
	} {
		got, err := readNodeConfig(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Annotations: c.annotations}})
		if got != c.want || (err != nil) != c.fails {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestTimingDefaults(t *testing.T) {
	got := Timing{Retry: time.Second, Update: -1}.withDefaults()
	if got.Retry != time.Second || got.Update != 0 || got.Reboot != 6*time.Minute {
		t.Errorf("%+v", got)
	}
}
