package news

// Entry is entry, for tests.
var Entry = entry
