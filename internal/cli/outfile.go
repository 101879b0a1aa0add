package cli

import (
	"fmt"
	"io"
	"os"
)

// CheckOutput refuses to write over an input or over what is not a file: out
// must be absent or a regular file, and neither it nor the temporary file
// beside it may be one of inputs under any name.
func CheckOutput(out string, inputs ...string) error {
	for _, path := range []string{out, tmpName(out)} {
		info, err := os.Stat(path)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s exists and is not a regular file", path)
		}
		for _, in := range inputs {
			if i, err := os.Stat(in); err == nil && os.SameFile(i, info) {
				return fmt.Errorf("%s would be written over the input %s", path, in)
			}
		}
	}
	return nil
}

func tmpName(path string) string { return path + ".tmp" }

// WriteFile has write fill path.tmp and renames it to path when all is on disk.
// Until then a file at path stays as it was; after an error the temporary file
// is gone.
func WriteFile(path string, write func(io.Writer) error) (err error) {
	f, err := os.Create(tmpName(path))
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close() // a second Close is an error that says nothing new
			os.Remove(f.Name())
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
