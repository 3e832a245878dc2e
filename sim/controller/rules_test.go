package controller

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestPythonForms(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{pyList(nil), "[]"},
		{pyList([]string{"a", "b"}), "['a', 'b']"},
		{pyString("it's"), `"it's"`},
		{pyString("it's \"so\"\n"), `'it\'s "so"\n'`},
		{pyPairs([]pyPair{{"id", pyString("ACTIVE")}, {"x", "None"}}), "{'id': 'ACTIVE', 'x': None}"},
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
			tags = append(tags, tagKey+"="+a)
		}
		return &tags
	}
	const twoTags = `level=WARN msg="Instance id has multiple openstack.lcm.mirantis.com:maintenance_action tags: ['notify', ` +
		`'live_migrate']. Fallback to the default action."`
	for name, c := range map[string]struct {
		tags        *[]string
		mode        string
		want, fails string
		logs        string
	}{
		"no tags":                    {nil, "skip", actionOff, "", ""},
		"one tag":                    {tag("notify"), "live", actionNotify, "", ""},
		"a tag beside a strange one": {tag("poweroff", "dance"), "live", actionOff, "", ""},
		"only a strange one":         {tag("dance"), "manual", actionNotify, "", ""},
		"two tags cancel each other": {tag("live_migrate", "notify"), "skip", actionOff, "", twoTags},
		"a mode that is none":        {nil, "cold", "", "KeyError: 'cold'", ""},
		"a mode that nobody needs":   {tag("notify"), "cold", actionNotify, "", ""},
	} {
		var logged strings.Builder
		e := &env{log: slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))}
		got, err := e.instanceAction(&servers.Server{ID: "id", Tags: c.tags}, c.mode)
		if got != c.want || (err == nil) != (c.fails == "") || err != nil && err.Error() != c.fails {
			t.Errorf("%s: %s, %v", name, got, err)
		}
		if strings.TrimSpace(logged.String()) != c.logs {
			t.Errorf("%s: logged %s", name, logged.String())
		}
	}
}

func TestConfigurationOfANode(t *testing.T) {
	for name, c := range map[string]struct {
		annotations map[string]string
		want        nodeConfig
		fails       string
	}{
		"nothing said":       {nil, nodeConfig{"live", 3}, ""},
		"manual":             {map[string]string{annotationMode: "manual"}, nodeConfig{"manual", 3}, ""},
		"skip, five tries":   {map[string]string{annotationMode: "skip", annotationAttempts: "5"}, nodeConfig{"skip", 5}, ""},
		"a mode of the docs": {map[string]string{annotationMode: "cold"}, nodeConfig{"cold", 3}, ""},
		"tries as a word": {map[string]string{annotationAttempts: "many"}, nodeConfig{},
			"ValueError: invalid literal for int() with base 10: 'many'"},
	} {
		got, err := readNodeConfig(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Annotations: c.annotations}})
		if got != c.want || (err == nil) != (c.fails == "") || err != nil && err.Error() != c.fails {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestTextOfAFailedRequest(t *testing.T) {
	answer := func(status int, body string) error {
		return openstackErr("try", gophercloud.ErrUnexpectedResponseCode{URL: "http://nova/x", Actual: status, Body: []byte(body)})
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{answer(409, `{"conflictingRequest": {"code": 409, "message": "Cannot 'os-migrateLive' instance x while it is in vm_state stopped"}}`),
			"ConflictException: 409: Client Error for url: http://nova/x, Cannot 'os-migrateLive' instance x while it is in vm_state stopped"},
		{answer(503,
			"<html><head><title>503 Service Temporarily Unavailable</title></head>\r\n<h1>503 Service Temporarily "+
				"Unavailable</h1>\r\n<hr>nginx\r\n</html>"),
			"HttpException: 503: Server Error for url: http://nova/x, 503 Service Temporarily Unavailable: nginx"},
		{answer(404, ""), "NotFoundException: 404: Client Error for url: http://nova/x"},
		{openstackErr("try", errors.New("connection refused")), "Unable to establish connection: connection refused"},
	} {
		if got := sdkText(c.err); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestPlaceOfAWorkloadsHealth(t *testing.T) {
	for name, want := range map[string]component{
		"nova-compute-default":       {"nova", "compute-default"},
		"libvirt-libvirt-default":    {"libvirt", "libvirt-default"},
		"openvswitch-openvswitch-db": {"openvswitch", "openvswitch-db"},
		"mariadb-server":             {"mariadb", "server"},
		"etcd-etcd":                  {"etcd", "etcd"},
	} {
		if got := componentOf(name, map[string]string{"application": want.application}); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestTimingDefaults(t *testing.T) {
	got := Timing{Retry: time.Second, Update: -1}.withDefaults()
	if got.Retry != time.Second || got.Update != 0 || got.Reboot != 6*time.Minute {
		t.Errorf("%+v", got)
	}
}

// A simulated update in which nothing goes wrong has no step that becomes Stuck: by default Ceph takes less time than its plan's step
// estimates.
func TestCephIsDoneWithinTheEstimateOfItsStep(t *testing.T) {
	if takes, estimated := (Timing{}).withDefaults().CephUpdate, planSteps[stepCeph].estimated; takes >= estimated {
		t.Errorf("Ceph takes %s, and its step estimates %s", takes, estimated)
	}
}
