package figure

import "syscall"

// CPU returns the CPU time of the process so far, in seconds.
func CPU() float64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // cannot fail for the process itself
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
