//go:build !race

package cli

// histories is how many random histories a plain run goes through in each series.
const histories = "50"
