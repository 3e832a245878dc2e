package fault_test

import (
	"strings"
	"testing"
	"time"

	"lockstep/sim/fault"
)

func TestASettingIsReadAsItIsWritten(t *testing.T) {
	for text, want := range map[string]fault.Setting{
		"kubernetes:503":                {Server: fault.Kubernetes, Kind: "503"},
		"kubernetes:429,retry-after=30": {Server: fault.Kubernetes, Kind: "429", RetryAfter: 30 * time.Second},
		"compute:latency=1.5s,rate=0.5": {Server: fault.Compute, Kind: "latency", Latency: 1500 * time.Millisecond,
			Rate: 0.5},
		"network:slow=50,path=/agents": {Server: fault.Network, Kind: "slow", Bytes: 50, Path: "/agents"},
		"management:404,resource=lcmmachines,of=reads,count=3": {Server: fault.Management, Kind: "404", Resource: "lcmmachines", Of: fault.Reads,
			Count: 3},
		"openstack:refused,for=10m":        {Server: fault.OpenStack, Kind: "refused", For: 10 * time.Minute},
		"compute:503,everyone,for-real=2s": {Server: fault.Compute, Kind: "503", Everyone: true, ForReal: 2 * time.Second},
		"compute:clock-skew=-90s":          {Server: fault.Compute, Kind: "clock-skew", Skew: -90 * time.Second},
		"compute:409":                      {Server: fault.Compute, Kind: "409", Of: fault.Writes},
	} {
		got, err := fault.Parse(text)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
		again, err := fault.Parse(got.String())
		if err != nil || again != want {
			t.Errorf("%s, written as %s: %+v, %v", text, got, again, err)
		}
	}
}

func TestWhatIsWrongWithASettingIsSaid(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "want SERVER:FAULT, such as kubernetes:503",
		"503":                         "want SERVER:FAULT",
		"nova:503":                    `there is no server "nova"; there are kubernetes, management, openstack, identity, compute, network`,
		"compute:504":                 `there is no fault "504"; there are latency, 401`,
		"compute:410":                 "compute has no fault 410; kubernetes, management have it",
		"compute:503=3":               "503 takes no value",
		"compute:latency=soon":        "latency=soon: want a time such as 2s",
		"compute:latency=-1s":         "latency=-1s: want a time such as 2s",
		"compute:latency=900000h":     "want a time such as 2s",
		"compute:503,rate=2":          "rate=2: want a share above 0, up to 1",
		"compute:503,rate=NaN":        "want a share above 0, up to 1",
		"compute:503,count=0":         "count=0: want a number of requests",
		"compute:503,of=all":          "want reads, writes or watches",
		"compute:503,of":              `want PARAMETER=VALUE, not "of"`,
		"compute:503,resource=nodes":  `503 of compute has no parameter "resource"; it has of, path, rate, count, for, for-real, everyone`,
		"kubernetes:refused,rate=1":   `refused of kubernetes has no parameter "rate"; it has for, for-real`,
		"kubernetes:refused,everyone": `want PARAMETER=VALUE, not "everyone"`,
		"kubernetes:503,resource=":    "want the plural name of a Kubernetes resource",
	} {
		if _, err := fault.Parse(text); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "\""+text+"\"") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestTheCatalogueIsComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range fault.Catalogue() {
		if seen[k.ID] || k.Title == "" || !strings.HasSuffix(k.Does, ".") || !strings.HasSuffix(k.Sees, ".") || len(k.Servers) == 0 {
			t.Errorf("%+v", k)
		}
		seen[k.ID] = true
		for _, s := range k.Servers {
			if got, err := fault.Parse(string(s) + ":" + k.ID); err != nil || got != k.Standard(s) {
				t.Errorf("%s of %s: %+v, %v", k.ID, s, got, err)
			}
			if names, notes := k.Parameters(s); len(names) != len(notes) || len(names) < 2 {
				t.Errorf("%s of %s: the parameters %v", k.ID, s, names)
			}
		}
	}
	for _, id := range []string{"latency", "401", "403", "404", "409", "410", "429", "500", "503", "hang", "slow", "clock-skew",
		"token-expires"} {
		if !seen[id] {
			t.Errorf("there is no %s", id)
		}
	}
}
