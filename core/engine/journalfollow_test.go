package engine

// readPast reads those records of the journal at path that still count.
func readPast(path string) (past []Record, skipped int, err error) {
	_, past, skipped, err = OpenFollower(path)
	return past, skipped, err
}
