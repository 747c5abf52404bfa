package files

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Unfit says why what there is under a name is not read.
type Unfit string

func (u Unfit) Error() string { return string(u) }

// Read returns the content of a regular file of at most so many bytes, and what the system knows of it. It
// waits for no other process. The error is [Unfit] for a directory, a pipe or a device, and for a larger file.
func Read(path string, most int64) ([]byte, fs.FileInfo, error) { return read(path, most, false) }

// ReadNamed is Read for what the user names on a command line, which may be a pipe as well, such as a
// shell's <(…). It waits for the end of that.
func ReadNamed(path string, most int64) ([]byte, error) {
	content, _, err := read(path, most, true)
	return content, err
}

func read(path string, most int64, pipes bool) ([]byte, fs.FileInfo, error) {
	open := openAtOnce
	if pipes {
		open = os.Open
	}
	f, err := open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() && (!pipes || info.IsDir()) {
		err = Unfit("it is not a regular file")
	}
	var content []byte
	if err == nil {
		content, err = ReadAll(f, most)
	}
	if err != nil {
		return nil, nil, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return content, info, nil
}

// ReadAll reads to the end, which is [Unfit] if that is more than so many bytes.
func ReadAll(r io.Reader, most int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(content)) > most {
		err = Unfit(fmt.Sprintf("it is larger than %d bytes", most))
	}
	return content, err
}
