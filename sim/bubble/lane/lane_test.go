package lane

import "testing"

// A story that .ci/run would never play is found.
func TestAStoryIsPlayedSomewhere(t *testing.T) {
	const script = `
    begin stories "the stories" nice bash -ec '
      go test -vet=off -count=1 ./sim \
        ./sim/scenario
      go test -vet=off -count=1 -run "TestOne|Again" ./cli'
`
	for _, c := range []struct {
		in, test string
		played   bool
	}{
		{"./sim", "TestAny", true},
		{"./sim/scenario", "TestAny", true},
		{"./cli", "TestOne", true},
		{"./cli", "TestIsPlayedAgain/part", true},
		{"./cli", "TestAnother", false},
		{"./cli", "TestAnother/TestOne", false},
		{"./sim/controller", "TestOne", false},
	} {
		if err := plays(script, c.in, c.test); (err == nil) != c.played {
			t.Errorf("%s of %s: %v", c.test, c.in, err)
		}
	}
}
