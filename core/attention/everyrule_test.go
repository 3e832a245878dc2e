package attention

// EveryRule is everyRule, for tests that look at more than this package.
var EveryRule = everyRule
