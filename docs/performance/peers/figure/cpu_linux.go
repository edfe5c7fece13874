package figure

import "syscall"

// CPU is the CPU time of the process so far, in seconds.
func CPU() float64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // of the process itself it is always there
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
