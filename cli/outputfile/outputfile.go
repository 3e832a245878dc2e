// Package outputfile writes files whole or not at all, for their owner alone, and over no other file unless that is wanted.
package outputfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Stdout is the name of an output file that is standard output.
const Stdout = "-"

// Check says why the file that a flag names cannot be written, before any work is done.
func Check(flag, path string, force bool) error {
	switch info, err := os.Stat(path); {
	case path == "":
		return fmt.Errorf("%s names no file", flag)
	case path == Stdout:
		return nil
	case err == nil && info.IsDir():
		return fmt.Errorf("%s is a folder; %s takes a file", path, flag)
	case err == nil && !info.Mode().IsRegular(): // a device, a pipe: a file in its place would be nobody's wish
		return fmt.Errorf("%s is no ordinary file; - is standard output", path)
	case err == nil && !force:
		return fmt.Errorf("%s exists; --force replaces it", path)
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return fmt.Errorf("%s: there is no such folder", filepath.Dir(path))
	}
	return nil
}

// Write writes a file that only its owner may read, whole or not at all. Without force a file that has appeared
// meanwhile is left alone.
func Write(path string, content []byte, force bool) (err error) {
	path = BehindLinks(path)
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(content)
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return PutInPlace(tmp.Name(), path, force)
}

// BehindLinks is the file that a path leads to: it is that file which is replaced, and not a link to it.
func BehindLinks(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// PutInPlace gives a file that was written beside its place its name. Without force a file that has appeared meanwhile is left alone.
func PutInPlace(tmp, path string, force bool) error {
	if !force {
		err := os.Link(tmp, path) // unlike a rename, it fails when the file exists
		if err == nil || errors.Is(err, fs.ErrExist) {
			return exists(path, err)
		}
		if _, err := os.Lstat(path); err == nil { // a file system without links
			return exists(path, fs.ErrExist)
		}
	}
	if err := os.Rename(tmp, path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

func exists(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s exists; --force replaces it", path)
}
