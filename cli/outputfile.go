package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// toStdout is the name of an output file that is standard output.
const toStdout = "-"

// canWrite says why the file that a flag names cannot be written, before any work is done.
func canWrite(flag, path string, force bool) error {
	switch info, err := os.Stat(path); {
	case path == "":
		return fmt.Errorf("%s names no file", flag)
	case path == toStdout:
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

// writeFile writes a file that only its owner may read, whole or not at all. Without force a file that has appeared
// meanwhile is left alone.
func writeFile(path string, content []byte, force bool) (err error) {
	path = behindLinks(path)
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(content)
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return putInPlace(tmp.Name(), path, force)
}

// behindLinks is the file that a path leads to: it is that file which is replaced, and not a link to it.
func behindLinks(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// putInPlace gives a file that was written beside its place its name. Without force a file that has appeared meanwhile is left alone.
func putInPlace(tmp, path string, force bool) error {
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

// saveHere writes a file of the dashboard into the folder where Lockstep was started.
func saveHere(name string, content []byte) (string, error) {
	path, err := filepath.Abs(filepath.Base(name))
	if err != nil {
		return "", fmt.Errorf("write %s: %w", name, err)
	}
	if _, err := os.Lstat(path); err == nil {
		return "", fmt.Errorf("%s exists already, and is left as it is", path)
	}
	return path, writeFile(path, content, false)
}

func exists(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s exists; --force replaces it", path)
}
