package permit

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

type change struct{ names []string }

// A Permit is good for its own change, once, and until it ends.
func TestAPermitIsGoodForOneWrite(t *testing.T) {
	of, other := change{[]string{"a"}}, change{[]string{"b"}}
	same := change{[]string{"a"}} // an equal change, made again
	permit := func() Permit { p, _ := New("g1", "stop/web-1", of); return p }
	used, ended, kept := permit(), Permit{}, Permit{}
	if err := used.Use(of); err != nil {
		t.Fatal(err)
	}
	ended, end := New("g1", "stop/web-1", of)
	end()
	kept, end = New("g1", "stop/web-1", of)
	if err := kept.Use(of); err != nil {
		t.Fatal(err)
	}
	end()
	for name, tt := range map[string]struct {
		p    Permit
		c    any
		want error
	}{
		"good":                       {permit(), same, nil},
		"empty":                      {Permit{}, of, ErrEmpty},
		"empty, for nothing":         {Permit{}, nil, ErrEmpty},
		"for another change":         {permit(), other, ErrOther},
		"for another kind of change": {permit(), struct{}{}, ErrOther},
		"for nothing":                {permit(), nil, ErrOther},
		"used":                       {used, of, ErrUsed},
		"ended":                      {ended, of, ErrEnded},
		"used and kept":              {kept, of, ErrEnded},
	} {
		err := tt.p.Use(tt.c)
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
		if says := "grant g1 for the step stop/web-1"; err != nil && tt.want != ErrEmpty && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %q does not say which permit it is", name, err)
		}
	}
}

// Another change takes nothing from a Permit; and of many that use it at once, one may write.
func TestAPermitIsUsedOnce(t *testing.T) {
	p, _ := New("g1", "stop/web-1", change{})
	if err := p.Use(struct{}{}); err == nil {
		t.Error("it is good for another change")
	}
	var (
		all  sync.WaitGroup
		good atomic.Int64
	)
	for range 20 {
		all.Go(func() {
			if p.Use(change{}) == nil {
				good.Add(1)
			}
		})
	}
	all.Wait()
	if good.Load() != 1 {
		t.Errorf("%d could write", good.Load())
	}
}
