package figure

import "syscall"

// CPU returns the CPU time of the process so far, in seconds.
func CPU() float64 {
	u := usage()
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// Peak returns the largest resident memory of the process so far, in MB.
func Peak() float64 { return float64(usage().Maxrss) / 1024 }

func usage() (u syscall.Rusage) {
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // cannot fail for the process itself
	return u
}
