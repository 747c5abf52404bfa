package local

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// maxLog bounds the log file, in bytes.
const maxLog = 1 << 20

// logFile is a file for lines of text. When it would become larger than maxLog, its older half goes.
type logFile struct {
	mu   sync.Mutex
	file *os.File
}

func openLog(path string) (*logFile, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	return &logFile{file: file}, nil
}

func (l *logFile) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	// Not counted while writing, since a panic is written to the file by other ways.
	if info, err := l.file.Stat(); err == nil && info.Size()+int64(len(line)) > maxLog {
		if err := l.halve(info.Size()); err != nil {
			return 0, err
		}
	}
	return l.file.Write(line)
}

func (l *logFile) halve(size int64) error {
	newer, err := io.ReadAll(io.NewSectionReader(l.file, size/2, size))
	if err != nil {
		return err
	}
	_, newer, _ = bytes.Cut(newer, []byte("\n")) // the rest of a line
	// By name, since Windows does not truncate a file that was opened to append.
	if err := os.Truncate(l.file.Name(), 0); err != nil {
		return err
	}
	_, err = l.file.Write(newer)
	return err
}

func (l *logFile) Close() error { return l.file.Close() }
