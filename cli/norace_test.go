//go:build !race

package cli

// histories is how many random histories a plain run plays in each series.
const histories = "50"

// playedAgain is how many histories are played twice.
const playedAgain = 3
