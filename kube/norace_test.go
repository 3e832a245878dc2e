//go:build !race

package kube

// manyNodes are as many as come in many pages. The race detector makes each of them cost ten times as much.
const manyNodes = 2000
