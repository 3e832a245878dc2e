//go:build race

package lane

const raceDetector = true
