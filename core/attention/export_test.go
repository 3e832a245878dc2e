package attention

// SameMatter is sameMatter, for tests.
var SameMatter = sameMatter
