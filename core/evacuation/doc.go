// Package evacuation makes the forecast of an evacuation: where the instances of some nodes would go, what keeps one from going, and how
// long it would take. It goes by facts that are asked for when the forecast is made, as they are too many to watch.
package evacuation
