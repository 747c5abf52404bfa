package pebble

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"mayfly/service"
)

// disk is the file system of the database, and watches its free space. Mail is refused while less than
// the reserve is free, so that what was accepted can be compacted and deletions can be written. If the
// disk gets full nevertheless, because others write to it too, writes wait until there is space: to the
// database, a failed write is fatal.
type disk struct {
	vfs.FS
	dir      string
	reserve  uint64
	stop     <-chan struct{}
	onChange func(full bool)
	onGone   func(error) // the directory is

	shrinking atomic.Bool // reused files are replaced by empty ones

	mu        sync.Mutex
	checked   time.Time     // when available was read
	available uint64        // bytes
	taken     uint64        // of available, by mail since
	pending   uint64        // of taken, by mail that is not on disk yet
	low       bool          // available is below the reserve
	blocked   int           // writes that wait
	full      chan struct{} // closed while writes wait
}

const (
	spaceCheckInterval = 100 * time.Millisecond // for reading the free space
	spaceRetryInterval = 100 * time.Millisecond // for repeating a write that found no space

	// leastSpace is how many bytes opening a store needs in addition to its logs.
	leastSpace = 256 << 10

	// writes is how often mail is written: to a log, and to a table before the log is removed.
	writes = 2
)

// noSpace is the system's error when a disk is full; Windows has a number of its own.
var noSpace = map[bool]syscall.Errno{false: syscall.ENOSPC, true: 112}[runtime.GOOS == "windows"]

var errFull = &service.Error{Code: service.Full, Message: "No space left in the store"}

// checkOpen returns an error unless files can be created and there is space for opening the database, which
// writes what is in the logs to tables, and tries forever if it cannot.
func (d *disk) checkOpen(files []string) error {
	need := uint64(leastSpace)
	for _, name := range files {
		if !matches(name, logs) {
			continue
		}
		info, err := d.Stat(d.PathJoin(d.dir, name))
		if err != nil {
			return err
		}
		need += uint64(info.Size())
	}
	if usage, err := d.FS.GetDiskUsage(d.dir); err == nil && usage.AvailBytes < need { // not all file systems tell
		return fmt.Errorf("%w: its disk has %d KB free, but opening needs %d KB", noSpace, usage.AvailBytes>>10, need>>10)
	}
	return d.probe()
}

// probe returns an error unless files can be created.
func (d *disk) probe() error {
	probe := d.PathJoin(d.dir, "probe")
	f, err := d.FS.Create(probe, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), d.Remove(probe))
}

// check returns Full while there is no space for mail.
func (d *disk) check() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.checkFor(0)
}

// lowSpace reports whether mail will soon be refused.
func (d *disk) lowSpace() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.checkFor(d.reserve/2) != nil
}

// acquire reserves space for mail of n bytes until it is on disk, or returns Full.
func (d *disk) acquire(n int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	need := writes * uint64(n)
	if err := d.checkFor(need); err != nil {
		return err
	}
	d.taken += need
	d.pending += need
	return nil
}

// release is called when mail for which space was acquired is on disk, or was not stored.
func (d *disk) release(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pending -= writes * uint64(n)
}

func (d *disk) checkFor(need uint64) error {
	if d.blocked > 0 {
		return errFull
	}
	if now := time.Now(); d.checked.IsZero() || now.Sub(d.checked) >= spaceCheckInterval {
		d.checked = now
		usage, err := d.FS.GetDiskUsage(d.dir)
		d.available, d.taken = usage.AvailBytes, d.pending
		if errors.Is(err, fs.ErrNotExist) { // mail would be written to files that have no name
			d.onGone(err)
			return errFull
		}
		if err != nil {
			d.available = math.MaxInt64
		}
		if low := d.available < d.reserve; low != d.low {
			d.low = low
			d.onChange(low)
		}
	}
	if d.available < d.reserve+d.taken+need {
		return errFull
	}
	return nil
}

// exhausted returns a channel that is closed when writes have to wait for space.
func (d *disk) exhausted() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.full
}

// retry repeats a write until there is space for it. It does not wait for a backup, which is
// written elsewhere. If the directory is gone it fails the store and never returns, since the database
// would end the process where it stands.
func (d *disk) retry(name string, write func() error) error {
	err := write()
	if errors.Is(err, fs.ErrNotExist) && d.PathDir(name) == d.dir {
		d.onGone(err)
		select {}
	}
	if !vfs.IsNoSpaceError(err) || d.PathDir(name) != d.dir {
		return err
	}
	d.block(1)
	ticker := time.NewTicker(spaceRetryInterval)
	defer ticker.Stop()
	for vfs.IsNoSpaceError(err) {
		select {
		case <-ticker.C:
			err = write()
		case <-d.stop:
			return err
		}
	}
	d.block(-1)
	return err
}

