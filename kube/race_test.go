//go:build race

package kube

// manyNodes is a number of nodes that fills many pages. The race detector makes each cost ten times as much.
const manyNodes = 600
