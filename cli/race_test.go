//go:build race

package cli

// histories is how many random histories a plain run plays in each series. Each costs eight times as much with the race detector,
// and the first ones show as much of a race.
const histories = "3"

// playedAgain is how many histories are played twice.
const playedAgain = 1