func (d *disk) block(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	before := d.blocked
	d.blocked += n
	switch {
	case before == 0:
		close(d.full)
		d.onChange(true)
	case d.blocked == 0:
		d.full = make(chan struct{})
		d.checked = time.Time{}
		if !d.low {
			d.onChange(false)
		}
	}
}

// GetDiskUsage tells the database nothing instead of an error, which is not a fault of the store.
func (d *disk) GetDiskUsage(name string) (vfs.DiskUsage, error) {
	usage, err := d.FS.GetDiskUsage(name)
	if err != nil {
		err = vfs.ErrUnsupported
	}
	return usage, err
}

// Create waits for space. Before a manifest is made the current one it syncs the directory, which the
// database does only after that: a power cut could leave the marker without the manifest.
func (d *disk) Create(name string, c vfs.DiskWriteCategory) (f vfs.File, err error) {
	if matches(d.PathBase(name), marker) {
		if err := d.syncDir(d.PathDir(name)); err != nil {
			return nil, err
		}
	}
	if err = d.retry(name, func() error { f, err = d.FS.Create(name, c); return err }); err != nil {
		return nil, err
	}
	return &file{File: f, disk: d, name: name}, nil
}

func (d *disk) syncDir(dir string) error {
	f, err := d.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func (d *disk) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (f vfs.File, err error) {
	if d.shrinking.Load() {
		if err := d.Remove(from); err != nil {
			return nil, err
		}
		return d.Create(to, c)
	}
	if err = d.retry(to, func() error { f, err = d.FS.ReuseForWrite(from, to, c); return err }); err != nil {
		return nil, err
	}
	return &file{File: f, disk: d, name: to}, nil
}

// file is a file of the database, which one goroutine writes.
type file struct {
	vfs.File
	disk *disk
	name string
}

// Write waits for space. A sync that fails for want of space is not repeated, since it is unknown what
// was lost.
func (f *file) Write(p []byte) (n int, err error) {
	err = f.disk.retry(f.name, func() error {
		m, err := f.File.Write(p[n:])
		n += m
		return err
	})
	return n, err
}

// Preallocate does nothing: even in a store with a single message each log would take 70 MB, without a
// measurable benefit.
func (f *file) Preallocate(offset, length int64) error { return nil }

var (
	syncSeconds = prometheus.NewDesc("mayfly_store_sync_seconds", "Time to sync a group of changes to disk.", nil, nil)
	queueLength = prometheus.NewDesc("mayfly_store_queue", "Changes that are waiting for the disk.", nil, nil)
	diskBytes   = prometheus.NewDesc("mayfly_store_bytes", "Disk space that the store uses.", nil, nil)
	backupTime  = prometheus.NewDesc("mayfly_store_backup_timestamp_seconds", "When the store was last backed up; 0 for never.", nil, nil)
)

// Describe implements prometheus.Collector.
func (s *Store) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(s, ch) }

// Collect implements prometheus.Collector.
func (s *Store) Collect(ch chan<- prometheus.Metric) {
	v := s.views.take() // keeps the store open
	if v == nil {
		return
	}
	defer func() { _ = s.views.release(v) }() // nothing was read
	m := s.db.Metrics()
	var sync dto.Metric
	if err := m.LogWriter.FsyncLatency.Write(&sync); err != nil {
		ch <- prometheus.NewInvalidMetric(syncSeconds, err)
	} else {
		// The database counts nanoseconds.
		h := sync.GetHistogram()
		buckets := make(map[float64]uint64, len(h.GetBucket()))
		for _, b := range h.GetBucket() {
			buckets[b.GetUpperBound()/1e9] = b.GetCumulativeCount()
		}
		ch <- prometheus.MustNewConstHistogram(syncSeconds, h.GetSampleCount(), h.GetSampleSum()/1e9, buckets)
	}
	gauge := func(d *prometheus.Desc, v float64) { ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v) }
	gauge(queueLength, float64(s.waiting.Load()))
	gauge(diskBytes, float64(m.DiskSpaceUsage()))
	var last float64
	if info, err := os.Stat(filepath.Join(s.dir, backedUp)); err == nil {
		last = float64(info.ModTime().UnixMilli()) / 1000
	}
	gauge(backupTime, last)
}
