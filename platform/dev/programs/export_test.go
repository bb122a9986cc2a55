package programs

import "time"

// Limited returns the download with limits that a test reaches.
func (d Download) Limited(artifact, unpacked int64, files int, stall time.Duration) Download {
	d.limits = limits{
		artifact: artifact, unpacked: unpacked, files: files, stall: stall, tries: 3, pause: time.Millisecond,
	}
	return d
}
