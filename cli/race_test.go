//go:build race

package cli

// histories is how many random histories a plain run goes through in each series. The race detector makes each of them cost eight
// times as much, and sees as much of a race in the first ones.
const histories = "5"

// scenariosApart: each of so many scenarios is gone through where all are alike to the race detector.
const scenariosApart = 5

// playedAgain is how many histories are played twice.
const playedAgain = 1
